"""Which URLs an agent may open, by the hosts of its grant. Pure. Unknown schemes are refused, also without a limit."""

from __future__ import annotations

from typing import Final

from hatbox.grants.grant import Grant
from hatbox.mcp.tool_output import ToolRefused, quoted
from hatbox.urls.url import parse_url

__all__ = [
    "ERROR_PAGE",
    "MAX_URL",
    "check_frame",
    "check_url",
    "is_pdf_viewer",
    "may_load",
    "refusal",
    "shown_origin",
]

MAX_URL: Final = 8_000
"""Characters of a URL."""
ERROR_PAGE: Final = "chrome-error://chromewebdata/"
"""The URL of the page that Chromium shows if a page is not loaded."""

_PDF_VIEWER: Final = "chrome-extension://mhjfbmdgcfjbbpaeojofohoefgiehjai/"  # part of Chromium, no page can open it
_BLANK: Final = "about:blank"
_WEB: Final = ("http", "https")
_OWN_DOCUMENTS: Final = ("about:blank", "about:srcdoc", ERROR_PAGE, "")
_MAX_SHOWN: Final = 200


def check_url(grant: Grant, url: str, *, is_of_page: bool = False) -> str:
    """The URL as it is loaded. Raises ToolRefused with a message that the agent can act on."""
    if url == _BLANK:
        return url
    if len(url) > MAX_URL:
        raise ToolRefused(f"the URL has {len(url)} characters. Allowed: {MAX_URL}.")
    parsed = parse_url(url)
    if parsed is None or parsed.scheme not in _WEB or not parsed.host:
        shown = quoted(url) if is_of_page else repr(url[:_MAX_SHOWN])
        raise ToolRefused(f"{shown} cannot be opened. Use a URL that starts with http:// or https://.")
    if not grant.allows_url(parsed.text):
        raise ToolRefused(refusal(grant, url, is_of_page=is_of_page))
    return parsed.text


def refusal(grant: Grant, url: str, *, is_of_page: bool = False) -> str:
    """Why a URL is refused, and what the agent can do. A host that a page has chosen may contain words."""
    origin = quoted(shown_origin(url)) if is_of_page else shown_origin(url)
    return (
        f"{origin} is not allowed for this agent. Allowed: {grant.hosts_text}. Do not try it again by "
        "other means. If the task needs this host, ask the user to start hatbox mcp with --host for it."
    )


def may_load(grant: Grant, url: str) -> bool:
    """Whether a document of a page of the agent may be requested from a URL, in any frame and after any redirect."""
    return grant.allows_url(url) or url in _OWN_DOCUMENTS


def check_frame(grant: Grant, url: str, *, is_main: bool) -> None:
    """Raise ToolRefused unless the agent may see a frame. Documents without a URL of their own belong to their page."""
    if url in _OWN_DOCUMENTS:
        return
    scheme = url.partition(":")[0].lower()
    if scheme == "blob":
        url = url[len("blob:") :]
        scheme = url.partition(":")[0].lower()
    if not is_main and is_pdf_viewer(url):  # the document that it shows is in a frame of its own
        return
    # The origin of a sandboxed document is "null". What it creates has no host, and what that loads is checked.
    if not is_main and (scheme in ("data", "about") or url.startswith("null/")):
        return
    if not grant.allows_url(url):
        raise ToolRefused(refusal(grant, url, is_of_page=True))


def is_pdf_viewer(url: str) -> bool:
    """Whether a frame is the PDF viewer of Chromium."""
    return url.startswith(_PDF_VIEWER)


def shown_origin(url: str) -> str:
    """Scheme and host of a URL, for messages: paths and queries may contain secrets."""
    parsed = parse_url(url)
    if parsed is None:
        return "an invalid URL"
    return f"{parsed.scheme}://{parsed.host}{parsed.port_suffix}" if parsed.host else f"a URL with {parsed.scheme}:"
