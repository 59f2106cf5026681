"""The namespace hatbox.imports: identities of other programs, from browsers of this machine or from a file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.api.namespace import Namespace
from hatbox.api.services import Services
from hatbox.engines.site_data_holders import SiteDataHolders
from hatbox.errors import ApiError
from hatbox.formats import FORMATS, Bundle, BundleEntry
from hatbox.formats.base import Tally, name_sources
from hatbox.formats.chromium_folders import find_user_data
from hatbox.formats.firefox_folders import find_folders
from hatbox.formats.folder_formats import FOLDER_FORMATS
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.javascript.text import well_formed
from hatbox.manager_api.import_undo import ImportUndo, ImportUndoResult, import_identities, undo_import
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.manager_api.undo_records import UndoExpired, UndoRecords
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]

_MAX_BYTES: Final = 16 * 2**20
_UNDO_SECONDS: Final = 60.0
_ALLOWED: Final = "Choose containers.json of a Firefox profile, or a JSON lines file of `hatbox export`."
_NOT_OF_IDENTITIES: Final = (
    "has the cookies of one account, and names no identity. Open the identity that gets them, and drop the file on its "
    "Cookies."
)


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:
    """Implement the namespace."""
    return _Imports(schema, services, profile)


class _Source(NamedTuple):
    program: str
    folder: str
    name: str


class _FoundIdentity(NamedTuple):
    key: str
    name: str
    color: str | None
    icon: str | None
    cookies: int
    sites: int


class _LeftOut(msgspec.Struct, frozen=True):
    what: str
    count: int


class _Plan(NamedTuple):
    identities: list[_FoundIdentity]
    left_out: list[_LeftOut]


class _Result(NamedTuple):
    created: int
    matched: int
    cookies: int
    left_out: list[_LeftOut]
    undo: str | None


class _Imports(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> None:
        super().__init__(schema, services.store, {})
        self._profile = profile
        self._cookies = services.cookies
        self._undo = UndoRecords[ImportUndo](_UNDO_SECONDS)

    def sources(self) -> asyncio.Future[Any]:
        return self._run("sources", asyncio.to_thread(_sources))

    def preview(self, source: Mapping[str, str | None]) -> asyncio.Future[Any]:
        return self._run("preview", self._preview(source))

    def run(self, source: Mapping[str, str | None], keys: Sequence[str]) -> asyncio.Future[Any]:
        return self._run("run", self._import(source, keys))

    def undo(self, token: str) -> asyncio.Future[Any]:
        return self._run("undo", self._undo_import(token))

    def forget(self, token: str) -> asyncio.Future[Any]:
        return self._run("forget", self._forget(token))

    async def _preview(self, source: Mapping[str, str | None]) -> _Plan:
        bundle = await asyncio.to_thread(_read, source)
        return _Plan([_found(each) for each in bundle.entries], _left_out(bundle.skipped, bundle.dropped))

    async def _import(self, source: Mapping[str, str | None], keys: Sequence[str]) -> _Result:
        bundle = await asyncio.to_thread(_read, source)
        entries = [each for each in bundle.entries if _key_of(each) in keys]
        if not entries:
            raise ApiError("Choose an identity to import.")
        bundle = msgspec.structs.replace(bundle, entries=entries)
        now, running = self._store.time(), SiteDataHolders(await self._profile.running_engines())
        report, undo = await asyncio.shield(  # the record must not be lost
            self._store.write(lambda each: import_identities(each, bundle, now, running))
        )
        return _Result(
            created=report.identities_new,
            matched=report.identities_matched,
            cookies=report.cookies_new + report.cookies_changed,
            left_out=_left_out(report.skipped, report.dropped),
            undo=None if undo is None else self._undo.add(undo),
        )

    async def _undo_import(self, token: str) -> ImportUndoResult:
        undo = self._undo.take(token)
        if undo is None:
            raise UndoExpired("This import can no longer be undone: what it has replaced is in memory for a minute")
        try:
            now = max(
                [self._store.time(), *(self._cookies.prepare_row_access(each.user_context_id) for each in undo.cookies)]
            )
            running = SiteDataHolders(await self._profile.running_engines())
            return await asyncio.shield(self._store.write(lambda each: undo_import(each, undo, now, running)))
        except BaseException:
            self._undo.put_back(token, undo)  # the caller can try again
            raise

    async def _forget(self, token: str) -> None:
        self._undo.forget(token)


def _sources() -> list[_Source]:
    firefox = [_Source("firefox", str(each.folder), each.name) for each in find_folders()]
    return firefox + [_Source("chromium", str(each), each.name) for each in find_user_data()]


def _read(source: Mapping[str, str | None]) -> Bundle:
    """What a page has named: a folder that `sources` lists, or a file that the page has read."""
    if (text := source.get("text")) is not None:
        return _read_text(source.get("name") or "The file", text)
    known = next((each for each in _sources() if each.folder == source.get("folder")), None)
    if known is None:
        raise ApiError("This browser profile is gone. Choose another one.")
    return FOLDER_FORMATS[known.program].read(Path(known.folder))


def _read_text(name: str, text: str) -> Bundle:
    data = well_formed(text).encode().removeprefix(b"\xef\xbb\xbf")
    if len(data) > _MAX_BYTES:
        raise ApiError(f"{name} is larger than {_MAX_BYTES // 2**20} MB. Import it in a terminal with: hatbox import")
    format_name = _format_of(name, data)
    return name_sources(FORMATS[format_name].read(data, name), format_name, Path(name))


def _format_of(name: str, data: bytes) -> str:
    document = _decoded(data)
    if isinstance(document, dict) and "identities" in document:
        return "containers.json"
    if isinstance(document, dict) and "format" not in document and {"cookies", "origins"} & document.keys():
        raise ApiError(f"{name} {_NOT_OF_IDENTITIES}")
    first, _, _ = data.lstrip().partition(b"\n")
    if isinstance(_decoded(first), dict):
        return "json-lines"
    if first.startswith(b"# ") and b"ookie" in first:
        raise ApiError(f"{name} {_NOT_OF_IDENTITIES}")
    raise ApiError(f"{name} has no identities that can be imported. {_ALLOWED}")


def _decoded(data: bytes) -> object:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError):
        return None


def _found(entry: BundleEntry) -> _FoundIdentity:
    label = entry.label
    color, icon = (label.color, label.icon) if label is not None else (None, None)
    name = label.name if label is not None else "Without an identity"
    return _FoundIdentity(_key_of(entry), name, color, icon, len(entry.cookies), len(entry.site_data))


def _key_of(entry: BundleEntry) -> str:
    return DEFAULT_COOKIE_STORE_ID if entry.label is None else f"{entry.number} {entry.label.name}"


def _left_out(*tallies: Tally) -> list[_LeftOut]:
    return [_LeftOut(what, count) for tally in tallies for what, count in tally.items()]
