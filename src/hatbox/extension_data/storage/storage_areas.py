"""Storage areas and their differences: serialization, order, limits and events. Error messages match Firefox."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from hatbox.errors import ApiError
from hatbox.extension_data.storage.structured_clone import as_json, clone_size, cloned, json_size
from hatbox.javascript.text import code_units
from hatbox.javascript.wire_codec import decode
from hatbox.store.base import Transaction

__all__ = ["AREAS", "Items", "StorageArea", "check_quota", "require_explicit_id"]

Items: TypeAlias = Mapping[str, bytes]
"""Keys with encoded values."""

_TEMPORARY: Final = "@temporary-addon"
_SYNC_BYTES: Final = 102_400
_SYNC_ITEM_BYTES: Final = 8_192
_SYNC_ITEMS: Final = 512
_SESSION_BYTES: Final = 10_485_760
_CLONE_TO_JSON: Final = 16  # a structured clone is at most this many times as large as its JSON


class StorageArea(NamedTuple):
    """One storage area."""

    name: str
    to_stored: Callable[[Any], Any]
    """Serializes a value. Raises ApiError if that is not possible."""
    size: Callable[[str, Any], int]
    """The size of a key and its value for getBytesInUse()."""
    check_limits: Callable[[Transaction, str, Items], None]
    """Raises ApiError if these items of an extension exceed the limits of the area."""
    sorted: bool = False
    """Whether keys are sorted, instead of in the order of insertion."""
    returns_undefined: bool = True
    """Whether get() returns undefined values."""
    notifies_unchanged: bool = False
    """Whether calls that change nothing emit onChanged."""
    includes_missing_old_value: bool = True
    """Whether the StorageChange of a new key has an undefined oldValue."""
    counts_duplicate_keys: bool = True
    """Whether getBytesInUse() counts a repeated key twice."""
    requires_explicit_id: bool = False
    """Whether the manifest must have an id."""

    @property
    def kind(self) -> str:
        """The kind of its rows."""
        return f"storage.{self.name}"

    def order(self, items: Items) -> Items:
        """Order items as the area does."""
        return dict(sorted(items.items(), key=lambda item: code_units(item[0]))) if self.sorted else items


def require_explicit_id(extension: str) -> None:
    """Raise ApiError if the extension id was generated: the next run may have another id."""
    if extension.partition("#")[0].endswith(_TEMPORARY):
        raise ApiError(
            "The storage API will not work with a temporary addon ID. "
            "Please add an explicit addon ID to your manifest. For more information see https://mzl.la/3lPk1aE."
        )


def _no_limit(_: Transaction, __: str, ___: Items) -> None:
    pass


def _check_sync(transaction: Transaction, extension: str, items: Items) -> None:
    stored = {key: value for _, key, value in transaction.extensions.find("storage.sync", extension)}
    sizes = {key: json_size(decode(value)) for key, value in {**stored, **items}.items()}
    total = 1 + sum(
        json_size(key) + size + 2 for key, size in sizes.items()
    )  # serialized as one object, with `:`, `,` and `{}`
    too_large = any(_utf8_size(key) + sizes[key] > _SYNC_ITEM_BYTES for key in items)
    if too_large or total > _SYNC_BYTES or len(sizes) > _SYNC_ITEMS:
        raise _over_quota("sync")


def _check_session(transaction: Transaction, extension: str, items: Items) -> None:
    new = sum(len(key) + len(value) for key, value in items.items())
    if (new + transaction.extensions.size(extension, "storage.session")) * _CLONE_TO_JSON <= _SESSION_BYTES:
        return
    stored = {key: value for _, key, value in transaction.extensions.find("storage.session", extension)}
    if sum(_clone_bytes(key, decode(value)) for key, value in {**stored, **items}.items()) > _SESSION_BYTES:
        raise _over_quota("session")


def check_quota(transaction: Transaction, extension: str, area: StorageArea, items: Items, quota: int) -> None:
    """Raise ApiError if an extension would exceed its quota in an area."""
    new = sum(len(key) + len(value) for key, value in items.items())
    table = transaction.extensions
    if new + table.max_size() > quota and new + table.size(extension, area.kind) > quota:
        raise _over_quota(area.name)


def _over_quota(area: str) -> ApiError:
    return ApiError(f"QuotaExceededError: storage.{area} API call exceeded its quota limitations.")


def _clone_bytes(key: str, value: Any) -> int:
    return len(code_units(key)) // 2 + clone_size(value)


def _json_bytes(key: str, value: Any) -> int:
    return _utf8_size(key) + json_size(value)


def _utf8_size(key: str) -> int:
    return len(key.encode("utf-8", "surrogatepass"))


AREAS: Final = {
    "local": StorageArea(
        "local", cloned, _clone_bytes, _no_limit, sorted=True, returns_undefined=False, counts_duplicate_keys=False
    ),
    "session": StorageArea("session", cloned, _clone_bytes, _check_session),
    "sync": StorageArea(
        "sync",
        as_json,
        _json_bytes,
        _check_sync,
        notifies_unchanged=True,
        includes_missing_old_value=False,
        requires_explicit_id=True,
    ),
}
