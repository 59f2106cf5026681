"""The entries of the activity: none is lost between a read and its answer, and a filter reads to the end."""

from __future__ import annotations

from typing import Any

from tests.extensions.runtime.lab import needs_deno
from tests.ui.static_modules import value_of

pytestmark = needs_deno

SERVER = """
const entry = (sequence) => ({id: String(sequence), sequence, firstSequence: sequence});
const all = Array.from({length: 450}, (_, index) => entry(450 - index));
const calls = [];
let reply = (found) => found; // what happens before an answer arrives
const list = async (options) => {
  calls.push(options);
  await null; // an answer takes time
  const {before = Infinity, limit} = options;
  return reply(all.filter((each) => each.sequence < before).slice(0, limit));
};
let wanted = "none";
let changes = 0;
const log = new ActivityLog(list, {onChange: () => (changes += 1), wanted: () => wanted});
"""


def in_log(body: str) -> Any:
    return value_of("activity_log.js", "ActivityLog", SERVER + body)


def test_a_filter_that_finds_little_reads_on_to_the_oldest_entry() -> None:
    body = """
    await log.load();
    const first = [log.entries.length, log.isComplete];
    wanted = "many"; // the list is shorter than the screen
    await log.catchUp();
    return [...first, log.entries.length, log.isComplete, calls.map(({limit}) => limit)];
    """
    assert in_log(body) == [200, False, 450, True, [200, 1000, 1000]]


def test_an_entry_that_arrives_during_a_read_is_not_lost() -> None:
    body = """
    reply = (found) => {
      log.add({entries: [entry(451), {...entry(450), text: "grew", sequence: 452}], all: false});
      return found;
    };
    await log.load();
    return [log.entries.length, log.entries[0].text, log.entries[1].id];
    """
    assert in_log(body) == [201, "grew", "451"]


def test_entries_that_were_deleted_during_a_read_do_not_come_back() -> None:
    body = """
    reply = (found) => {
      reply = (later) => later;
      all.shift();
      log.add({entries: [], all: true});
      return found;
    };
    await log.load();
    return [log.entries[0].id, calls.length];
    """
    assert in_log(body) == ["449", 2]


def test_entries_that_the_server_has_deleted_meanwhile_go_from_a_page_that_was_open_before() -> None:
    body = """
    const now = 10_000_000, minute = 60_000;
    all.splice(0, all.length, ...[5, 9, 12, 20].map((age, index) => ({...entry(4 - index), time: now - age * minute})));
    await log.load();
    all.splice(3); // the oldest, without an event
    all[2] = {...all[2], text: "still there"};
    reply = (found) => {
      log.add({entries: [{...entry(5), time: now}], all: false});
      return found;
    };
    await log.renewOld(now);
    const renewed = log.entries.map(({id, text}) => text ?? id);
    reply = (found) => found;
    log.add({entries: [{...entry(6), time: now}], all: false});
    await log.renewOld(now - 60 * minute); // none is old
    return [renewed, calls, log.entries.length, log.arrived.length];
    """
    reads = [{"limit": 200}, {"before": 3, "limit": 2}]
    assert in_log(body) == [["5", "4", "3", "still there"], reads, 5, 0]


def test_an_error_stays_until_the_next_read_works() -> None:
    body = """
    reply = () => { throw new Error("The profile is locked."); };
    await log.load();
    const failed = [log.failure, log.isLoaded, calls.length];
    reply = (found) => found;
    await log.catchUp();
    return [...failed, log.failure, log.entries.length];
    """
    assert in_log(body) == ["The profile is locked.", False, 1, None, 200]
