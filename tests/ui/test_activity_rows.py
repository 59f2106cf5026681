"""The rows of the activity: by day, newest first, each entry once."""

from __future__ import annotations

from tests.extensions.runtime.lab import needs_deno
from tests.ui.static_modules import value_of

pytestmark = needs_deno


def test_an_entry_that_grew_replaces_itself_and_the_newest_is_first() -> None:
    body = """
    const old = [{id: "a", sequence: 1, text: "Tab opened"}, {id: "b", sequence: 2, text: "b"}];
    return merged(old, [{id: "a", sequence: 3, text: "2 tabs opened"}]).map(({id, text}) => `${id} ${text}`);
    """
    assert value_of("activity_rows.js", "merged", body) == ["a 2 tabs opened", "b b"]


def test_two_logs_are_one_list_as_far_back_as_both_are_known() -> None:
    body = """
    const log = (name, times, isComplete) => ({isComplete,
      entries: times.map((time) => ({id: `${name}${time}`, sequence: time, time}))});
    const logs = [log("a", [9, 7], false), log("b", [8, 3], true)];
    const read = [log("a", [9, 7, 2], true), logs[1]];
    const ids = (all) => together(all).map(({id}) => id);
    return [ids(logs), ids(read), logs.map((each) => isShortest(each, logs)), ids([log("a", [], true), logs[1]])];
    """
    first, whole, shortest, other = value_of("activity_rows.js", "together, isShortest", body)
    assert first == ["a9", "b8", "a7"]
    assert whole == ["a9", "b8", "a7", "b3", "a2"]
    assert shortest == [True, False]
    assert other == ["b8", "b3"]


def test_days_are_headed_and_their_ends_marked_and_a_filter_finds_names_and_programs() -> None:
    body = """
    const now = new Date(2026, 10, 15, 12).getTime();
    const entry = (id, time, name, program) => ({id, sequence: 1, time, text: "Created", program, machine: "laptop",
      identity: name && {name}});
    const entries = [entry("a", now, "Work", "sync.py"), entry("b", now - 1000, null, "hatbox ui"),
      entry("c", now - 86_400_000, "Travel", "sync.py")];
    const shown = (query) => rowsOf(entries, query, now).map((row) => row.day ?? [row.key, row.isFirst, row.isLast]);
    return [shown(""), shown("SYNC"), shown("work"), shown("nothing")];
    """
    everything, sync, work, nothing = value_of("activity_rows.js", "rowsOf", body)
    assert everything == ["Today", ["a", True, False], ["b", False, True], "Yesterday", ["c", True, True]]
    assert sync == ["Today", ["a", True, True], "Yesterday", ["c", True, True]]
    assert work == ["Today", ["a", True, True]]
    assert nothing == []


def test_a_day_that_comes_twice_because_the_clock_was_set_back_has_two_keys() -> None:
    body = """
    const now = new Date(2026, 10, 15, 12).getTime(), day = 86_400_000;
    const entries = [now, now - day, now].map((time, index) => ({id: `e${index}`, sequence: 9 - index, time}));
    const keys = (all) => rowsOf(all, "", now).map((row) => row.key);
    const later = [{id: "new", sequence: 10, time: now}, ...entries];
    return [keys(entries), new Set(keys(later)).size, keys(later)[0] === keys(entries)[0]];
    """
    keys, number, is_same = value_of("activity_rows.js", "rowsOf", body)
    assert len(set(keys)) == len(keys) == 6
    assert number == 7
    assert is_same  # a heading that is read stays when an entry is added
