"""The question before identities are removed: what they contain, and whether they can be restored."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hatbox.cli.terminal.confirm import confirm
from hatbox.cli.terminal.sizes import size_text
from hatbox.cli.terminal.terminal_text import visible
from hatbox.plurals import number_of

if TYPE_CHECKING:
    from hatbox.identities.removal_preview import RemovalPreview

__all__ = ["confirm_removal", "days_text"]


def confirm_removal(previews: Sequence[RemovalPreview], *, forever: bool) -> set[str]:
    """Return only after a yes: the cookieStoreIds of identities that the user agreed to remove for ever."""
    if len(previews) == 1:
        (only,) = previews
        what = "Remove it for ever?" if forever or only.destination != "trash" else "Remove it?"
        confirm(f"{_name(only)}: {_contents(only)}. {what} {_destination(only, forever=forever)} ")
    else:
        listed = "".join(_line(each, forever=forever) for each in previews)
        what = f"Remove these {len(previews)} identities for ever?" if forever else f"Remove these {len(previews)}?"
        confirm(f"{listed}{what} ")
    return {each.cookie_store_id for each in previews if each.destination == "too large"}


def days_text(days: int) -> str:
    """A number of days."""
    return number_of(days, "day")


def _line(preview: RemovalPreview, *, forever: bool) -> str:
    destination = "" if forever else f" {_destination(preview, forever=False)}"
    return f"  {_name(preview)} ({preview.cookie_store_id}): {_contents(preview)}.{destination}\n"


def _destination(preview: RemovalPreview, *, forever: bool) -> str:
    if forever:
        return "It cannot be restored."
    if preview.destination == "too large":
        sizes = f"{size_text(preview.size)} of {size_text(preview.trash_bytes)}"
        return f"It is too large for the trash ({sizes}), and cannot be restored."
    if preview.destination == "no trash":
        return "The trash is off, so it cannot be restored."
    if preview.destination == "temporary":
        return "It is temporary, and cannot be restored."
    return f"It stays in the trash for {days_text(preview.trash_days)}."


def _contents(preview: RemovalPreview) -> str:
    cookies = _count(preview.cookies, "cookie")
    if preview.cookies:
        cookies += f" on {_count(preview.sites, 'site')}"
    return f"{cookies}, {_count(preview.tabs, 'tab')}"


def _count(count: int, thing: str) -> str:
    return number_of(count, thing) if count else f"no {thing}s"


def _name(preview: RemovalPreview) -> str:
    return visible(preview.name, sys.stderr.encoding)
