"""localStorage and IndexedDB of an origin, as the profile stores them and as Playwright's storage state has them.

Pure. A record with a value that Playwright has no form for is left out and counted; the others of its database stay.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from hatbox.errors import InvalidInputFile
from hatbox.formats.base import SiteData, Tally
from hatbox.formats.structured_values import (
    InvalidEncoding,
    NotTranslatable,
    decode_value,
    encode_value,
    pack_plain,
)
from hatbox.tabs.site_data import DATABASES, LOCAL_STORAGE, decode_site_data, encode_site_data
from hatbox.urls.url import parse_url

__all__ = ["canonical_origin", "origin_entry", "site_data_of"]

T = TypeVar("T")

RECORDS: Final = "IndexedDB records with {}"
UNNAMED: Final = "IndexedDB databases without a name, which Playwright cannot read"
UNREADABLE: Final = "origins whose site data is nested too deeply"
OTHER_ORIGINS: Final = "origins other than http and https"
LOCAL_FILES: Final = "origins with files (OPFS)"


class _Item(msgspec.Struct):
    name: str
    value: str


class _Index(msgspec.Struct):
    name: str
    keyPath: str | None = None  # noqa: N815 - Playwright's names
    keyPathArray: list[str] | None = None  # noqa: N815
    multiEntry: bool = False  # noqa: N815
    unique: bool = False


class _Record(msgspec.Struct):
    key: Any = msgspec.UNSET
    keyEncoded: Any = msgspec.UNSET  # noqa: N815
    value: Any = msgspec.UNSET
    valueEncoded: Any = msgspec.UNSET  # noqa: N815


class _ObjectStore(msgspec.Struct):
    name: str
    records: list[_Record] = []
    indexes: list[_Index] = []
    autoIncrement: bool = False  # noqa: N815
    keyPath: str | None = None  # noqa: N815
    keyPathArray: list[str] | None = None  # noqa: N815


class _Database(msgspec.Struct):
    name: str
    version: int
    stores: list[_ObjectStore] = []


class _Origin(msgspec.Struct):
    origin: str
    localStorage: list[_Item] = []  # noqa: N815
    indexedDB: list[_Database] = []  # noqa: N815
    opfs: list[Any] = []


def canonical_origin(text: str) -> str:
    """The origin that a browser has for this text; empty if it is not one of a website."""
    url = parse_url(text)
    if url is None or url.scheme not in ("http", "https") or not url.host or url.userinfo:
        return ""
    if url.path != "/" or url.query or url.fragment:
        return ""
    return f"{url.scheme}://{url.host}{url.port_suffix}"


# ---------------------------------------------------------------------------------------------------------- write


def origin_entry(site_data: SiteData, lost: Tally) -> dict[str, Any] | None:
    """An entry of `origins`; None if nothing of the origin can be written. Counts what is left out."""
    if not canonical_origin(site_data.origin):  # Playwright navigates to each origin, and would fail here
        lost[OTHER_ORIGINS] += 1
        return None
    try:
        stored = decode_site_data(site_data.data)
        local = [{"name": name, "value": value} for name, value in stored.get(LOCAL_STORAGE, ())]
        databases = [_database_entry(each, lost) for each in stored.get(DATABASES, ())]
    except RecursionError:
        lost[UNREADABLE] += 1
        return None
    entry: dict[str, Any] = {"origin": site_data.origin, "localStorage": local}
    if written := [each for each in databases if each is not None]:
        entry["indexedDB"] = written
    return entry if local or written else None


def _database_entry(database: dict[str, Any], lost: Tally) -> dict[str, Any] | None:
    if not database.get("name"):
        lost[UNNAMED] += 1
        return None
    stores = [_store_entry(each, lost) for each in database["stores"]]
    return {"name": database["name"], "version": database["version"], "stores": stores}


def _store_entry(store: dict[str, Any], lost: Tally) -> dict[str, Any]:
    records = (_record_entry(key, value, lost) for key, value in store["records"])
    return {
        "name": store["name"],
        "records": [each for each in records if each is not None],
        "indexes": [
            {"name": each["name"], **_key_path(each), "multiEntry": each["multiEntry"], "unique": each["unique"]}
            for each in store["indexes"]
        ],
        "autoIncrement": store["autoIncrement"],
        **_key_path(store),
    }


def _key_path(described: dict[str, Any]) -> dict[str, Any]:
    path = described["keyPath"]
    return {} if path is None else {"keyPath": path} if isinstance(path, str) else {"keyPathArray": path}


def _record_entry(key: Any, value: Any, lost: Tally) -> dict[str, Any] | None:
    entry: dict[str, Any] = {}
    try:
        for name, packed in (("key", key), ("value", value)):
            if name == "value" or packed is not None:  # a key that is part of its value is not stored
                is_plain, encoded = encode_value(packed)
                entry[name if is_plain else f"{name}Encoded"] = encoded
    except NotTranslatable as error:
        lost[RECORDS.format(error)] += 1
        return None
    except InvalidEncoding:
        lost[RECORDS.format("unknown types")] += 1
        return None
    return entry


# ----------------------------------------------------------------------------------------------------------- read


def site_data_of(origins: list[Any], source: str, lost: Tally) -> list[SiteData]:
    """The site data of `origins`. Raises InvalidInputFile if it is not Playwright's."""
    try:
        return _site_data_of(origins, source, lost)
    except RecursionError as error:
        raise InvalidInputFile(source, "nested too deeply") from error


