"""How the areas of storage differ: what they keep of a value, in what order, and how much. Data, and a rule each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from hatbox.errors import ApiError
from hatbox.extension_data.storage.structured_clone import as_json, clone_size, cloned, json_size
from hatbox.javascript.text import code_units
from hatbox.javascript.wire_codec import decode
from hatbox.store.base import Transaction

__all__ = ["AREAS", "Area", "Items", "check_quota", "refuse_temporary"]

Items: TypeAlias = Mapping[str, bytes]
"""Keys, and their values as they are kept."""

_TEMPORARY: Final = "@temporary-addon"
_SYNC_BYTES: Final = 102_400
_SYNC_ITEM_BYTES: Final = 8_192
_SYNC_ITEMS: Final = 512
_SESSION_BYTES: Final = 10_485_760
_CLONE_TO_JSON: Final = 16  # a clone is never larger than its JSON by more than this


class Area(NamedTuple):
    """One area of storage."""

    name: str
    kept: Callable[[Any], Any]
    """What is kept of a value."""
    size: Callable[[str, Any], int]
    """How many bytes a key and its value count for."""
    check: Callable[[Transaction, str, Items], None]
    """Raises if there is no room for these items of an extension."""
    sorted: bool = False
    """Whether keys come in their own order, and not in that in which they were first set."""
    returns_undefined: bool = True
    """Whether `get` shows a value that is undefined."""
    notifies_unchanged: bool = False
    """Whether listeners hear of calls that have changed nothing."""
    includes_missing_old_value: bool = True
    """Whether listeners are told that there was no old value."""
    counts_duplicate_keys: bool = True
    """Whether a key that is named twice counts twice."""
    needs_id: bool = False
    """Whether only extensions whose manifest has an id may use it."""

    @property
    def kind(self) -> str:
        """Where its values are kept."""
        return f"storage.{self.name}"

    def order(self, items: Items) -> Items:
        """The items in the order of this area."""
        return dict(sorted(items.items(), key=lambda item: code_units(item[0]))) if self.sorted else items


def refuse_temporary(extension: str) -> None:
    """Refuse an extension whose id was generated, as Firefox does: its next run may have another id."""
    if extension.partition("#")[0].endswith(_TEMPORARY):
        raise ApiError(
            "The storage API will not work with a temporary addon ID. "
            "Please add an explicit addon ID to your manifest. For more information see https://mzl.la/3lPk1aE."
        )


def _no_limit(_: Transaction, __: str, ___: Items) -> None:
    pass


def _check_sync(transaction: Transaction, extension: str, items: Items) -> None:
    kept = {key: value for _, key, value in transaction.extensions.find("storage.sync", extension)}
    sizes = {key: json_size(decode(value)) for key, value in {**kept, **items}.items()}
    total = 1 + sum(json_size(key) + size + 2 for key, size in sizes.items())  # as one object, with : and , and {}
    too_large = any(_utf8_size(key) + sizes[key] > _SYNC_ITEM_BYTES for key in items)
    if too_large or total > _SYNC_BYTES or len(sizes) > _SYNC_ITEMS:
        raise _over_quota("sync")


def _check_session(transaction: Transaction, extension: str, items: Items) -> None:
    new = sum(len(key) + len(value) for key, value in items.items())
    if (new + transaction.extensions.size(extension, "storage.session")) * _CLONE_TO_JSON <= _SESSION_BYTES:
        return
    kept = {key: value for _, key, value in transaction.extensions.find("storage.session", extension)}
    if sum(_clone_bytes(key, decode(value)) for key, value in {**kept, **items}.items()) > _SESSION_BYTES:
        raise _over_quota("session")


def check_quota(transaction: Transaction, extension: str, area: Area, items: Items, quota: int) -> None:
    """Raise if an extension would store more bytes in an area than its quota."""
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
    "local": Area(
        "local", cloned, _clone_bytes, _no_limit, sorted=True, returns_undefined=False, counts_duplicate_keys=False
    ),
    "session": Area("session", cloned, _clone_bytes, _check_session),
    "sync": Area(
        "sync",
        as_json,
        _json_bytes,
        _check_sync,
        notifies_unchanged=True,
        includes_missing_old_value=False,
        needs_id=True,
    ),
}
