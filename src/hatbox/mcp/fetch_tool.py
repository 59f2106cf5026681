"""The tool fetch: one HTTP request as the identity. Every hop of redirects is checked; cookies are not shown."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Final

import msgspec

from hatbox.clients.identity_binding import IdentityBinding
from hatbox.clients.request_chain import request_chain
from hatbox.cookies.request_urls import parse_request_url
from hatbox.engines.http.html import declared_encoding
from hatbox.errors import PermissionDenied
from hatbox.mcp.agent_session import AgentSession
from hatbox.mcp.host_limits import check_url
from hatbox.mcp.password_redaction import without_passwords
from hatbox.mcp.pdf_text import first_page, is_pdf, pdf_text
from hatbox.mcp.response_secrets import CookieValues, without_password_inputs
from hatbox.mcp.tool_arguments import FetchArguments
from hatbox.mcp.tool_output import MAX_TEXT, ToolFailed, ToolOutput, ToolRefused, bounded, quoted, untrusted

if TYPE_CHECKING:
    import httpx

__all__ = ["FetchedResponse", "fetch", "send", "shown_headers"]

_MAX_BYTES: Final = 2_000_000
_MAX_PDF: Final = 30_000_000
_MAX_REDIRECTS: Final = 10
_SECONDS: Final = 30.0
_SAFE: Final = ("GET", "HEAD")
_METHODS: Final = (*_SAFE, "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_VALUE: Final = re.compile(r"[\t\x20-\x7e]{0,8000}")
_REFUSED_HEADERS: Final = frozenset(
    {"cookie", "cookie2", "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer"}
    | {"accept-encoding"}  # values are searched in decoded bodies only
)
_PARTS: Final = re.compile(r"(.*[-_])?ranges?|a-im", re.IGNORECASE)  # a value is not found in a part of it
_PART_STATUSES: Final = (206, 226)
_PART: Final = "[This is a part of a file, which is not shown: a value cannot be hidden in it.]"
_READ_ONLY_HEADERS: Final = frozenset(
    {"accept", "accept-language", "authorization", "cache-control", "if-modified-since", "if-none-match", "pragma"}
    | {"referer", "user-agent", "x-api-key", "x-csrf-token", "x-requested-with"}
)
"""Those with which a request stays one for this URL and method: a site may obey X-HTTP-Method-Override."""
_HIDDEN_HEADERS: Final = frozenset({"set-cookie", "set-cookie2", "cookie", "proxy-authenticate"})
_MAX_HEADERS: Final = 4_000
_MAX_BODY: Final = 4 * MAX_TEXT
_TEXT: Final = re.compile(r"text/|[/+](json|xml|javascript|x-www-form-urlencoded|yaml|csv)\b", re.IGNORECASE)


class FetchedResponse(msgspec.Struct, frozen=True):
    """A response: its body as text, empty if it is no text."""

    url: str
    status: int
    headers: list[tuple[str, str]]
    body: str
    is_complete: bool
    has_cookies: bool
    """Whether the identity has cookies for the URL of the request."""
    cookies: CookieValues
    """The values that were sent and received."""


async def fetch(session: AgentSession, given: FetchArguments) -> ToolOutput:
    """Send a request as the identity."""
    response = await send(session, given)
    note = "" if response.is_complete else "\n[Only the start of the response was read.]"
    known = session.known_passwords

    def hide(text: str) -> str:
        return without_passwords(response.cookies.hide(text), known)

    headers = bounded(hide("\n".join(f"{name}: {value}" for name, value in response.headers)), _MAX_HEADERS)
    url, body = hide(response.url)[:2000], bounded(without_passwords(_shown_body(response), known))
    return ToolOutput(f"Status: {response.status}\n" + untrusted(f"URL: {url}\n{headers}\n\n{body}{note}"))


def _shown_body(response: FetchedResponse) -> str:
    """The body without cookies and passwords. Of a long one, a start that is longer than an output."""
    shown = response.cookies.hide(response.body[:_MAX_BODY])
    if (omitted := len(response.body) - _MAX_BODY) <= 0:
        return without_password_inputs(shown)
    shown = shown[: max(0, len(shown) - response.cookies.longest)]  # the end may be the start of a value
    return f"{without_password_inputs(shown)}\n[{omitted} further characters are omitted.]"


async def send(session: AgentSession, given: FetchArguments) -> FetchedResponse:
    """Send a request, and follow redirects to allowed hosts. Raises ToolFailed."""
    method = given.method.upper()
    if method not in _METHODS:
        raise ToolFailed(f"method {method} is not supported. Use one of {', '.join(_METHODS)}.")
    if session.options.read_only and method not in _SAFE:
        raise ToolRefused(f"method {method} is not allowed: this server is read-only. Use GET or HEAD.")
    if session.options.read_only and given.body:
        raise ToolRefused("a body is not allowed: this server is read-only. Omit it.")
    headers = _checked_headers(given.headers, read_only=session.options.read_only)
    url = check_url(session.grant("fetch"), given.url)
    if not url.startswith("http"):
        raise ToolFailed("use a URL that starts with http:// or https://.")
    import httpx

    cookies = CookieValues()
    try:
        async with asyncio.timeout(_SECONDS):
            with request_chain():
                return await _send(session, method, url, headers, given.body, cookies)
    except ToolFailed as error:  # the host of a redirect may be a value
        raise type(error)(cookies.hide(str(error))) from error
    except PermissionDenied as error:
        raise ToolRefused(cookies.hide(str(error))) from error
    except TimeoutError:
        raise ToolFailed(f"the site did not answer within {_SECONDS:g} seconds.") from None
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, OverflowError, ExceptionGroup) as error:
        raise ToolFailed(f"the request failed: {type(error).__name__} {quoted(cookies.hide(str(error)))}") from error


async def _send(
    session: AgentSession, method: str, url: str, headers: dict[str, str], body: str, cookies: CookieValues
) -> FetchedResponse:
    from hatbox.clients.granted_httpx import connected_url  # imports httpx
    from hatbox.clients.httpx import async_client

    profile, identity = session.profile, session.identity.cookie_store_id
    store = await profile.cookie_store(identity)
    has_cookies = bool(await store.header(parse_request_url(url)))
    # Does not record its requests: the first has the entry of the call, and each redirect has one below.
    binding = IdentityBinding(profile.identities, profile.cookies, identity)
    options = {"follow_redirects": False, "timeout": _SECONDS}
    async with async_client(binding, options, is_named=session.grant("fetch").names) as client:
        request = client.build_request(method, url, headers=headers, content=body.encode() if body else None)
        for hop in range(_MAX_REDIRECTS + 1):
            for each in (str(request.url), connected_url(request)):
                check_url(session.grant("fetch"), each, is_of_page=hop > 0)
            cookies.add_sent(await store.header(parse_request_url(str(request.url))))
            outcome = "sent"
            try:
                response = await client.send(request, stream=True)
                outcome = "ok"
            finally:
                if hop > 0:
                    session.record("fetch", str(request.url), outcome)
            try:
                cookies.add_received(response.headers.get_list("Set-Cookie"))
                if response.next_request is None:
                    kind = response.headers.get("Content-Type", "")
                    limit = _MAX_PDF if is_pdf(kind) else _MAX_BYTES
                    content, is_complete = await _read(response, limit)
                    text = _PART if _is_part(response) else await _text_of(kind, content, url)
                    return FetchedResponse(
                        str(response.url),
                        response.status_code,
                        shown_headers(response),
                        text,
                        is_complete,
                        has_cookies,
                        cookies,
                    )
                request = response.next_request
            finally:
                await response.aclose()
    raise ToolFailed(f"the site redirects more than {_MAX_REDIRECTS} times.")


async def _read(response: httpx.Response, limit: int) -> tuple[bytes, bool]:
    content = bytearray()
    async for chunk in response.aiter_bytes(65_536):
        content += chunk
        if len(content) > limit:
            return bytes(content[:limit]), False
    return bytes(content), True


def shown_headers(response: httpx.Response) -> list[tuple[str, str]]:
    """The headers of a response, without those that contain cookies."""
    pairs = ((name, value) for name, value in response.headers.multi_items())
    return [(name, value) for name, value in pairs if name.lower() not in _HIDDEN_HEADERS]


def _is_part(response: httpx.Response) -> bool:
    kind = response.headers.get("Content-Type", "").strip().lower()
    is_range = "Content-Range" in response.headers or kind.startswith("multipart/byteranges")
    return is_range or response.status_code in _PART_STATUSES


def _checked_headers(given: dict[str, str], *, read_only: bool) -> dict[str, str]:
    for name, value in given.items():
        lower = name.lower()
        if _PARTS.fullmatch(lower):
            raise ToolRefused(f"the header {name[:100]} is not allowed: responses are read as a whole. Omit it.")
        if read_only and lower not in _READ_ONLY_HEADERS:
            allowed = ", ".join(sorted(_READ_ONLY_HEADERS))
            raise ToolRefused(
                f"the header {name[:100]} is not allowed: this server is read-only. Omit it. Allowed: {allowed}."
            )
        if lower in _REFUSED_HEADERS or lower.startswith(("proxy-", "sec-")):
            raise ToolRefused(f"the header {name[:100]} cannot be set: Hatbox sends it. Omit it.")
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ToolFailed(f"invalid header {name[:100]!a}. Use names and values of ASCII characters, on one line.")
    return given


async def _text_of(content_type: str, content: bytes, url: str) -> str:
    if not content:
        return ""
    if is_pdf(content_type):
        return await pdf_text(content, first_page(url))
    if content_type and not _TEXT.search(content_type):
        return f"[{len(content)} bytes of {content_type[:100]}, which is no text]"
    return content.decode(declared_encoding(content_type) or "utf-8", "replace")
