"""Writes an archived identity into a profile, as transaction functions. The trash, `clone` and `restore` share them.

An identity is recognized by its UUID. It comes back with its id if that id belonged to this UUID here, or was never
given out here; else with a new one. An identity that exists is made equal to the archive, so a second run changes
nothing. If another identity has its name, it gets a number, as in "Work (2)": commands find identities by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from hatbox.archive.identity_archive import ArchivedIdentity
from hatbox.archive.restore_log import RestoreLog
from hatbox.archive.rule_restore import restore_rules
from hatbox.archive.tab_restore import restore_tabs
from hatbox.cookies.cookie import ChangeCause, JarChange
from hatbox.cookies.cookie_rows import add_rows, cookie_of, put_changes
from hatbox.errors import ArchiveDamaged, IdsExhausted
from hatbox.history.history_archive import replace_history
from hatbox.identity.ids import MAX_USER_CONTEXT_ID, cookie_store_id_of
from hatbox.identity.model import CREATED, HIDDEN, SETTINGS_CHANGED, SHOWN, UPDATED, record_change
from hatbox.javascript.text import is_blank
from hatbox.store.base import CookieRow, Transaction
from hatbox.tabs.site_data import record_saved

__all__ = [
    "RestoredIdentity",
    "copy_contents",
    "place_identity",
    "replace_cookies",
    "replace_settings",
    "replace_site_data",
    "restore_identity",
]

_MAX_ID_GAP: Final = 10_000_000  # a foreign id far above all others would leave none for new identities
_SOURCE: Final = "the archived identity"


class RestoredIdentity(msgspec.Struct, rename="camel", kw_only=True):
    """What restoring one identity has changed. `name` is empty for the default store."""

    name: str
    cookie_store_id: str
    uuid: str
    archived_id: str
    """The id that it has in the archive."""
    created: bool = False
    """Whether it did not exist."""
    appearance_changed: bool = False
    """Whether its name, icon, color or visibility was another one."""
    settings_changed: bool = False
    proxy: str = ""
    """The proxy that it gets, without user name and password; empty if that of its settings stays, or it has none."""
    cookies_added: int = 0
    cookies_changed: int = 0
    cookies_removed: int = 0
    sites_changed: int = 0
    """The origins whose data was added, changed or removed."""
    tabs_opened: int = 0
    tabs_closed: int = 0
    rules_added: int = 0
    history_changed: bool = False
    """Whether its visited pages differed."""

    @property
    def has_new_id(self) -> bool:
        """Whether its id was taken here, so that it has another one now."""
        return self.cookie_store_id != self.archived_id

    @property
    def changed(self) -> bool:
        """Whether anything was changed."""
        counts = (self.cookies_added, self.cookies_changed, self.cookies_removed, self.sites_changed)
        others = (self.created, self.appearance_changed, self.settings_changed, self.tabs_opened, self.tabs_closed)
        return any(counts) or any(others) or self.rules_added > 0 or self.history_changed


def restore_identity(
    transaction: Transaction,
    archived: ArchivedIdentity,
    *,
    keep_id: bool = False,
    is_new: bool = False,
    log: RestoreLog | None = None,
) -> RestoredIdentity:
    """Restore an identity with all its data. With `keep_id`, it was archived in this profile: its id belonged to it.

    With `is_new`, it is from the trash: the same, and the caller knows that no identity has its id or UUID.
    Emits what other changes emit: identities.created, and records about cookies and tabs.
    """
    own_log = RestoreLog(transaction) if log is None else log
    keep_id |= is_new
    is_taken: Callable[[str], bool] = lambda name: bool(transaction.identities.find(name))  # noqa: E731
    done = place_identity(transaction, archived, own_log, keep_id=keep_id, is_new=is_new, is_taken=is_taken)
    store = int(done.cookie_store_id.rpartition("-")[2])
    _replace_contents(transaction, store, archived, own_log, done)
    tabs = restore_tabs(transaction, store, archived.tabs, archived.windows, own_log)
    done.tabs_opened, done.tabs_closed = tabs.opened, tabs.closed
    done.history_changed = replace_history(transaction, store, archived.pages, archived.visits)
    done.rules_added = restore_rules(transaction, archived.rules, {archived.id: store}, same_profile=keep_id)
    if log is None:
        own_log.finish()
    return done


def copy_contents(transaction: Transaction, store: int, archived: ArchivedIdentity) -> None:
    """Give a new identity the settings, cookies and site data of an archived one."""
    log = RestoreLog(transaction)
    done = RestoredIdentity(name="", cookie_store_id="", uuid="", archived_id="")
    _replace_contents(transaction, store, archived, log, done)
    log.finish()


def _replace_contents(
    transaction: Transaction, store: int, archived: ArchivedIdentity, log: RestoreLog, done: RestoredIdentity
) -> None:
    done.settings_changed = replace_settings(transaction, store, archived.settings, log)
    replace_cookies(transaction, store, archived.cookies, log, done)
    replace_site_data(transaction, store, archived.site_data, done)


# ------------------------------------------------------------------------------------------------------------ identity


def place_identity(
    transaction: Transaction,
    archived: ArchivedIdentity,
    log: RestoreLog,
    *,
    keep_id: bool = False,
    is_new: bool = False,
    is_taken: Callable[[str], bool],
) -> RestoredIdentity:
    """Create the identity, or give the existing one the archived name, icon, color and visibility.

    `is_taken` says whether an identity has a name, among those that stay as they are.
    """
    _check(archived)
    existing = None if is_new else _existing(transaction, archived)
    before = None if existing is None else transaction.identities.get(existing)
    archived = msgspec.structs.replace(archived, name=_free_name(archived.name, before and before[1], is_taken))
    user_context_id = _created(transaction, archived, keep_id=keep_id) if existing is None else existing
    done = RestoredIdentity(
        name=archived.name,
        cookie_store_id=cookie_store_id_of(user_context_id),
        uuid=archived.uuid,
        archived_id=cookie_store_id_of(archived.id),
        created=existing is None,
    )
    row = (user_context_id, archived.name, archived.icon, archived.color, int(archived.hidden))
    if existing is None:
        if log.take():
            record_change(transaction, CREATED, row)
        return done
    if before is not None and before != row:
        transaction.identities.update(user_context_id, name=row[1], icon=row[2], color=row[3], hidden=row[4])
        done.appearance_changed = True
        if before[1:4] != row[1:4] and log.take():
            record_change(transaction, UPDATED, row)
        if before[4] != row[4] and log.take():
            record_change(transaction, HIDDEN if row[4] else SHOWN, row)
    return done


def _free_name(name: str, current: str | None, is_taken: Callable[[str], bool]) -> str:
    """The name, with a number if it is taken. One that the identity has already stays."""
    if current == name or not is_taken(name):
        return name
    if current is not None and re.fullmatch(re.escape(name) + r" \([0-9]+\)", current):
        return current  # of an earlier restore
    number = 2
    while is_taken(f"{name} ({number})"):
        number += 1
    return f"{name} ({number})"


def _existing(transaction: Transaction, archived: ArchivedIdentity) -> int | None:
    is_same = transaction.identities.uuid(archived.id) == archived.uuid  # without reading all rows
    return archived.id if is_same else transaction.identities.find_uuid(archived.uuid)


def _created(transaction: Transaction, archived: ArchivedIdentity, *, keep_id: bool) -> int:
    identities = transaction.identities
    looks = (archived.name, archived.icon, archived.color)
    if archived.position is not None and _may_have_id(transaction, archived, keep_id=keep_id):
        identities.restore(archived.id, archived.uuid, *looks, int(archived.hidden), position=archived.position)
        return archived.id
    others = identities.count()
    if _may_have_id(transaction, archived, keep_id=keep_id):
        user_context_id = archived.id
        identities.restore(user_context_id, archived.uuid, *looks, int(archived.hidden))
    else:
        user_context_id = identities.insert(*looks, uuid=archived.uuid)
        if user_context_id > MAX_USER_CONTEXT_ID:
            raise IdsExhausted
        if archived.hidden:
            identities.update(user_context_id, hidden=1)
    if archived.index < others:
        identities.move([user_context_id], archived.index)
    return user_context_id


def _may_have_id(transaction: Transaction, archived: ArchivedIdentity, *, keep_id: bool) -> bool:
    """Whether the archived id is free here: it was never given out, or only to this UUID."""
    if transaction.identities.get(archived.id) is not None:
        return False
    above = archived.id - transaction.identities.last_id()
    return keep_id or 0 < above <= _MAX_ID_GAP or _is_in_trash(transaction, archived)


def _is_in_trash(transaction: Transaction, archived: ArchivedIdentity) -> bool:
    """Whether the identity that had this id here was removed to the trash. Then the id belongs to its UUID."""
    found = transaction.trash.get(archived.id)
    return found is not None and found[0].uuid == archived.uuid


def _check(archived: ArchivedIdentity) -> None:
    """Refuse what no profile can contain: the archive may be made by another program."""
    if not 0 < archived.id <= MAX_USER_CONTEXT_ID:
        raise ArchiveDamaged(_SOURCE, f"invalid id: {archived.id}")
    if not archived.uuid or is_blank(archived.name):
        raise ArchiveDamaged(_SOURCE, f"an identity without {'a name' if archived.uuid else 'a UUID'}")


# ------------------------------------------------------------------------------------------------------------ contents


def replace_settings(transaction: Transaction, store: int, settings: dict[str, bytes], log: RestoreLog) -> bool:
    """Make the settings of an identity, or of the profile (0), equal to these. Returns whether they were changed."""
    before = dict(transaction.settings.load(store))
    if before == settings:
        return False
    for name in before.keys() - settings.keys():
        transaction.settings.delete(store, name)
    for name, value in settings.items():
        if before.get(name) != value:
            transaction.settings.put(store, name, value)
    if log.take():
        transaction.changes.append(SETTINGS_CHANGED, msgspec.json.encode(cookie_store_id_of(store)))
    return True


def replace_cookies(
    transaction: Transaction, store: int, rows: Sequence[CookieRow], log: RestoreLog, done: RestoredIdentity
) -> None:
    """Make the cookies of a store equal to these rows."""
    before = {row[:5]: row for row in transaction.cookies.load(store)}
    wanted = {row[:5]: row for row in rows}
    changes: list[JarChange] = []
    used: list[CookieRow] = []  # only their last access differs
    try:
        if not before:  # as in a new identity: without an object for each cookie
            add_rows(transaction, store, list(wanted.values()), record=log.take(len(wanted)))
            done.cookies_added += len(wanted)
            return
        for key, row in before.items():
            if key not in wanted:
                done.cookies_removed += 1
                changes.append(JarChange(cookie_of(row), True, ChangeCause.EXPLICIT))
        for key, row in wanted.items():
            old = before.get(key)
            if old == row:
                continue
            if old is not None and old[:-1] == row[:-1]:
                used.append(row)
                continue
            done.cookies_added += old is None
            done.cookies_changed += old is not None
            if old is not None:
                changes.append(JarChange(cookie_of(old), True, ChangeCause.OVERWRITE))
            changes.append(JarChange(cookie_of(row), False, ChangeCause.EXPLICIT))
    except KeyError as error:
        raise ArchiveDamaged(_SOURCE, f"a cookie with an unknown SameSite value: {error}") from error
    transaction.cookies.put(store, used)
    if log.take(len(changes)):
        put_changes(transaction, store, changes)
    else:
        transaction.cookies.delete(store, before.keys() - wanted.keys())
        transaction.cookies.put(store, [row for key, row in wanted.items() if before.get(key) != row])


def replace_site_data(
    transaction: Transaction, store: int, entries: Iterable[tuple[str, bytes]], done: RestoredIdentity
) -> None:
    """Make the site data of a store equal to these entries, of which one at a time is in memory."""
    surplus = set(transaction.site_data.origins(store))
    for origin, data in entries:
        known = origin in surplus
        surplus.discard(origin)
        if not known or transaction.site_data.get(store, origin) != data:
            transaction.site_data.put(store, origin, data)
            done.sites_changed += 1
    for origin in sorted(surplus):
        transaction.site_data.delete(store, origin)
        done.sites_changed += 1
    if done.sites_changed:
        record_saved(transaction, store)
