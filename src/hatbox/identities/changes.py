"""The rules for changing identities, as transaction functions. Scripts and Python programs share them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from hatbox.errors import AmbiguousIdentity, DuplicateIdentity, IdsExhausted, InvalidName, InvalidPosition
from hatbox.identity import palette
from hatbox.identity.ids import MAX_USER_CONTEXT_ID, container_user_context_id, cookie_store_id_of
from hatbox.identity.model import (
    CREATED,
    MOVED,
    UPDATED,
    ContextualIdentity,
    get,
    identity_of,
    record_change,
    row_of,
    set_hidden,
)
from hatbox.javascript.text import is_blank, well_formed
from hatbox.store.base import CookieRow, IdentityRow, Transaction
from hatbox.tabs.identity_removal import delete_identity
from hatbox.tabs.visibility import close_identity_tabs, hide_identity_tabs, show_identity_tabs

__all__ = ["clone", "create", "hide", "move", "read_maker", "remove", "show", "update", "write_maker"]

_MAKER: Final = "maker"  # the name of the setting


def create(transaction: Transaction, name: str, color: str, icon: str, *, exist_ok: bool = False) -> ContextualIdentity:
    """Create an identity, at the end of the list. With `exist_ok`, one that has the name is returned as it is."""
    icon, color = palette.accepted_icon(icon), palette.accepted_color(color)
    name = _accepted_name(name)
    if exist_ok and (rows := transaction.identities.find(name)):
        if len(rows) > 1:
            raise AmbiguousIdentity(name, [cookie_store_id_of(row[0]) for row in rows])
        return get(transaction, cookie_store_id_of(rows[0][0]))
    user_context_id = transaction.identities.insert(name, icon, color)
    if user_context_id > MAX_USER_CONTEXT_ID:
        raise IdsExhausted
    return record_change(transaction, CREATED, (user_context_id, name, icon, color, 0))


def write_maker(transaction: Transaction, cookie_store_id: str, extension: str) -> None:
    """Record which extension has created an identity."""
    user_context_id = container_user_context_id(cookie_store_id) or 0
    transaction.settings.put(user_context_id, _MAKER, msgspec.json.encode(extension))


def read_maker(transaction: Transaction, user_context_id: int) -> str | None:
    """The extension that has created an identity; None if none did."""
    value = transaction.settings.get(user_context_id, _MAKER)
    return None if value is None else msgspec.json.decode(value, type=str)


def update(
    transaction: Transaction,
    cookie_store_id: str,
    name: str | None = None,
    color: str | None = None,
    icon: str | None = None,
) -> ContextualIdentity:
    """Change name, color or icon. Stored values that this version does not know stay unchanged."""
    user_context_id, old_name, old_icon, old_color, hidden = row_of(transaction, cookie_store_id)
    # As in Firefox, color is checked before icon here, and icon before color in create().
    color = old_color if color is None else palette.accepted_color(color)
    icon = old_icon if icon is None else palette.accepted_icon(icon)
    name = old_name if name is None else _accepted_name(name)
    # Write changed columns only: writing a name, even the same, also writes its index, a third of the cost.
    changed = {"name": name} if name != old_name else {}
    if color != old_color:
        changed["color"] = color
    if icon != old_icon:
        changed["icon"] = icon
    if changed:
        transaction.identities.update(user_context_id, **changed)
    return record_change(transaction, UPDATED, (user_context_id, name, icon, color, hidden))


def move(
    transaction: Transaction,
    identities: Sequence[Any],
    position: int,
    id_of: Callable[[Transaction, Any], str] = lambda _, cookie_store_id: cookie_store_id,
) -> None:
    """Move identities, in their old order, to `position` in the list of the others; -1 is the end.

    The first error counts: that of the position, then that of each identity in its turn.
    """
    if not identities:
        return
    last = transaction.identities.count() - len(identities)
    if not -1 <= position <= last:
        raise InvalidPosition(position)
    rows: dict[int, IdentityRow] = {}
    for identity in identities:
        cookie_store_id = id_of(transaction, identity)
        row = row_of(transaction, cookie_store_id)
        if row[0] in rows:
            raise DuplicateIdentity(cookie_store_id)
        rows[row[0]] = row
    transaction.identities.move(list(rows), last if position == -1 else position)
    for row in rows.values():
        record_change(transaction, MOVED, row)


def remove(
    transaction: Transaction,
    cookie_store_id: str,
    cookies: Sequence[CookieRow] | None = None,
    *,
    to_trash: bool = False,
) -> ContextualIdentity:
    """Remove an identity with its tabs, cookies and site data, for ever. Returns its last state.

    `cookies` are its cookies, if they were read already. `to_trash`: an archive of it is in the trash.
    """
    row = row_of(transaction, cookie_store_id)
    close_identity_tabs(transaction, row[0])
    if transaction.identities.get(row[0]) is None:  # a temporary identity is deleted with its last tab
        return identity_of(row)
    return delete_identity(transaction, row, cookies, to_trash=to_trash)


def clone(transaction: Transaction, cookie_store_id: str, name: str | None = None) -> ContextualIdentity:
    """Copy an identity, right after the original. The copy has its cookies, site data and settings, and no tabs.

    Default of `name`: that of the original with a number.
    """
    from hatbox.archive.identity_copy import copy_identity  # few programs clone

    row = row_of(transaction, cookie_store_id)
    chosen = _name_of_clone(transaction, row[1]) if name is None else _accepted_name(name)
    user_context_id = copy_identity(transaction, row[0], chosen)
    if user_context_id > MAX_USER_CONTEXT_ID:
        raise IdsExhausted
    return get(transaction, cookie_store_id_of(user_context_id))


def _name_of_clone(transaction: Transaction, name: str) -> str:
    base = re.sub(r" [1-9][0-9]{0,8}$", "", name)
    number = 2
    while transaction.identities.find(f"{base} {number}"):
        number += 1
    return f"{base} {number}"


def hide(transaction: Transaction, cookie_store_id: str) -> None:
    """Hide an identity and its tabs."""
    _load(transaction, cookie_store_id)
    if set_hidden(transaction, cookie_store_id, hidden=True):
        hide_identity_tabs(transaction, cookie_store_id)


def show(transaction: Transaction, cookie_store_id: str) -> None:
    """Show an identity and its tabs."""
    _load(transaction, cookie_store_id)
    if set_hidden(transaction, cookie_store_id, hidden=False):
        show_identity_tabs(transaction, cookie_store_id)


def _load(transaction: Transaction, cookie_store_id: str) -> None:
    """Announce what hiding, showing and removing an identity read."""
    user_context_id = container_user_context_id(cookie_store_id)
    if user_context_id:
        transaction.load(identities=[user_context_id], stores=[user_context_id], last_focused=True)


def _accepted_name(name: str) -> str:
    if is_blank(name):
        raise InvalidName
    return well_formed(name)
