"""Commands of the CDP Fetch domain that continue, fulfill or fail a paused request. Sends nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from hatbox.engines.chromium.frame_path import FramePath
from hatbox.web_requests import AuthCredentials, Headers
from hatbox.web_requests.headers import split_values

__all__ = [
    "CANCEL_AUTH",
    "CONTINUE",
    "DEFAULT_AUTH",
    "FAIL_REQUEST",
    "FetchCommand",
    "continue_with_headers",
    "cors_headers",
    "header_entries",
    "provide_credentials",
    "redirect",
]

_ADDED_BY_CHROMIUM: Final = ("cookie", "user-agent")


class FetchCommand(NamedTuple):
    """A method of the Fetch domain and its params, without the requestId."""

    method: str
    params: Mapping[str, Any] = {}


CONTINUE: Final = FetchCommand("Fetch.continueRequest")
FAIL_REQUEST: Final = FetchCommand("Fetch.failRequest", {"errorReason": "Aborted"})
DEFAULT_AUTH: Final = FetchCommand("Fetch.continueWithAuth", {"authChallengeResponse": {"response": "Default"}})
CANCEL_AUTH: Final = FetchCommand("Fetch.continueWithAuth", {"authChallengeResponse": {"response": "CancelAuth"}})


def provide_credentials(credentials: AuthCredentials) -> FetchCommand:
    """Answer an authentication challenge."""
    response = {
        "response": "ProvideCredentials",
        "username": credentials.username,
        "password": credentials.password,
    }
    return FetchCommand("Fetch.continueWithAuth", {"authChallengeResponse": response})


def continue_with_headers(headers: Headers, original: Headers) -> FetchCommand:
    """Send the request with these headers. A header that Chromium adds itself is sent empty if it was removed."""
    if headers == original:
        return CONTINUE
    names = {name.lower() for name, _ in headers}
    empty = ((name, "") for name, _ in original if name.lower() in _ADDED_BY_CHROMIUM and name.lower() not in names)
    return FetchCommand(CONTINUE.method, {"headers": header_entries((*headers, *empty))})


def redirect(url: str, extra_headers: Headers = ()) -> FetchCommand:
    """Fulfill the request with a redirect."""
    headers = header_entries((("Location", url), *extra_headers))
    return FetchCommand("Fetch.fulfillRequest", {"responseCode": 307, "responseHeaders": headers, "body": ""})


def cors_headers(origin: str | None, frame: FramePath) -> Headers:
    """CORS headers of a synthesized redirect, so that a cross-origin fetch() may follow it."""
    page = urlsplit(frame.document_url or "")
    allowed = origin or f"{page.scheme}://{page.netloc}"
    return (("Access-Control-Allow-Origin", allowed), ("Access-Control-Allow-Credentials", "true"))


def header_entries(headers: Headers) -> list[dict[str, str]]:
    """Headers as CDP HeaderEntry objects, one per line."""
    return [{"name": name, "value": line} for name, value in headers for line in split_values(name, value)]
