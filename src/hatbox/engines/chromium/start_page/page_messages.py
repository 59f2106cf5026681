"""The messages of the start page to the engine: what the user does in it. Anything else is rejected."""

from __future__ import annotations

from typing import Annotated, Final, TypeAlias

import msgspec

__all__ = [
    "MAX_ADDRESS",
    "ChosenTab",
    "ClickedButton",
    "StartPageMessage",
    "TypedAddress",
    "Visibility",
    "decode_message",
]

MAX_ADDRESS: Final = 2048
"""Characters of a typed address."""


class Visibility(msgspec.Struct, frozen=True, tag="visibility", tag_field="kind"):
    """Whether the user sees the page now."""

    visible: bool


class ClickedButton(msgspec.Struct, frozen=True, tag="click", tag_field="kind"):
    """The user has clicked the action of an extension."""

    key: str


class ChosenTab(msgspec.Struct, frozen=True, tag="activate", tag_field="kind"):
    """The user has clicked a tab."""

    key: int


class TypedAddress(msgspec.Struct, frozen=True, tag="address", tag_field="kind", rename="camel"):
    """The text of the address field. `number` identifies the answer."""

    number: int
    text: Annotated[str, msgspec.Meta(max_length=MAX_ADDRESS)]
    is_entered: bool
    """Whether the user has pressed Enter."""


StartPageMessage: TypeAlias = Visibility | ClickedButton | ChosenTab | TypedAddress

_decoder: msgspec.json.Decoder[StartPageMessage] = msgspec.json.Decoder(StartPageMessage)


def decode_message(payload: str) -> StartPageMessage:
    """Decode a message. Raises msgspec.ValidationError."""
    return _decoder.decode(payload)
