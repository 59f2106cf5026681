"""Finds records of extensions of earlier formats, when a profile is opened. Reads only what that needs."""

from __future__ import annotations

from typing import Final

import msgspec

from hatbox.store.base import Transaction

__all__ = ["has_outdated"]

_KIND: Final = "installed"


class _Record(msgspec.Struct):
    area: str = ""


def has_outdated(transaction: Transaction) -> bool:
    """Whether a record is from before data areas had names; see Extensions.adopt()."""
    return any(not _decode(value).area for _, _, value in transaction.extensions.find(_KIND))


_decode = msgspec.json.Decoder(_Record).decode
