"""CDP messages, and what the filter of a client decides about them. Contains no logic of its own."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

__all__ = [
    "BrowserMessage",
    "ClientAction",
    "ClientMessage",
    "CompileScript",
    "CookiesChanged",
    "EndConnection",
    "MethodRefused",
    "Output",
    "PageCreation",
    "PageDriven",
    "ToBrowser",
    "ToClient",
    "encode_message",
    "error_message",
    "session_not_found",
]

SERVER_ERROR: Final = -32000
"""The code that Chromium has for errors of a method."""


class ClientMessage(msgspec.Struct, frozen=True):
    """A command of a client."""

    id: Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
    """Unique among the commands of its session without a response; older clients number each session on its own."""
    method: str
    params: msgspec.Raw = msgspec.Raw(b"{}")
    sessionId: str = ""  # noqa: N815 - the name in CDP


class BrowserMessage(msgspec.Struct, frozen=True):
    """A response or an event of Chromium."""

    id: int | None = None
    method: str = ""
    params: msgspec.Raw = msgspec.Raw(b"{}")
    result: msgspec.Raw = msgspec.Raw(b"{}")
    error: msgspec.Raw = msgspec.Raw(b"")
    """Empty if the command has succeeded. In a union, msgspec does not decode Raw."""
    sessionId: str = ""  # noqa: N815 - the name in CDP

    @property
    def is_error(self) -> bool:
        """Whether it is the response to a command that failed."""
        return bool(bytes(self.error))


class ToBrowser(msgspec.Struct, frozen=True):
    """Send this text to Chromium."""

    text: str


class ToClient(msgspec.Struct, frozen=True):
    """Send this text to the client."""

    text: str


class EndConnection(msgspec.Struct, frozen=True):
    """Close the socket of the client."""

    reason: str
    is_failure: bool = True


class PageDriven(msgspec.Struct, frozen=True):
    """The client controls this page from now on."""

    target_id: str
    is_opened: bool = False
    """Whether the client has opened it."""


class PageCreation(msgspec.Struct, frozen=True):
    """The client has requested a new page, or it is open or failed now."""

    is_pending: bool


class CookiesChanged(msgspec.Struct, frozen=True):
    """The client may have changed cookies."""


class ClientAction(msgspec.Struct, frozen=True):
    """The client does something that the activity log has to contain, on the host of a URL."""

    action: str
    url: str = ""


class CompileScript(msgspec.Struct, frozen=True):
    """Compile this script. No command of the client is handled until `ClientFilter.compiled`."""

    source: str


Output = (
    ToBrowser | ToClient | EndConnection | PageDriven | PageCreation | CookiesChanged | ClientAction | CompileScript
)


class MethodRefused(Exception):
    """A command is not sent to Chromium. The client gets the message."""

    def __init__(self, message: str, code: int = SERVER_ERROR) -> None:
        super().__init__(message)
        self.code = code


def encode_message(**fields: Any) -> str:
    """A message as text. An empty session id is left out."""
    if not fields.get("sessionId"):
        fields.pop("sessionId", None)
    return msgspec.json.encode(fields).decode()


def error_message(message_id: int | None, session_id: str, refused: MethodRefused) -> ToClient:
    """The response to a command that failed."""
    error = {"code": refused.code, "message": str(refused)}
    return ToClient(encode_message(id=message_id, error=error, sessionId=session_id))


def session_not_found() -> MethodRefused:
    """The error of Chromium for a session that does not exist. Clients know it."""
    return MethodRefused("Session with given id not found.", -32001)
