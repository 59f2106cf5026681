"""What the functions of an area of storage do, each as a function of a transaction. The words are Firefox's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from hatbox.extension_data.storage.storage_areas import Area, Items, check_quota, refuse_temporary
from hatbox.javascript.text import well_formed
from hatbox.javascript.wire_codec import UNDEFINED, decode, encode
from hatbox.store.base import Transaction

__all__ = [
    "CHANGED",
    "Keys",
    "StorageChanged",
    "bytes_in_use",
    "clear",
    "get",
    "get_keys",
    "remove",
    "set_items",
    "with_defaults",
]

CHANGED: Final = "storage.changed"

Keys: TypeAlias = str | Sequence[str] | None

_NUL: Final = "\0"
_UNDEFINED: Final = encode(UNDEFINED)


class StorageChanged(msgspec.Struct, frozen=True):
    """Values of an extension have been set or removed: for each key, the old value and the new one.

    As the text of JSON, because they may hold half a pair of surrogates, which the JSON of the log must not.
    """

    extension: str
    area: str
    changes: str


def get(transaction: Transaction, extension: str, area: Area, keys: Keys | Mapping[str, Any]) -> dict[str, Any]:
    """The values of these keys, or of all; a mapping has values for keys that are not there."""
    _refuse_without_id(extension, area)
    if keys is None:
        return {key: decode(value) for key, value in area.order(_all(transaction, extension, area)).items()}
    if not isinstance(keys, Mapping):
        found = _found(transaction, extension, area, map(_written, _list(keys)))
        return {key: value for key, value in found.items() if area.returns_undefined or value is not UNDEFINED}
    defaults = {well_formed(key): default for key, default in keys.items()}
    return with_defaults(_found(transaction, extension, area, defaults), defaults, area)


def with_defaults(found: Mapping[str, Any], defaults: Mapping[str, Any], area: Area) -> dict[str, Any]:
    """What was found, and the default for what was not."""
    result: dict[str, Any] = {}
    for key, default in defaults.items():
        if key in found and (area.returns_undefined or found[key] is not UNDEFINED):
            result[key] = found[key]
        elif area.returns_undefined or not (default is UNDEFINED or callable(default)):
            result[key] = area.kept(default)
    return result


def get_keys(transaction: Transaction, extension: str, area: Area) -> list[str]:
    """All keys."""
    _refuse_without_id(extension, area)
    return [_read(key) for key in area.order(_all(transaction, extension, area))]


def bytes_in_use(transaction: Transaction, extension: str, area: Area, keys: Keys) -> int:
    """How large the values of these keys are, or all."""
    sizes = {key: area.size(key, value) for key, value in get(transaction, extension, area, keys).items()}
    named = list(sizes) if keys is None or not area.counts_duplicate_keys else map(_written, _list(keys))
    return sum(sizes.get(key, 0) for key in named)


def set_items(
    transaction: Transaction, extension: str, area: Area, items: Mapping[str, Any], quota: int | None = None
) -> None:
    """Store values: all, or none if one of them cannot be stored, or if `quota` is exceeded."""
    new = {well_formed(key): encode(area.kept(value)) for key, value in items.items()}
    _refuse_without_id(extension, area)
    area.check(transaction, extension, new)
    if quota is not None:
        check_quota(transaction, extension, area, new, quota)
    changes: dict[str, dict[str, msgspec.Raw]] = {}
    for key, value in new.items():
        old = transaction.extensions.get(extension, area.kind, key)
        if old is None and area.includes_missing_old_value:
            old = _UNDEFINED
        transaction.extensions.put(extension, area.kind, key, value)
        changes[key] = {} if old is None else {"oldValue": msgspec.Raw(old)}
        changes[key]["newValue"] = msgspec.Raw(value)
    _tell(transaction, extension, area, changes)


def remove(transaction: Transaction, extension: str, area: Area, keys: str | Sequence[str]) -> None:
    """Drop the values of these keys; one that is not there is no error."""
    _refuse_without_id(extension, area)
    stored = {key: transaction.extensions.get(extension, area.kind, key) for key in map(_written, _list(keys))}
    _drop(transaction, extension, area, {key: value for key, value in stored.items() if value is not None})


def clear(transaction: Transaction, extension: str, area: Area) -> None:
    """Drop all values."""
    _refuse_without_id(extension, area)
    _drop(transaction, extension, area, area.order(_all(transaction, extension, area)))


def _refuse_without_id(extension: str, area: Area) -> None:
    if area.needs_id:
        refuse_temporary(extension)


def _all(transaction: Transaction, extension: str, area: Area) -> Items:
    return {key: value for _, key, value in transaction.extensions.find(area.kind, extension)}


def _found(transaction: Transaction, extension: str, area: Area, keys: Iterable[str]) -> dict[str, Any]:
    stored = ((key, transaction.extensions.get(extension, area.kind, key)) for key in keys)
    return {key: decode(value) for key, value in stored if value is not None}


def _drop(transaction: Transaction, extension: str, area: Area, items: Items) -> None:
    for key in items:
        transaction.extensions.delete(extension, area.kind, key)
    _tell(transaction, extension, area, {key: {"oldValue": msgspec.Raw(value)} for key, value in items.items()})


def _tell(
    transaction: Transaction, extension: str, area: Area, changes: Mapping[str, Mapping[str, msgspec.Raw]]
) -> None:
    if changes or area.notifies_unchanged:
        told = StorageChanged(extension, area.name, _encode(changes).decode())
        transaction.changes.append(CHANGED, _encode(told))


def _list(keys: str | Sequence[str]) -> Sequence[str]:
    return [keys] if isinstance(keys, str) else keys


def _written(key: str) -> str:
    """A key as it is kept: as the keys of an object are when they come from a script (hatbox.javascript.wire_codec)."""
    return well_formed(_NUL + key if key.startswith(_NUL) else key)


def _read(key: str) -> str:
    return key[1:] if key.startswith(_NUL) else key


_encode = msgspec.json.Encoder().encode