def _site_data_of(origins: list[Any], source: str, lost: Tally) -> list[SiteData]:
    given = _checked(lambda: msgspec.convert(origins, list[_Origin]), source, "$.origins")
    found: dict[str, SiteData] = {}
    for place, each in enumerate(given):
        origin = canonical_origin(each.origin)
        if not origin:
            lost[OTHER_ORIGINS] += 1
            continue
        if each.opfs:
            lost[LOCAL_FILES] += 1
        where = f"$.origins[{place}]"
        local = [[item.name, item.value] for item in each.localStorage]
        databases = [_stored_database(database, source, where, lost) for database in each.indexedDB]
        if local or databases:
            found[origin] = SiteData(origin, encode_site_data({LOCAL_STORAGE: local, DATABASES: databases}))
    return list(found.values())


def _stored_database(database: _Database, source: str, where: str, lost: Tally) -> dict[str, Any]:
    if not 1 <= database.version < 2**53:
        raise InvalidInputFile(source, f"{where}: invalid version of an IndexedDB database: {database.version}")
    stores = [_stored_store(store, source, where, lost) for store in database.stores]
    return {"name": database.name, "version": database.version, "stores": stores}


def _stored_store(store: _ObjectStore, source: str, where: str, lost: Tally) -> dict[str, Any]:
    path = store.keyPathArray if store.keyPathArray is not None else store.keyPath
    records = [_stored_record(each, path is None, source, where, lost) for each in store.records]
    return {
        "name": store.name,
        "keyPath": path,
        "autoIncrement": store.autoIncrement,
        "indexes": [
            {
                "name": each.name,
                "keyPath": each.keyPathArray if each.keyPathArray is not None else each.keyPath or "",
                "unique": each.unique,
                "multiEntry": each.multiEntry,
            }
            for each in store.indexes
        ],
        "records": [each for each in records if each is not None],
    }


def _stored_record(record: _Record, has_key: bool, source: str, where: str, lost: Tally) -> list[Any] | None:
    where += ".indexedDB"
    try:
        key = _checked(lambda: _packed(record.key, record.keyEncoded), source, where) if has_key else None
        return [key, _checked(lambda: _packed(record.value, record.valueEncoded), source, where)]
    except NotTranslatable as error:
        lost[RECORDS.format(error)] += 1
        return None


def _packed(plain: Any, encoded: Any) -> Any:
    if plain is not msgspec.UNSET:
        return pack_plain(plain)
    if encoded is msgspec.UNSET:
        raise InvalidEncoding("a record without a key or value")
    return decode_value(encoded)


def _checked(convert: Callable[[], T], source: str, where: str) -> T:
    try:
        return convert()
    except (msgspec.ValidationError, InvalidEncoding) as error:
        raise InvalidInputFile(source, f"{where}: {error}") from error
