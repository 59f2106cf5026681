"""Restores an archive, or some of its identities, into a profile that has contents. One transaction function.

Every restored identity is made equal to the archive. All others stay as they are, and so does the trash. Reads the
archive once, from the start to the end, with the cookies of one identity, or the data of one site, in memory; tabs are
the exception, as they refer to each other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import groupby
from typing import Final

import msgspec

from hatbox.archive.archive_contents import ArchiveContents, digest_of_extension, is_restored_kind
from hatbox.archive.archive_file import ArchiveFile
from hatbox.archive.identity_archive import (
    ArchivedIdentity,
    ArchivedTab,
    read_identity,
    rule_identities,
    window_columns,
)
from hatbox.archive.identity_restore import (
    RestoredIdentity,
    place_identity,
    replace_cookies,
    replace_settings,
    replace_site_data,
)
from hatbox.archive.restore_log import RestoreLog
from hatbox.archive.restore_report import RestoreReport
from hatbox.archive.rule_restore import restore_rules
from hatbox.archive.selection import IdentityEntry
from hatbox.archive.tab_restore import restore_page, restore_tabs
from hatbox.archive.table_stream import Row, TableStream, by_identity
from hatbox.bookmarks.bookmark_roots import restore_bookmarks
from hatbox.errors import ArchiveDamaged
from hatbox.grants.grant_rows import find_grants
from hatbox.history.history_archive import replace_history
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of
from hatbox.identity.model import MOVED, record_change
from hatbox.store.base import TabRow, Transaction, WindowRow
from hatbox.store.profile_copy import copied_table
from hatbox.store.profile_settings import URL_SECRET
from hatbox.store.record_tables import BookmarkRow, PageRow, VisitRow
from hatbox.store.tables.new_profile import NEW_IDENTITIES
from hatbox.tabs.hiders import hider_of, note_hider
from hatbox.tabs.session_values import kind_of_tab, tab_of_kind
from hatbox.tabs.tab_model import BLANK

__all__ = ["DryRunDone", "restore_archive"]

_HIDDEN_BY: Final = "tabs.hidden_by"
_TRASH: Final = "trash"  # settings with this prefix describe the trash, or limit it


class DryRunDone(Exception):
    """Ends the transaction of a dry run, so that nothing of it is committed. `report` is what it would change."""

    def __init__(self, report: RestoreReport) -> None:
        super().__init__()
        self.report = report


def restore_archive(
    transaction: Transaction,
    archive: ArchiveFile,
    contents: ArchiveContents,
    wanted: frozenset[int] | None,
    *,
    profile_uuid: str | None,
    dry_run: bool = False,
    on_rows: Callable[[int], None] = lambda _: None,
) -> RestoreReport:
    """Restore these identities, by archived id, or everything. Raises DryRunDone at the end of a dry run."""
    restore = _Restore(transaction, contents, wanted, same_profile=profile_uuid == contents.manifest.profile)
    report = restore.run(TableStream(archive.rows().batches(), on_rows))
    report.dry_run = dry_run
    if dry_run:
        raise DryRunDone(report)
    return report


class _Restore:
    """The state of one run. `ids` has the id here of each restored identity, by archived id; 0 is the default store."""

    def __init__(
        self,
        transaction: Transaction,
        contents: ArchiveContents,
        wanted: frozenset[int] | None,
        *,
        same_profile: bool,
    ) -> None:
        self._transaction = transaction
        self._contents = contents
        self._is_everything = wanted is None and contents.manifest.is_whole
        self._entries = {
            entry.id: entry
            for entry in contents.identities
            if (wanted is None and entry.uuid not in contents.temporary) or (wanted is not None and entry.id in wanted)
        }
        self._with_default = self._is_everything or (wanted is not None and 0 in wanted)
        self._same_profile = same_profile
        self._log = RestoreLog(transaction)
        self._report = RestoreReport(created=contents.manifest.created, rows=contents.rows)
        self._done: dict[int, RestoredIdentity] = {}
        self._ids: dict[int, int] = {}
        self._tabs: dict[int, int] = {}  # the id here of each archived tab

    def run(self, stream: TableStream) -> RestoreReport:
        """Restore the tables in the order of the archive."""
        if not self._same_profile:  # there, equal names of different UUIDs are different identities
            _take_unused(self._transaction, self._entries.values())
        self._place_identities()
        self._restore_settings(stream.rows("settings", "identity", "name", "value"))
        self._restore_rules(stream.rows("rules", "id", "rule"))
        self._restore_cookies(stream.rows("cookies", "store", *copied_table("cookies").without("store").columns))
        self._restore_site_data(stream.rows("site_data", "store", "origin", "data"))
        windows = [WindowRow._make(row) for row in stream.rows("windows", *WindowRow._fields)]
        self._restore_tabs(windows, [TabRow._make(row) for row in stream.rows("tabs", *TabRow._fields)])
        self._restore_pages(stream.rows("tab_pages", "tab", "page"))
        self._restore_extensions(stream.rows("extension_data", "extension", "kind", "key", "value"))
        self._restore_packages(stream.rows("packages", "digest", "data"))
        if "history" in self._contents.manifest.tables:  # an archive of version 1 says nothing about it
            self._restore_history(stream.rows("history", "store", *PageRow._fields), stream)
        self._restore_bookmarks(stream.rows("bookmarks", *BookmarkRow._fields))
        stream.finish()
        self._log.finish()
        return self._report

    # ── Identities ──

    def _place_identities(self) -> None:
        places = _Places(self._transaction, self._contents)
        taken = places.other_names({entry.uuid for entry in self._entries.values()})
        for entry in sorted(self._entries.values(), key=lambda entry: places.archived.get(entry.id, 0)):
            number, name, icon, color, hidden, _, uuid = entry
            archived = ArchivedIdentity(number, uuid, name, icon, color, hidden == 1, index=sys.maxsize)
            is_new = not places.is_here(uuid)
            done = place_identity(
                self._transaction,
                archived,
                self._log,
                keep_id=self._same_profile,
                is_new=is_new,
                is_taken=taken.__contains__,
            )
            if done.created:
                places.note(number, uuid, int(done.cookie_store_id.rpartition("-")[2]))
            self._done[number] = done
            self._ids[number] = int(done.cookie_store_id.rpartition("-")[2])
            self._report.identities.append(done)
        if self._with_default:
            self._ids[0] = 0
            self._done[0] = self._report.default_store = RestoredIdentity(
                name="", cookie_store_id=DEFAULT_COOKIE_STORE_ID, uuid="", archived_id=DEFAULT_COOKIE_STORE_ID
            )
        places.move_created()
        self._arrange([done.cookie_store_id for done in self._report.identities])

    def _arrange(self, wanted: Sequence[str]) -> None:
        """Put the restored identities into their order, at the places that they have among all."""
        identities = self._transaction.identities
        order = [row[0] for row in identities.find()]
        restored = [int(each.rpartition("-")[2]) for each in wanted]
        members = frozenset(restored)
        if [each for each in order if each in members] == restored:
            return
        self._report.order_changed = True
        following = iter(restored)
        for place, number in enumerate([next(following) if each in members else each for each in order]):
            if order[place] != number:
                identities.move([number], place)
                order.remove(number)
                order.insert(place, number)
                row = identities.get(number)
                if row is not None and self._log.take():
                    record_change(self._transaction, MOVED, row)

    # ── What belongs to them ──

    def _each(self, rows: Iterator[Row]) -> Iterator[tuple[int, RestoredIdentity, Iterator[Row]]]:
        """The rows of each restored identity, with its id here."""
        for number, group in by_identity(rows, list(self._ids)):
            yield self._ids[number], self._done[number], group
            self._transaction.trim()

    def _restore_settings(self, rows: Iterator[Row]) -> None:
        proxies = {number: self._contents.proxies.get(archived, "") for archived, number in self._ids.items()}
        for number, done, group in self._each(rows):
            settings = {name: value for _, name, value in group}
            if number:
                done.settings_changed = replace_settings(self._transaction, number, settings, self._log)
                done.proxy = proxies[number] if done.settings_changed else ""
            elif self._is_everything:
                self._restore_profile_settings(settings)

    def _restore_profile_settings(self, settings: dict[str, bytes]) -> None:
        """Settings that were made since the backup stay. The trash stays too, and so do its state and its limits.

        A lower limit would delete identities from the trash for ever. The secret of the URLs of extensions stays if the
        profile has one: extensions run with it, and tabs have such URLs.
        """
        table = self._transaction.settings
        for name, value in settings.items():
            now = table.get(0, name)
            stays = name.startswith(_TRASH) or (name == URL_SECRET and now is not None)
            if not stays and now != value:
                table.put(0, name, value)
                self._report.settings_changed = True
                self._log.require_resync()

    def _restore_rules(self, rows: Iterator[Row]) -> None:
        named = {cookie_store_id_of(number) for number in self._ids if number}
        rules = [
            (number, rule)
            for number, rule in rows
            if self._is_everything or not named.isdisjoint(rule_identities(rule))
        ]
        self._report.rules = restore_rules(self._transaction, rules, self._ids, same_profile=self._same_profile)

    def _restore_cookies(self, rows: Iterator[Row]) -> None:
        for number, done, group in self._each(rows):
            replace_cookies(self._transaction, number, [row[1:] for row in group], self._log, done)

    def _restore_site_data(self, rows: Iterator[Row]) -> None:
        for number, done, group in self._each(rows):
            replace_site_data(self._transaction, number, ((origin, data) for _, origin, data in group), done)

    def _restore_history(self, rows: Iterator[Row], stream: TableStream) -> None:
        pages = {number: [PageRow._make(row[1:]) for row in group] for number, _, group in self._each(rows)}
        for number, done, group in self._each(stream.rows("visits", "store", *VisitRow._fields)):
            visits = (VisitRow._make(row[1:]) for row in group)
            done.history_changed = replace_history(self._transaction, number, pages[number], visits)
            if done.history_changed:
                self._log.require_resync()

    def _restore_tabs(self, windows: Sequence[WindowRow], tabs: Sequence[TabRow]) -> None:
        columns = {row.id: window_columns(row) for row in windows}
        indexes: dict[int, int] = {}
        by_store: dict[int, list[ArchivedTab]] = {}
        for tab in sorted(tabs, key=lambda tab: (tab.window, tab.position)):
            if tab.store == 0 and tab.url == BLANK and not tab.target:
                continue  # it may be the blank tab of the first window, which is not the user's
            if tab.id in self._contents.script_tabs and not self._is_open(tab.id):
                continue  # its script has ended
            index = indexes[tab.window] = indexes.get(tab.window, -1) + 1
            by_store.setdefault(tab.store, []).append(ArchivedTab(tab._asdict(), index))
        known: dict[int, int] = {}
        for number, here in self._ids.items():
            found = restore_tabs(self._transaction, here, by_store.get(number, []), columns, self._log, known)
            done = self._done[number]
            done.tabs_opened, done.tabs_closed = found.opened, found.closed
            self._tabs |= found.ids

    def _is_open(self, archived_tab: int) -> bool:
        """Whether the same tab is open here."""
        return self._same_profile and self._transaction.tabs.get(archived_tab) is not None

    def _restore_pages(self, rows: Iterator[Row]) -> None:
        for tab, page in rows:
            if (here := self._tabs.get(tab)) is not None:
                restore_page(self._transaction, here, page)
                self._transaction.trim()

    # ── The profile ──

    def _restore_extensions(self, rows: Iterator[Row]) -> None:
        """Restore what extensions have stored about tabs, and with everything else also all other data of them."""
        extensions = self._transaction.extensions
        replaced = self._cleared_extensions() if self._is_everything else frozenset()
        for extension, kind, key, value in rows:
            if (number := tab_of_kind(kind)) is not None:
                tab = self._tabs.get(number)
                if tab is not None and extensions.get(extension, kind_of_tab(tab), key) != value:
                    extensions.put(extension, kind_of_tab(tab), key, value)
            elif extension == "" and kind == _HIDDEN_BY:
                self._restore_hider(key, value)
            elif extension in replaced and is_restored_kind(kind):
                extensions.put(extension, kind, key, value)

    def _restore_hider(self, archived_tab: str, value: bytes) -> None:
        tab = self._tabs.get(int(archived_tab)) if archived_tab.isdecimal() else None
        row = None if tab is None else self._transaction.tabs.get(tab)
        try:
            hider = msgspec.json.decode(value, type=str)
        except msgspec.DecodeError as error:
            raise ArchiveDamaged("the archive", f"a hidden tab has an invalid record: {error}") from error
        if row is not None and row.hidden and hider_of(self._transaction, row.id) != hider:
            note_hider(self._transaction, [row.id], hider)

    def _cleared_extensions(self) -> frozenset[str]:
        """Delete the data of extensions whose data differs from the archive. Returns them."""
        transaction = self._transaction
        for extension, digest in self._contents.extensions.items():
            if digest_of_extension(transaction, extension) != digest:
                self._report.extensions.append(extension)
                if (installed := self._contents.installed.get(extension)) is not None:
                    self._report.installed.append(installed)
                self._log.require_resync()
                for kind in dict.fromkeys(kind for kind, _, _ in transaction.extensions.load(extension)):
                    if is_restored_kind(kind):
                        transaction.extensions.clear(extension, kind)
            transaction.trim()
        return frozenset(self._report.extensions)

    def _restore_packages(self, rows: Iterator[Row]) -> None:
        known = set(self._transaction.packages.digests()) if self._is_everything else set()
        for digest, data in rows:
            if self._is_everything and digest not in known:
                self._transaction.packages.put(digest, data)
                self._transaction.trim()
                self._report.packages += 1

    def _restore_bookmarks(self, rows: Iterator[Row]) -> None:
        if self._is_everything:
            self._report.bookmarks = restore_bookmarks(self._transaction, map(BookmarkRow._make, rows))
            if self._report.bookmarks:
                self._log.require_resync()


class _Places:
    """Where identities that are created belong: right after the one that precedes them in the archive."""

    def __init__(self, transaction: Transaction, contents: ArchiveContents) -> None:
        self.archived = contents.order
        """The places in the archive, by archived id."""
        ordered = sorted(contents.identities, key=lambda entry: self.archived.get(entry.id, 0))
        self._uuids = [entry.uuid for entry in ordered]
        places = {uuid: place for place, uuid in enumerate(self._uuids)}
        self._place = {entry.id: places[entry.uuid] for entry in contents.identities}
        self._here = transaction.identities.uuids()
        rows = transaction.identities.find()
        self._order = [row[0] for row in rows]
        self._names = {row[0]: row[1] for row in rows}
        self._is_whole = contents.manifest.is_whole
        self._identities = transaction.identities
        self._created: set[int] = set()

    def is_here(self, uuid: str) -> bool:
        """Whether an identity exists here."""
        return uuid in self._here

    def other_names(self, uuids: Set[str]) -> set[str]:
        """The names here of the identities without these UUIDs."""
        own = {number for uuid, number in self._here.items() if uuid in uuids}
        return {name for number, name in self._names.items() if number not in own}

    def note(self, archived_id: int, uuid: str, user_context_id: int) -> None:
        """An identity was created, at the end."""
        self._order.insert(self._find(archived_id), user_context_id)
        self._here[uuid] = user_context_id
        self._created.add(user_context_id)

    def move_created(self) -> None:
        """Move the identities that were created to their places: neighbours together, as that is much cheaper."""
        place = 0
        for is_created, group in groupby(self._order, key=self._created.__contains__):
            block = list(group)
            if is_created:
                self._identities.move(block, place)
            place += len(block)

    def _find(self, archived_id: int) -> int:
        """The place here of an identity that is created."""
        if self._is_whole:
            for uuid in reversed(self._uuids[: self._place[archived_id]]):
                if (neighbour := self._here.get(uuid)) is not None:
                    return self._order.index(neighbour) + 1
        return min(self.archived.get(archived_id, len(self._order)), len(self._order))


def _take_unused(transaction: Transaction, entries: Iterable[IdentityEntry]) -> None:
    """Give each unused first identity the UUID of the archived one that has its name, icon and color.

    Every profile starts with Personal, Work, Banking and Shopping. A backup of another profile has them too, with
    other UUIDs. Without this, its Work would be "Work (2)" beside an unused one.
    """
    here = transaction.identities.uuids()
    unused = {row[1:4]: row[0] for row in NEW_IDENTITIES if _is_unused(transaction, row[:5])}
    for entry in entries:
        number = unused.get((entry.name, entry.icon, entry.color))
        if number is not None and entry.uuid not in here:
            del unused[entry.name, entry.icon, entry.color]
            _set_uuid(transaction, number, entry.uuid)


def _is_unused(transaction: Transaction, row: tuple[int, str, str, str, int]) -> bool:
    """Whether an identity is as it was created, without contents, and no program has a grant for it."""
    if transaction.identities.get(row[0]) != row:
        return False
    read = read_identity(transaction, row[0])
    if read is None or any((read.settings, read.cookies, read.site_data, read.tabs, read.rules, read.pages)):
        return False
    store = cookie_store_id_of(row[0])
    return not any(store in grant.identities for grant in find_grants(transaction))


def _set_uuid(transaction: Transaction, number: int, uuid: str) -> None:
    row = transaction.identities.get(number)
    assert row is not None  # noqa: S101 - read above
    position = transaction.identities.position(number)
    transaction.identities.delete(number)
    transaction.identities.restore(number, uuid, *row[1:], position=position)
