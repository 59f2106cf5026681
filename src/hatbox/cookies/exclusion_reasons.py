"""Why a cookie is rejected. The rules are in `storage_model`."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["ExclusionReason"]


class ExclusionReason(StrEnum):
    """A reason, in words that follow "rejected:"."""

    CHARACTERS = "its name, value, path or domain cannot be written as it is in a Set-Cookie line"
    EMPTY = "it has neither a name nor a value"
    SIZE = "its name and value are longer than 4096 bytes"
    IMPERSONATES = "it has no name, and its value contains a = sign and would be read as another cookie"
    HOST = "the URL has no host that can hold cookies"
    DOMAIN = "its domain is not the host of the URL or a parent of it"
    PUBLIC_SUFFIX = "its domain is a public suffix, under which anyone can register a site"
    INSECURE = "a secure cookie can be set only over https or by localhost"
    SCRIPT = "a script cannot set an HttpOnly cookie"
    OVERLAYS_SECURE = "it would hide a secure cookie of the same name, and comes over an insecure connection"
    CROSS_SITE = "it does not have SameSite=None, and the request is cross-site"
    NONE_INSECURE = "SameSite=None is allowed only for secure cookies"
    PARTITIONED_INSECURE = "Partitioned is allowed only for secure cookies"
    PREFIX = "it does not satisfy the prefix of its name (__Secure-, __Host-, __Http- or __Host-Http-)"
    REPLACES_HTTP_ONLY = "a script cannot replace an HttpOnly cookie"
