"""The question before a change of settings: which typed input would a browser lose, because it makes a context anew?

The program that changes settings appends SETTINGS_CHECK to the change log. An engine with pages of the identity answers
with SETTINGS_CHECKED: the fields whose text it cannot save, described without the text. Nothing of it is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from hatbox.store.base import Transaction

__all__ = [
    "SETTINGS_CHECK",
    "SETTINGS_CHECKED",
    "InputAtRisk",
    "SettingsCheck",
    "SettingsCheckAnswer",
    "answer_settings_check",
    "decode_settings_check",
    "decode_settings_check_answer",
    "request_settings_check",
]

SETTINGS_CHECK: Final = "identities.settings_check"
"""The topic of a question. Its payload is a SettingsCheck."""
SETTINGS_CHECKED: Final = "identities.settings_checked"
"""The topic of an answer. Its payload is a SettingsCheckAnswer."""


class SettingsCheck(msgspec.Struct, frozen=True):
    """The question about one identity. `id` is random, and repeated in the answer."""

    id: str
    cookie_store_id: str
    uses_proxy: bool = False
    """Whether the change sets a proxy. The first one starts a browser again, with the pages of all identities."""


class InputAtRisk(msgspec.Struct, frozen=True):
    """Typed input of a tab that is lost if its page is closed. `fields` describes it, without the text."""

    tab_id: int
    fields: tuple[str, ...]


class SettingsCheckAnswer(msgspec.Struct, frozen=True):
    """The answer of the engine that has the pages of the identity. Empty: nothing is lost."""

    id: str
    at_risk: tuple[InputAtRisk, ...] = ()


def request_settings_check(transaction: Transaction, check: SettingsCheck) -> None:
    """Append a question to the change log."""
    transaction.changes.append(SETTINGS_CHECK, msgspec.json.encode(check))


def answer_settings_check(transaction: Transaction, check: SettingsCheck, at_risk: Sequence[InputAtRisk]) -> None:
    """Append the answer of an engine to the change log."""
    transaction.changes.append(SETTINGS_CHECKED, msgspec.json.encode(SettingsCheckAnswer(check.id, (*at_risk,))))


decode_settings_check = msgspec.json.Decoder(SettingsCheck).decode
decode_settings_check_answer = msgspec.json.Decoder(SettingsCheckAnswer).decode
