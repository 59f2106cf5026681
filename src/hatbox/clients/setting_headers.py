"""The headers that the settings of an identity add to a request: User-Agent and Accept-Language. Knows no client."""

from __future__ import annotations

import base64
from typing import Final

from hatbox.identity.proxy_url import ProxyUrl
from hatbox.identity.setting_values import accept_language
from hatbox.identity.settings import IdentitySettings

__all__ = ["proxy_authorization", "setting_headers"]

_OWN_PRODUCT: Final = "hatbox/"  # the User-Agent of `hatbox fetch` is replaced as that of a client library


def setting_headers(
    settings: IdentitySettings,
    user_agent: str | None,
    default_user_agent: str,
    *,
    has_accept_language: bool,
) -> dict[str, str]:
    """The headers to set on a request whose User-Agent is `user_agent`.

    What the caller has set explicitly stays: another User-Agent than the default of the library, none at all (None),
    or an Accept-Language.
    """
    headers: dict[str, str] = {}
    is_default = user_agent is not None and (user_agent == default_user_agent or user_agent.startswith(_OWN_PRODUCT))
    if settings.user_agent is not None and is_default:
        headers["User-Agent"] = settings.user_agent
    if settings.locale is not None and not has_accept_language:
        headers["Accept-Language"] = accept_language(settings.locale)
    return headers


def proxy_authorization(proxy: ProxyUrl) -> str | None:
    """The Proxy-Authorization header (RFC 7617, in UTF-8) for an HTTP proxy; None without credentials."""
    if not proxy.username:
        return None
    return "Basic " + base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode("ascii")
