"""Bookmarks are one tree: whatever is called, every row is below the root, once, and indexes have no gaps."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hatbox
from hatbox.bookmarks import bookmark_changes
from hatbox.bookmarks.bookmark_changes import create, move, remove, update
from hatbox.bookmarks.bookmark_queries import BookmarkNode, read_all, search, tree
from hatbox.errors import ApiError
from hatbox.store.base import Transaction
from hatbox.store.record_tables import BookmarkRow
from hatbox.store.tables.bookmark_tree import ROOT, ROOTS, UNFILED, as_tree, root_rows
from tests.store.in_loop import in_loop

SITE = "https://site.example/"


def check_tree(rows: list[BookmarkRow]) -> None:
    """Raise unless the rows are a tree with indexes from 0."""
    by_id = {row.id: row for row in rows}
    assert not rows or by_id.keys() >= ROOTS
    for row in rows:
        seen = set()
        at = row
        while at.id != ROOT:
            assert at.id not in seen
            seen.add(at.id)
            at = by_id[at.parent]
            assert at.kind == "folder"
    for parent in {row.parent for row in rows if row.id not in ROOTS}:
        children = sorted(row.position for row in rows if row.parent == parent)
        assert children == list(range(len(children)))


def count(node: BookmarkNode) -> int:
    return 1 + sum(map(count, node[1]))


@in_loop
async def test_a_call_that_is_refused_changes_nothing(address: str) -> None:
    async with hatbox.open(address) as profile:
        folder = await profile.store.write(lambda each: create(each, title="F"))
        inner = await profile.store.write(lambda each: create(each, title="I", parent=folder.id))
        mark = await profile.store.write(lambda each: create(each, title="B", url=SITE))
        before = await profile.store.read(lambda each: each.bookmarks.find())
        for wrong in (
            lambda each: create(each, title="x", url="no url"),
            lambda each: create(each, title="x", parent=mark.id),
            lambda each: create(each, title="x", parent="nosuchfolder"),
            lambda each: move(each, folder.id, inner.id, None),
            lambda each: move(each, folder.id, mark.id, None),
            lambda each: move(each, UNFILED, "menu________", None),
            lambda each: update(each, folder.id, None, SITE),
            lambda each: remove(each, folder.id, tree=False),
            lambda each: remove(each, UNFILED, tree=True),
        ):
            with pytest.raises(ApiError):
                await profile.store.write(wrong)
        assert await profile.store.read(lambda each: each.bookmarks.find()) == before
        check_tree(before)


@in_loop
async def test_bookmarks_are_bounded(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bookmark_changes, "_MAX_DEPTH", 3)
    async with hatbox.open(address) as profile:
        one = await profile.store.write(lambda each: create(each, title="1"))
        two = await profile.store.write(lambda each: create(each, title="2", parent=one.id))
        with pytest.raises(ApiError, match="at most 3 folders"):
            await profile.store.write(
                lambda each: create(each, title="4", parent=create(each, title="3", parent=two.id).id)
            )
        deep = await profile.store.write(lambda each: create(each, title="6", parent=create(each, title="5").id))
        with pytest.raises(ApiError, match="at most 3 folders"):
            await profile.store.write(lambda each: move(each, deep.parent, two.id, None))
        monkeypatch.setattr(bookmark_changes, "_MAX_BOOKMARKS", 9)
        monkeypatch.setattr(bookmark_changes, "_COUNT_EVERY", 1)
        with pytest.raises(ApiError, match="9 bookmarks, which is the limit"):
            await profile.store.write(lambda each: create(each, title="5"))
        assert await profile.store.read(lambda each: each.bookmarks.count()) == 9


@in_loop
async def test_words_find_titles_and_addresses_whatever_their_case_and_accents(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.store.write(lambda each: create(each, title="Crème Brûlée", url=SITE + "%C3%BC"))
        for text, number in (("creme", 1), ("BRULEE site", 1), ("ü", 1), ("creme nothing", 0)):
            found = search(await read_all(profile.store), text=text)
            assert len([row for row in found if row.id not in ROOTS]) == number, text


STEPS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 8), st.integers(0, 8), st.integers(0, 5)), max_size=25)


@pytest.mark.slow
@given(STEPS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_sequence_of_changes_leaves_a_tree(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int, int, int]]
) -> None:
    def run(transaction: Transaction) -> None:
        for kind, one, two, index in steps:
            ids = [row.id for row in transaction.bookmarks.find()] or [UNFILED]
            first, second = ids[one % len(ids)], ids[two % len(ids)]
            try:
                if kind == 0:
                    create(transaction, title="F", parent=first, index=index)
                elif kind == 1:
                    create(transaction, title="B", url=SITE, parent=first)
                elif kind == 2:
                    move(transaction, first, second, index)
                elif kind == 3:
                    move(transaction, first, None, None)
                else:
                    remove(transaction, first, tree=one % 2 == 0)
            except ApiError:
                pass
            check_tree(transaction.bookmarks.find())
        if rows := transaction.bookmarks.find():
            assert count(tree(rows)) == len(rows)

    @in_loop
    async def main(folder: Path) -> None:
        async with hatbox.open(folder / "profile.db") as profile:
            await profile.store.write(run)

    main(tmp_path_factory.mktemp("bookmarks"))


PARENTS = st.lists(st.tuples(st.integers(0, 6), st.booleans()), max_size=7)


@given(PARENTS)
def test_any_rows_become_a_tree_and_none_is_lost(parents: list[tuple[int, bool]]) -> None:
    rows = [
        BookmarkRow(f"id{number}", f"id{parent}", 0, "folder" if is_folder else "bookmark", "", "", 1.0, 1.0)
        for number, (parent, is_folder) in enumerate(parents)
    ]
    changed = {row.id: row for row in as_tree(rows, 2.0)}
    result = {row.id: row for row in (*rows, *changed.values())}
    check_tree(list(result.values()))
    assert set(result) == {row.id for row in rows} | ROOTS
    good = root_rows(1.0)
    assert as_tree(good, 2.0) == []
