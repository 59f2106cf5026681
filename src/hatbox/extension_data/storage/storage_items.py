"""Functions of storage areas: transaction functions. Error messages match Firefox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from hatbox.extension_data.storage.storage_areas import Items, StorageArea, check_quota, require_explicit_id
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
    """Payload of storage.onChanged. `changes` has a StorageChange for each key.

    `changes` is JSON text, because values may contain lone surrogates, which the JSON of the change log must not.
    """

    extension: str
    area: str
    changes: str


def get(transaction: Transaction, extension: str, area: StorageArea, keys: Keys | Mapping[str, Any]) -> dict[str, Any]:
    """The values of these keys, or all values. A mapping contains defaults for missing keys."""
    _check_id(extension, area)
    if keys is None:
        return {key: decode(value) for key, value in area.order(_all(transaction, extension, area)).items()}
    if not isinstance(keys, Mapping):
        found = _found(transaction, extension, area, map(_encode_key, _list(keys)))
        return {key: value for key, value in found.items() if area.returns_undefined or value is not UNDEFINED}
    defaults = {well_formed(key): default for key, default in keys.items()}
    return with_defaults(_found(transaction, extension, area, defaults), defaults, area)


def with_defaults(found: Mapping[str, Any], defaults: Mapping[str, Any], area: StorageArea) -> dict[str, Any]:
    """The found values, with defaults for missing keys."""
    result: dict[str, Any] = {}
    for key, default in defaults.items():
        if key in found and (area.returns_undefined or found[key] is not UNDEFINED):
            result[key] = found[key]
        elif area.returns_undefined or not (default is UNDEFINED or callable(default)):
            result[key] = area.to_stored(default)
    return result


def get_keys(transaction: Transaction, extension: str, area: StorageArea) -> list[str]:
    """All keys."""
    _check_id(extension, area)
    return [_decode_key(key) for key in area.order(_all(transaction, extension, area))]


def bytes_in_use(transaction: Transaction, extension: str, area: StorageArea, keys: Keys) -> int:
    """The size of these keys and their values, or of all."""
    sizes = {key: area.size(key, value) for key, value in get(transaction, extension, area, keys).items()}
    named = list(sizes) if keys is None or not area.counts_duplicate_keys else map(_encode_key, _list(keys))
    return sum(sizes.get(key, 0) for key in named)


def set_items(
    transaction: Transaction, extension: str, area: StorageArea, items: Mapping[str, Any], quota: int | None = None
) -> None:
    """Store all values. Stores none if one cannot be serialized, or if a limit or `quota` is exceeded."""
    new = {well_formed(key): encode(area.to_stored(value)) for key, value in items.items()}
    _check_id(extension, area)
    area.check_limits(transaction, extension, new)
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
    _emit(transaction, extension, area, changes)


def remove(transaction: Transaction, extension: str, area: StorageArea, keys: str | Sequence[str]) -> None:
    """Delete these keys. Missing keys are ignored."""
    _check_id(extension, area)
    stored = {key: transaction.extensions.get(extension, area.kind, key) for key in map(_encode_key, _list(keys))}
    _delete(transaction, extension, area, {key: value for key, value in stored.items() if value is not None})


def clear(transaction: Transaction, extension: str, area: StorageArea) -> None:
    """Delete all keys."""
    _check_id(extension, area)
    _delete(transaction, extension, area, area.order(_all(transaction, extension, area)))


def _check_id(extension: str, area: StorageArea) -> None:
    if area.requires_explicit_id:
        require_explicit_id(extension)


def _all(transaction: Transaction, extension: str, area: StorageArea) -> Items:
    return {key: value for _, key, value in transaction.extensions.find(area.kind, extension)}


def _found(transaction: Transaction, extension: str, area: StorageArea, keys: Iterable[str]) -> dict[str, Any]:
    stored = ((key, transaction.extensions.get(extension, area.kind, key)) for key in keys)
    return {key: decode(value) for key, value in stored if value is not None}


def _delete(transaction: Transaction, extension: str, area: StorageArea, items: Items) -> None:
    for key in items:
        transaction.extensions.delete(extension, area.kind, key)
    _emit(transaction, extension, area, {key: {"oldValue": msgspec.Raw(value)} for key, value in items.items()})


def _emit(
    transaction: Transaction, extension: str, area: StorageArea, changes: Mapping[str, Mapping[str, msgspec.Raw]]
) -> None:
    if changes or area.notifies_unchanged:
        changed = StorageChanged(extension, area.name, _encode(changes).decode())
        transaction.changes.append(CHANGED, _encode(changed))


def _list(keys: str | Sequence[str]) -> Sequence[str]:
    return [keys] if isinstance(keys, str) else keys


def _encode_key(key: str) -> str:
    """Encode a key as the wire codec encodes object keys: a leading NUL is doubled."""
    return well_formed(_NUL + key if key.startswith(_NUL) else key)


def _decode_key(key: str) -> str:
    return key[1:] if key.startswith(_NUL) else key


_encode = msgspec.json.Encoder().encode
