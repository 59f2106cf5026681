"""The entries of the activity: what commits did, grouped, with the names of now. Pure.

Changes of one kind, of one identity, by one program within one second are one entry. Nothing is shown of an identity
that was deleted for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

import msgspec

from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.manager_api.activity.activity_texts import text_of
from hatbox.manager_api.activity.observed_changes import Observation, observe
from hatbox.manager_api.program_labels import program_label
from hatbox.store.base import CommitRecord

__all__ = ["ActivityEntry", "ActivityNames", "ObservedCommit", "ShownIdentity", "entries_of", "observed", "stores_in"]

ObservedCommit: TypeAlias = tuple[CommitRecord, Sequence[Observation]]
"""A commit, and what it did."""


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


class ActivityNames(msgspec.Struct, frozen=True):
    """The names of identities, extensions and engines."""

    identities: Mapping[str, ShownIdentity]
    """By cookieStoreId. Without those that were deleted for ever."""
    extensions: Mapping[str, str]
    """By data area."""
    engines: Mapping[tuple[str, int], str]
    """Those that run, by machine and process."""


class _Group(NamedTuple):
    commits: list[CommitRecord]
    found: list[Observation]


def observed(commits: Iterable[CommitRecord]) -> list[ObservedCommit]:
    """What commits did."""
    return [(commit, observe(commit.changes)) for commit in commits]


def stores_in(commits: Iterable[ObservedCommit]) -> list[str]:
    """The identities that entries of these commits name."""
    named = (store for _, found in commits for each in found for store in _stores_of(each))
    return [*dict.fromkeys(store for store in named if store and store != DEFAULT_COOKIE_STORE_ID)]


def entries_of(
    commits: Iterable[ObservedCommit], names: ActivityNames, cookie_store_id: str | None = None
) -> list[ActivityEntry]:
    """The entries of commits, the newest first: all, or those of an identity."""
    groups: dict[tuple[Any, ...], _Group] = {}
    for commit, found in commits:
        for each in found:
            shown = _shown(each, names)
            if shown is not None and cookie_store_id in (None, shown.store):
                author = commit.program, commit.process, commit.machine
                extension = shown.subject if shown.kind in ("granted", "revoked", "engine started") else ""
                key = (int(commit.time), *author, shown.store, shown.kind, extension)
                group = groups.setdefault(key, _Group([], []))
                group.commits.append(commit)
                group.found.append(shown)
    identities = {each: identity.name for each, identity in names.identities.items()}
    entries = [_entry(key, group, names, identities) for key, group in groups.items()]
    return sorted(entries, key=lambda each: -each.sequence)


def _entry(key: tuple[Any, ...], group: _Group, names: ActivityNames, identities: Mapping[str, str]) -> ActivityEntry:
    newest, oldest = group.commits[0], group.commits[-1]
    found = [*reversed(group.found)] if newest is not oldest else group.found
    store = found[0].store
    is_extension = found[0].kind in ("granted", "revoked")
    return ActivityEntry(
        id=blake2b(repr(key).encode("utf-8", "surrogatepass"), digest_size=9).hexdigest(),
        sequence=newest.sequence,
        first_sequence=oldest.sequence,
        time=int(newest.time * 1000),
        program=_program(newest, names),
        machine=newest.machine,
        text=text_of(found, names.extensions if is_extension else identities),
        cookie_store_id=store,
        identity=names.identities.get(store) if store else None,
    )


def _shown(each: Observation, names: ActivityNames) -> Observation | None:
    """An observation as it may be shown; None for one of an identity that was deleted for ever."""
    if each.store is None or each.store == DEFAULT_COOKIE_STORE_ID:
        return each
    is_known = each.store in names.identities
    if each.kind == "trash":
        return None if is_known else Observation("deleted")
    if each.kind == "removed" and not is_known:
        return Observation("deleted")
    return each if is_known else None


def _program(commit: CommitRecord, names: ActivityNames) -> str:
    """The name of the author: an engine that runs in its process, or the program."""
    engine = names.engines.get((commit.machine, commit.process))
    return engine or program_label(commit.program)


def _stores_of(each: Observation) -> Iterator[str | None]:
    return iter((each.store, each.place if each.kind == "tab moved" else None, *each.stores))
