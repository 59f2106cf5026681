"""The omnibox of extensions: what the user types after the keyword, and the suggestions. Transaction functions.

No address bar is displayed. `extensions/ui_triggers.py` types and enters text on behalf of the user.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.store.base import Transaction

__all__ = [
    "CHANGED",
    "ENTERED",
    "KIND",
    "MAX_SUGGESTIONS",
    "STARTED",
    "OmniboxInput",
    "OmniboxSuggestion",
    "OmniboxView",
    "decode_input",
    "enter_text",
    "get_omnibox",
    "set_default_suggestion",
    "set_suggestions",
    "type_text",
]

STARTED, CHANGED, ENTERED = "omnibox.started", "omnibox.changed", "omnibox.entered"

MAX_SUGGESTIONS: Final = 100
"""Maximum of stored suggestions. Firefox displays fewer."""

KIND: Final = "omnibox"
"""The kind of the rows of an extension."""
_DEFAULT, _SUGGESTIONS = "default", "suggestions"


class OmniboxSuggestion(msgspec.Struct, frozen=True):
    """A suggestion: the text that it enters, and the text that is displayed."""

    content: str
    description: str


class OmniboxInput(msgspec.Struct, frozen=True):
    """Payload of the events."""

    extension: str
    text: str = ""
    disposition: str = "currentTab"


class OmniboxView(msgspec.Struct, frozen=True, rename="camel"):
    """The omnibox of an extension, with the suggestions for the text that was typed last."""

    keyword: str
    default_suggestion: str
    suggestions: list[OmniboxSuggestion]


def get_omnibox(transaction: Transaction, extension: str, manifest: Mapping[str, Any]) -> OmniboxView | None:
    """The omnibox of an extension; None if its manifest has none."""
    keyword = (manifest.get("omnibox") or {}).get("keyword")
    if not keyword:
        return None
    default = transaction.extensions.get(extension, KIND, _DEFAULT)
    suggestions = transaction.extensions.get(extension, KIND, _SUGGESTIONS)
    return OmniboxView(
        keyword,
        "" if default is None else msgspec.json.decode(default, type=str),
        [] if suggestions is None else msgspec.json.decode(suggestions, type=list[OmniboxSuggestion]),
    )


def set_default_suggestion(transaction: Transaction, extension: str, description: str) -> None:
    """Set the text of the first suggestion."""
    transaction.extensions.put(extension, KIND, _DEFAULT, msgspec.json.encode(description))


def set_suggestions(transaction: Transaction, extension: str, suggestions: list[OmniboxSuggestion]) -> None:
    """Store the suggestions for the text that was typed last."""
    transaction.extensions.put(extension, KIND, _SUGGESTIONS, msgspec.json.encode(suggestions[:MAX_SUGGESTIONS]))


def type_text(transaction: Transaction, extension: str, text: str) -> None:
    """Type the keyword and a text. The suggestions for an earlier text are deleted."""
    transaction.extensions.delete(extension, KIND, _SUGGESTIONS)
    transaction.changes.append(STARTED, msgspec.json.encode(OmniboxInput(extension)))
    transaction.changes.append(CHANGED, msgspec.json.encode(OmniboxInput(extension, text)))


def enter_text(transaction: Transaction, extension: str, text: str) -> None:
    """Type the keyword and a text, and press Enter."""
    type_text(transaction, extension, text)
    transaction.changes.append(ENTERED, msgspec.json.encode(OmniboxInput(extension, text)))


decode_input = msgspec.json.Decoder(OmniboxInput).decode
