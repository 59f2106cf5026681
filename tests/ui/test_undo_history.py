"""The last 50 changes can be undone, each once."""

from __future__ import annotations

from tests.ui.static_modules import value_of


def test_the_last_fifty_changes_can_be_undone_the_newest_first() -> None:
    body = """const history = new UndoHistory();
        for (let i = 0; i < 60; i++) history.add(i);
        const undone = [];
        for (let entry; (entry = history.takeLast()); ) undone.push(entry.undo);
        return [undone.length, undone[0], undone.at(-1)];"""
    assert value_of("undo_history.js", "UndoHistory", body) == [50, 59, 10]


def test_a_change_is_undone_once() -> None:
    body = """const history = new UndoHistory(), entry = history.add("rename");
        return [history.take(entry), history.take(entry), history.takeLast() ?? null];"""
    assert value_of("undo_history.js", "UndoHistory", body) == [True, False, None]
