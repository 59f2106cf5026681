"""The texts of the WebSocket between the manager page and the server: numbered frames of bridge messages. Pure.

The first text of the page is a Hello, the first of the server a Welcome. If the page was not opened by a
link of this server, a Challenge comes before it, which the page answers with an Answer. After these, both send frames:

    [number, received, messages]    messages are those of hatbox.extensions.runtime.protocol

`number` counts the frames of the sender from 1. `received` is the number of the last frame that the sender has
received; the other side resends later ones after a lost connection. A frame with the number 0 has no messages.
"""

from __future__ import annotations

from typing import Any

import msgspec

from hatbox.extensions.runtime.wire_frames import ProtocolError, decode_messages

__all__ = [
    "Challenge",
    "Hello",
    "Welcome",
    "decode_answer",
    "decode_frame",
    "decode_hello",
    "encode_challenge",
    "encode_numbered",
    "encode_welcome",
]


class Hello(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The page opens or resumes a session."""

    session: str
    """The random id that the page has chosen when it was loaded."""
    received: int
    """The number of the last frame that the page has received."""
    calls: int = 0
    """The highest id of a call that the page may have sent before."""
    key: str = ""
    """What the document of its link has stored in the page's tab."""


class Welcome(msgspec.Struct, frozen=True):
    """The server has opened or resumed a session."""

    resumed: bool
    """Whether the server still has the session. If not, the page sends its listeners and unanswered calls again."""
    received: int
    """The number of the last frame that the server has received."""
    secret: str = ""
    """The key of later answers. Only the page that has opened the session knows it, and it never sends it."""
    key: str = ""
    """The key of this server, for the tab of a page that had its session before a restart."""


class Challenge(msgspec.Struct, frozen=True):
    """The page has to prove that it had this session before the server was started again."""

    challenge: str
    """Random. The answer is its HMAC-SHA-256 with the secret of the session, in hexadecimal digits."""


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    answer: str


def decode_hello(text: str) -> Hello:
    """Decode the first text of a page. Raises ProtocolError."""
    try:
        hello = _decode_hello(text)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"invalid hello: {error}") from None
    if not (16 <= len(hello.session) <= 64 and hello.session.isascii() and hello.session.replace("-", "").isalnum()):
        raise ProtocolError("the id of a session has 16 to 64 letters, digits and dashes")
    if hello.received < 0 or hello.calls < 0:
        raise ProtocolError("a number in the hello is negative")
    return hello


def decode_answer(text: str) -> str:
    """Decode the answer to a challenge. Raises ProtocolError."""
    try:
        return _decode_answer(text).answer
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"invalid answer: {error}") from None


def encode_welcome(welcome: Welcome) -> str:
    """Encode the first text of the server."""
    return msgspec.json.encode(welcome).decode()


def encode_challenge(challenge: Challenge) -> str:
    """Encode the text before the welcome."""
    return msgspec.json.encode(challenge).decode()


def decode_frame(content: bytes) -> tuple[int, int, list[Any]]:
    """Decode a frame: number, received, messages. Raises ProtocolError."""
    match decode_messages(content):
        case [int(number), int(received), list(messages)] if number >= 0 and received >= 0:
            return number, received, messages
    raise ProtocolError("a frame has a number, the number of the last received frame, and messages")


def encode_numbered(number: int, received: int, messages: str) -> str:
    """Encode a frame; `messages` is a JSON array."""
    return f"[{number},{received},{messages}]"


_decode_hello = msgspec.json.Decoder(Hello).decode
_decode_answer = msgspec.json.Decoder(_Answer).decode
