"""The activity of a profile, from the commits in its change log. Transaction functions.

Changes of one kind, of one identity, by one program within one second are one entry. Nothing is shown of an identity
that was deleted for ever.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.engines.running_engines import find_records
from hatbox.extension_data import installed_extensions as installed
from hatbox.identities.ids import DEFAULT_COOKIE_STORE_ID, container_user_context_id, cookie_store_id_of
from hatbox.manager_api.activity.activity_texts import text_of
from hatbox.manager_api.activity.observed_changes import Observation, observe
from hatbox.store.base import CommitRecord, Transaction

__all__ = ["ActivityEntry", "entries_after", "last_sequence", "latest_entries"]

_BATCH: Final = 50  # commits that are read at a time
_MAX_NEW: Final = 400  # commits that are read for one event
_MAX_COMMITS: Final = 20_000
_MANAGER: Final = "hatbox ui"


class ShownIdentity(msgspec.Struct, frozen=True):
    """The identity of an entry, which may be in the trash."""

    name: str
    color: str
    icon: str


class ActivityEntry(msgspec.Struct, frozen=True):
    """One line of the activity."""

    id: str
    """The same for a line that grows, because more of the same happened in the same second."""
    sequence: int
    first_sequence: int
    time: int
    """In milliseconds since 1970."""
    program: str
    machine: str
    text: str
    cookie_store_id: str | None = None
    identity: ShownIdentity | None = None


class _Group(NamedTuple):
    commits: list[CommitRecord]
    found: list[Observation]


def latest_entries(
    transaction: Transaction, limit: int, before: int | None = None, cookie_store_id: str | None = None
) -> list[ActivityEntry]:
    """At least `limit` entries, if the log has so many, the newest first. Seconds are not divided.

    `before` is the `first_sequence` of an entry: only earlier commits are read.
    """
    entries: list[ActivityEntry] = []
    second: list[CommitRecord] = []  # the commits of one second
    shown = _Names(transaction)
    for commit in _commits(transaction, before, _MAX_COMMITS):
        if second and int(second[-1].time) != int(commit.time):
            entries += shown.entries(second, cookie_store_id)
            second = []
            if len(entries) >= limit:
                return entries
        second.append(commit)
    return entries + shown.entries(second, cookie_store_id)


def entries_after(transaction: Transaction, sequence: int) -> tuple[int, list[ActivityEntry]]:
    """The number of the last commit, and the entries with commits after a number. Those that grew are complete."""
    commits: list[CommitRecord] = []
    for commit in _commits(transaction, None, _MAX_NEW):
        newer = [each for each in commits if each.sequence > sequence]
        if commit.sequence <= sequence and (not newer or int(commit.time) < int(newer[-1].time)):
            break
        commits.append(commit)
    if not commits:
        return sequence, []
    entries = _Names(transaction).entries(commits, None)
    return max(sequence, commits[0].sequence), [each for each in entries if each.sequence > sequence]


def last_sequence(transaction: Transaction) -> int:
    """The number of the last commit in the log; 0 if it is empty."""
    return next((each.sequence for each in transaction.changes.latest_commits(1)), 0)


def _commits(transaction: Transaction, before: int | None, limit: int) -> Iterator[CommitRecord]:
    while limit > 0 and (found := transaction.changes.latest_commits(_BATCH, before)):
        yield from found
        before = found[-1].sequence
        limit -= len(found)


class _Names:
    """Makes entries, with the names of identities, engines and extensions as they are now."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._identities: dict[str, ShownIdentity | None] = {}
        self._trash: Mapping[str, ShownIdentity] | None = None
        self._extensions: Mapping[str, str] | None = None
        self._engines: Mapping[tuple[str, int], str] | None = None

    def entries(self, commits: Sequence[CommitRecord], cookie_store_id: str | None) -> list[ActivityEntry]:
        """The entries of commits, the newest first."""
        groups: dict[tuple[Any, ...], _Group] = {}
        observed = [(commit, observe(commit.changes)) for commit in commits]
        self._load({store for _, found in observed for each in found for store in _stores_of(each)})
        for commit, found in observed:
            for each in map(self._known, found):
                if each is not None and cookie_store_id in (None, each.store):
                    author = commit.program, commit.process, commit.machine
                    extension = each.subject if each.kind in ("granted", "revoked", "engine started") else ""
                    key = (int(commit.time), *author, each.store, each.kind, extension)
                    group = groups.setdefault(key, _Group([], []))
                    group.commits.append(commit)
                    group.found.append(each)
        entries = [self._entry(key, group) for key, group in groups.items()]
        return sorted(entries, key=lambda each: -each.sequence)

    def _entry(self, key: tuple[Any, ...], group: _Group) -> ActivityEntry:
        newest, oldest = group.commits[0], group.commits[-1]
        found = [*reversed(group.found)] if newest is not oldest else group.found
        store = found[0].store
        names = {each: shown.name for each, shown in self._identities.items() if shown is not None}
        if found[0].kind in ("granted", "revoked"):
            names = dict(self._extension_names())
        return ActivityEntry(
            id=blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=9).hexdigest(),
            sequence=newest.sequence,
            first_sequence=oldest.sequence,
            time=int(newest.time * 1000),
            program=self._program(newest),
            machine=newest.machine,
            text=text_of(found, names),
            cookie_store_id=store,
            identity=self._identities.get(store) if store else None,
        )

    def _known(self, each: Observation) -> Observation | None:
        """An observation as it may be shown; None for one of an identity that was deleted for ever."""
        if each.store is None or each.store == DEFAULT_COOKIE_STORE_ID:
            return each
        is_known = self._identities.get(each.store) is not None
        if each.kind == "trash":
            return None if is_known else Observation("deleted")
        if each.kind == "removed" and not is_known:
            return Observation("deleted")
        return each if is_known else None

    def _load(self, stores: set[str]) -> None:
        wanted = {store: container_user_context_id(store) or 0 for store in stores if store not in self._identities}
        table = self._transaction.identities
        if len(wanted) > _BATCH:
            rows = {row[0]: row for row in table.find()}
        else:
            self._transaction.load(identities=[*wanted.values()])
            rows = {row[0]: row for number in wanted.values() if (row := table.get(number)) is not None}
        for store, number in wanted.items():
            row = rows.get(number)
            self._identities[store] = self._in_trash(store) if row is None else ShownIdentity(row[1], row[3], row[2])

    def _in_trash(self, store: str) -> ShownIdentity | None:
        if self._trash is None:
            rows = self._transaction.trash.find()
            self._trash = {cookie_store_id_of(row.id): ShownIdentity(row.name, row.color, row.icon) for row in rows}
        return self._trash.get(store)

    def _extension_names(self) -> Mapping[str, str]:
        if self._extensions is None:
            self._extensions = {each.area: each.name for each in installed.get_all(self._transaction)}
        return self._extensions

    def _program(self, commit: CommitRecord) -> str:
        """The name of the author: an engine that runs in its process, or the program."""
        if self._engines is None:
            running = [each for each in find_records(self._transaction) if each.process is not None]
            self._engines = {(each.machine, each.pid or 0): each.engine for each in running}
        engine = self._engines.get((commit.machine, commit.process))
        return engine or ("manager page" if commit.program == _MANAGER else commit.program)


def _stores_of(each: Observation) -> Iterator[str]:
    for store in (each.store, each.place if each.kind == "tab moved" else None, *each.stores):
        if store and store != DEFAULT_COOKIE_STORE_ID:
            yield store
