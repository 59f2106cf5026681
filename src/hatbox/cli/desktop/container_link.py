"""Links of the form ext+container:name=Work&url=https%3A%2F%2Fsite.example%2F. Pure text.

The format is that of the Firefox extension "Open external links in a container". Any web page can contain such a link,
so everything in it is hostile: only http and https URLs are accepted, and nothing that a program could read as an
option.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from hatbox.cli.terminal.terminal_text import visible
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, user_context_id_of
from hatbox.tabs.credentials import without_credentials
from hatbox.urls.typed_address import has_one_host
from hatbox.urls.url import parse_url

__all__ = ["SCHEME", "ContainerLink", "InvalidLink", "checked_web_url", "is_container_link", "parse_container_link"]

SCHEME: Final = "ext+container"
_MAX_CHARACTERS: Final = 16_384
_MAX_SHOWN: Final = 80
_MAX_FIELDS: Final = 32


class InvalidLink(Exception):
    """The link is not accepted; nothing was opened."""

    def __init__(self, link: str, problem: str) -> None:
        shown = visible(link if len(link) <= _MAX_SHOWN else f"{link[:_MAX_SHOWN]}…")
        super().__init__(f"{problem}: {shown}")


class ContainerLink(msgspec.Struct, frozen=True):
    """A link: the identity, by name or cookieStoreId, the URL, and the names of fields that Hatbox does not use."""

    identity: str
    url: str
    ignored: tuple[str, ...] = ()


def is_container_link(text: str) -> bool:
    """Whether the text is meant as a link of this form."""
    return text[: len(SCHEME) + 1].lower() == f"{SCHEME}:"


def parse_container_link(link: str) -> ContainerLink:
    """Parse a link. Raises InvalidLink."""
    if len(link) > _MAX_CHARACTERS:
        raise InvalidLink(link, f"the link has {len(link)} characters; at most {_MAX_CHARACTERS} are allowed")
    if not is_container_link(link):
        raise InvalidLink(link, f"the link does not start with {SCHEME}:")
    query = link[len(SCHEME) + 1 :].removeprefix("//").removeprefix("?")
    fields = _fields(link, query)
    identity = fields.get("name") or fields.get("id") or ""
    if "name" not in fields and not user_context_id_of(identity):
        raise InvalidLink(link, "the link has no name of an identity")
    if not identity.strip() or not identity.isprintable() or identity == DEFAULT_COOKIE_STORE_ID:
        raise InvalidLink(link, "the link has no valid name of an identity")
    ignored = tuple(sorted(fields.keys() - {"name", "id", "url", "color", "icon", "signature"}))
    return ContainerLink(identity, checked_web_url(fields.get("url", "")), ignored)


def checked_web_url(url: str) -> str:
    """The URL, serialized as browsers do, without user name and password: what is shown is what is opened.

    Raises InvalidLink unless it is an http or https URL with a host.
    """
    if len(url) > _MAX_CHARACTERS:
        raise InvalidLink(url, f"the URL has {len(url)} characters; at most {_MAX_CHARACTERS} are allowed")
    if not re.match(r"https?://", url, re.IGNORECASE):
        raise InvalidLink(url, "the link must have an http:// or https:// URL")
    if not url.isprintable() or re.search(r"\s", url):
        raise InvalidLink(url, "the URL has spaces or control characters")
    try:
        if urlsplit(url).hostname and urlsplit(url).port != 0 and has_one_host(url):
            parsed = parse_url(without_credentials(url))
            if parsed is not None and parsed.host:
                return parsed.text
    except ValueError:  # invalid port or IP address
        pass
    raise InvalidLink(url, "not a URL")


def _fields(link: str, query: str) -> dict[str, str]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=_MAX_FIELDS)
    except ValueError:  # not UTF-8, or too many fields
        raise InvalidLink(link, "the link cannot be read") from None
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name in fields:
            raise InvalidLink(link, f"the link has {visible(name)} twice")
        fields[name] = value
    return fields
