"""Undo takes the change that was started last: while it waits, when it fails, and when its undo fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from hatbox.errors import (
    DiskFull,
    ExtensionNotFound,
    IdentityNotFound,
    InvalidIdentity,
    InvalidTab,
    NotInTrash,
    ProfileUnavailable,
    SiteRuleNotFound,
)
from hatbox.manager_api.undo_records import UndoExpired
from tests.extensions.runtime.lab import needs_deno
from tests.ui.static_modules import value_of, value_with

pytestmark = needs_deno

STUBS: Final = {
    "attempt.js": "export const resultOf = (call) => call;",
    "dom.js": "export const said = []; export const say = (text) => said.push(text);",
    "toasts.js": """
        export const shown = [];
        const show = (text, options = {}) => {
          const entry = {text, ...options, isOpen: true};
          shown.push(entry);
          return (entry.close = () => { entry.isOpen = false; options.closed?.(); });
        };
        export const toast = (text, undo, options) => show(text, {...options, undo});
        export const undoFailed = show;
    """,
}
START: Final = """
const [{said}, {shown}] = [await import(new URL("dom.js", MODULE)), await import(new URL("toasts.js", MODULE))];
const log = [];
const undone = (name) => async () => { log.push(`${name} undone`); };
changed("Renamed.", undone("rename"));
const sent = Promise.withResolvers();
const change = (options = {}) => undoable(async (done) => {
  await sent.promise;
  done("Hidden.", undone("hide"), options);
}).catch(() => {});
"""


def run(tmp_path: Path, body: str) -> Any:
    folder = tmp_path / "static"
    start = START.replace("MODULE", repr((folder / "undo.js").as_uri()))
    return value_with(folder, STUBS, "undo.js", "changed, forgetChanges, undoLast, undoable", start + body)


def test_ctrl_z_while_a_change_waits_undoes_that_one_when_it_is_done(tmp_path: Path) -> None:
    body = """
    const waiting = change();
    const first = undoLast();
    const before = [...log];
    sent.resolve();
    await Promise.all([waiting, first]);
    const after = [...log];
    await undoLast();
    return [before, after, log, shown.map(({text}) => text)];
    """
    before, after, log, shown = run(tmp_path, body)
    assert (before, after) == ([], ["hide undone"])
    assert log == ["hide undone", "rename undone"]
    assert shown == ["Renamed."]  # a message about what is undone already would offer to undo it


def test_ctrl_z_for_a_change_that_then_fails_undoes_nothing_else(tmp_path: Path) -> None:
    body = """
    const waiting = change();
    const first = undoLast();
    sent.reject(new Error("The identity is gone."));
    await Promise.all([waiting, first]);
    const before = [...log];
    await undoLast();
    return [before, log, said];
    """
    assert run(tmp_path, body) == [[], ["rename undone"], ["Undone"]]


def test_pressing_ctrl_z_twice_undoes_the_waiting_change_and_then_the_one_before(tmp_path: Path) -> None:
    body = """
    change();
    const both = [undoLast(), undoLast()];
    await null;
    const before = [...log];
    sent.resolve();
    await Promise.all(both);
    return [before, log];
    """
    assert run(tmp_path, body) == [[], ["hide undone", "rename undone"]]


def test_a_wait_is_explained_if_it_is_long(tmp_path: Path) -> None:
    body = """
    const timers = new Map();
    globalThis.setTimeout = (fn, ms) => (timers.set(ms, fn), ms);
    globalThis.clearTimeout = (ms) => timers.delete(ms);
    const waiting = change();
    const undoing = undoLast();
    timers.get(300)();
    sent.resolve();
    await Promise.all([waiting, undoing]);
    return [shown.at(-1).text, shown.at(-1).isOpen, timers.size];
    """
    assert run(tmp_path, body) == ["This change still waits. It is undone as soon as it is done.", False, 0]


def test_an_undo_that_failed_can_be_tried_again(tmp_path: Path) -> None:
    body = """
    let isLocked = true;
    changed("Deleted.", async () => {
      if (isLocked) throw new Error("The profile is locked.");
      log.push("deletion undone");
    });
    await undoLast();
    const [first] = shown.slice(-1);
    await undoLast(); // the same again, and nothing older
    const [second] = shown.slice(-1);
    isLocked = false;
    await second.again();
    await undoLast();
    return [first.text, first.isOpen, log];
    """
    text, is_open, log = run(tmp_path, body)
    assert text == "This could not be undone. The profile is locked."
    assert not is_open
    assert log == ["deletion undone", "rename undone"]


@pytest.mark.parametrize("how", ["is dismissed", "is impossible"])
def test_ctrl_z_goes_on_with_the_change_before_one_whose_undo_failed(tmp_path: Path, how: str) -> None:
    body = """
    const error = Object.assign(new Error("It is gone."), {kind: KIND});
    changed("Deleted.", async () => { throw error; });
    await undoLast();
    const [failed] = shown.slice(-1);
    failed.dismissed?.();
    await undoLast();
    return [Boolean(failed.again), log];
    """.replace("KIND", json.dumps("DiskFull" if how == "is dismissed" else "NotInTrash"))
    assert run(tmp_path, body) == [how == "is dismissed", ["rename undone"]]


def test_what_can_be_undone_only_in_its_message_ends_with_the_message_of_the_failure(tmp_path: Path) -> None:
    body = """
    const options = {whileToast: true, onExpire: () => log.push("forgotten")};
    changed("Cookies deleted.", async () => { throw new Error("The disk is full."); }, options);
    const [message] = shown.slice(-1);
    const undoing = message.undo();
    message.close();
    await undoing;
    const before = [...log];
    const [failed] = shown.slice(-1);
    failed.close();
    await undoLast();
    return [before, failed.isOnlyUndo, log];
    """
    assert run(tmp_path, body) == [[], True, ["forgotten", "rename undone"]]


def test_an_undo_is_offered_again_unless_what_it_needs_is_gone() -> None:
    gone = (InvalidIdentity, IdentityNotFound, NotInTrash, SiteRuleNotFound, InvalidTab, ExtensionNotFound, UndoExpired)
    names = [each.__name__ for each in (*gone, DiskFull, ProfileUnavailable)]
    body = f"return {json.dumps(names)}.map((kind) => canTryAgain({{kind}}));"
    assert value_of("undo_words.js", "canTryAgain", body) == [False] * len(gone) + [True, True]
    body = 'return [impossible("No."), new Error("No.")].map(canTryAgain);'
    assert value_of("undo_words.js", "canTryAgain, impossible", body) == [False, True]


def test_the_undo_of_an_import_says_what_stays() -> None:
    body = """return [[0, 0, 0], [1, 0, 0], [2, 1, 1]].map(
        ([identities, cookies, origins]) => importUndoText({identities, cookies, origins}));"""
    assert value_of("undo_words.js", "importUndoText", body) == [
        "",
        "Not all was undone. These stay: 1 new identity with other cookies or tabs since.",
        "Not all was undone. These stay: 2 new identities with other cookies or tabs since; 1 cookie set again since; "
        "data of 1 site, changed since or open in a browser.",
    ]
