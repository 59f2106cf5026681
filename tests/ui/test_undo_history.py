"""The last 50 changes can be undone, each once."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.manager_api import sites
from tests.ui.static_modules import value_of, value_with

pytestmark = pytest.mark.deno


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


def test_ctrl_z_passes_over_a_removal_whose_identity_was_deleted_from_the_trash() -> None:
    body = """const history = new UndoHistory();
        history.add("rename");
        history.add("remove 3", "3");
        history.add("remove 4", "4");
        const gone = history.forget((subject) => subject === "4").map((entry) => entry.undo);
        return [gone, history.takeLast().undo, history.takeLast().undo];"""
    assert value_of("undo_history.js", "UndoHistory", body) == [["remove 4"], "remove 3", "rename"]


def test_a_message_with_the_only_undo_ends_before_the_server_discards_what_it_needs(tmp_path: Path) -> None:
    dom = """
    const element = () => ({
      heard: {}, append() {}, remove() {}, showPopover() {}, hidePopover() {},
      addEventListener(name, fn) { this.heard[name] = fn; }, contains: () => false, matches: () => true,
    });
    export const made = [];
    export const h = () => (made.push(element()), made.at(-1));
    export {h as btn, h as icon, h as iconButton};
    export const say = () => {};
    """
    body = """
    const {made} = await import(DOM);
    globalThis.document = {body: {append() {}}, activeElement: null};
    const timers = new Map();
    globalThis.setTimeout = (fn, ms) => (timers.set(ms, fn), ms);
    globalThis.clearTimeout = (id) => timers.delete(id);
    let isClosed = false;
    toast("Deleted 3 cookies.", () => {}, {isOnlyUndo: true, closed: () => (isClosed = true)});
    made.at(-1).heard.mouseenter(); // hovered: it stays
    const [[ms, fire]] = timers;
    fire();
    return [timers.size, ms, isClosed];
    """.replace("DOM", repr((tmp_path / "static" / "dom.js").as_uri()))
    left, milliseconds, is_closed = value_with(tmp_path / "static", {"dom.js": dom}, "toasts.js", "toast", body)
    assert is_closed
    assert left == 0
    assert milliseconds < sites._UNDO_SECONDS * 1000
