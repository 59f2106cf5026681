"""The rules for changing identities, as transaction functions. Scripts and Python programs share them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hatbox.cookies.cookie_rows import delete_cookies
from hatbox.errors import DuplicateIdentity, IdsExhausted, InvalidName, InvalidPosition
from hatbox.identities import palette
from hatbox.identities.ids import container_user_context_id
from hatbox.identities.model import (
    CREATED,
    MOVED,
    REMOVED,
    UPDATED,
    ContextualIdentity,
    record_change,
    row_of,
    set_hidden,
)
from hatbox.javascript.text import is_blank, well_formed
from hatbox.store.base import IdentityRow, Transaction
from hatbox.tabs.visibility import close_identity_tabs, hide_identity_tabs, show_identity_tabs

__all__ = ["check_position", "create", "hide", "move", "remove", "show", "update"]

_MAX_USER_CONTEXT_ID: Final = 2**32 - 2  # a 32-bit integer; Firefox reserves 2**32 - 1


def create(transaction: Transaction, name: str, color: str, icon: str) -> ContextualIdentity:
    """Create an identity, at the end of the list."""
    icon, color = palette.accepted_icon(icon), palette.accepted_color(color)
    name = _accepted_name(name)
    user_context_id = transaction.identities.insert(name, icon, color)
    if user_context_id > _MAX_USER_CONTEXT_ID:
        raise IdsExhausted
    return record_change(transaction, CREATED, (user_context_id, name, icon, color, 0))


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


def move(transaction: Transaction, cookie_store_ids: Sequence[str], position: int) -> None:
    """Move identities, in their old order, to `position` in the list of the others; -1 is the end."""
    if not cookie_store_ids:
        return
    last = check_position(transaction, len(cookie_store_ids), position)
    rows: dict[int, IdentityRow] = {}
    for cookie_store_id in cookie_store_ids:
        row = row_of(transaction, cookie_store_id)
        if row[0] in rows:
            raise DuplicateIdentity(cookie_store_id)
        rows[row[0]] = row
    transaction.identities.move(list(rows), last if position == -1 else position)
    for row in rows.values():
        record_change(transaction, MOVED, row)


def check_position(transaction: Transaction, count: int, position: int) -> int:
    """The last position to which `count` identities can move. Raises InvalidPosition for a position beyond it."""
    last = transaction.identities.count() - count
    if not -1 <= position <= last:
        raise InvalidPosition(position)
    return last


def remove(transaction: Transaction, cookie_store_id: str) -> ContextualIdentity:
    """Remove an identity with its tabs, cookies, site data and rules. Returns its last state."""
    from hatbox.identities.site_rules.rule_rows import remove_rules_of  # imported late: most commands need no rules

    row = row_of(transaction, cookie_store_id)
    close_identity_tabs(transaction, row[0])
    delete_cookies(transaction, row[0])
    transaction.site_data.clear(row[0])
    transaction.settings.clear(row[0])
    remove_rules_of(transaction, cookie_store_id)
    transaction.identities.delete(row[0])
    return record_change(transaction, REMOVED, row)


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
