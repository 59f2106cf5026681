"""Content scripts that scripting.registerContentScripts stores in the profile. Transaction functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from hatbox.extension_data.content_script import ContentScript
from hatbox.store.base import Transaction

__all__ = ["delete_all", "load_all", "save_all"]

_KIND: Final = "content-script"


def load_all(transaction: Transaction, area: str) -> list[ContentScript]:
    """The stored scripts of an extension, in the order of registration. One that cannot be read is skipped."""
    rows = transaction.extensions.find(_KIND, area)
    return [script for _, _, value in rows if (script := _decoded(value)) is not None]


def save_all(transaction: Transaction, area: str, scripts: Iterable[ContentScript]) -> None:
    """Replace the stored scripts of an extension by those that persist across sessions."""
    delete_all(transaction, area)
    for number, script in enumerate(each for each in scripts if each.persist):
        transaction.extensions.put(area, _KIND, str(number), _encode(script))


def delete_all(transaction: Transaction, area: str) -> None:
    """Delete the stored scripts of an extension."""
    transaction.extensions.clear(area, _KIND)


def _decoded(value: bytes) -> ContentScript | None:
    try:
        return _decode(value)
    except msgspec.MsgspecError:
        return None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(ContentScript).decode
