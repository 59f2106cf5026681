"""The tree of bookmarks: its root folders, which always exist, and which rows have to change to be a tree. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hatbox.store.record_tables import BookmarkRow

__all__ = ["ROOT", "ROOTS", "UNFILED", "as_tree", "root_rows"]

ROOT: Final = "root________"
UNFILED: Final = "unfiled_____"
# As in Firefox: their titles, which a search finds, and their positions. Position 2 is that of its tags.
_ROOTS: Final = {
    ROOT: ("", 0),
    "menu________": ("menu", 0),
    "toolbar_____": ("toolbar", 1),
    UNFILED: ("unfiled", 3),
    "mobile______": ("mobile", 4),
}
ROOTS: Final = frozenset(_ROOTS)
"""The ids of the root folders, as in Firefox."""


def root_rows(now: float) -> list[BookmarkRow]:
    """The rows of the root folders."""
    return [
        BookmarkRow(root, "" if root == ROOT else ROOT, position, "folder", "", title, now, now)
        for root, (title, position) in _ROOTS.items()
    ]


def as_tree(rows: Sequence[BookmarkRow], now: float) -> list[BookmarkRow]:
    """The rows that have to be written so that every row is below the root, and positions count from 0.

    A row whose folder is missing, or that is in a cycle, moves to "Other Bookmarks". Nothing is deleted.
    """
    by_id = {row.id: row for row in (*root_rows(now), *rows)}
    reached = {ROOT}
    for start in list(by_id):
        path: list[str] = []
        at = start
        while at not in reached and at not in path:
            path.append(at)
            parent = _parent(by_id, at, path)
            by_id[at] = by_id[at]._replace(parent=parent)
            at = parent
        reached.update(path)
    by_id[ROOT] = by_id[ROOT]._replace(parent="")
    folders: dict[str, list[BookmarkRow]] = {}
    for row in by_id.values():
        folders.setdefault(row.parent, []).append(row)
    known = set(rows)
    ordered = (
        row._replace(position=_ROOTS[row.id][1] if row.id in ROOTS else place)
        for children in folders.values()
        for place, row in enumerate(sorted(children, key=lambda row: (row.position, row.id)))
    )
    return [row for row in ordered if row not in known]


def _parent(by_id: dict[str, BookmarkRow], bookmark: str, path: Sequence[str]) -> str:
    """The folder of a row, if that is a folder which is not below the row itself."""
    if bookmark in ROOTS:
        return ROOT
    parent = by_id[bookmark].parent
    folder = by_id.get(parent)
    is_valid = folder is not None and folder.kind == "folder" and parent != ROOT and parent not in path
    return parent if is_valid else UNFILED
