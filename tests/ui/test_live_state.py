"""What the page knows of the profile while answers are late, calls fail or changes wait. Without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest

from tests.extensions.runtime.lab import needs_deno
from tests.ui.static_modules import value_with

pytestmark = needs_deno

API: Final = """
export const server = {list: () => [], details: () => ({})};
export const events = {};
const event = (name) => ({addListener: (fn) => (events[name] = fn), removeListener() {}});
export const browser = {hatbox: {identities: {
  list: async () => server.list(),
  order: async () => server.list().map((each) => each.cookieStoreId),
  summaries: async (ids) => server.list().filter((each) => ids.includes(each.cookieStoreId)),
  details: async () => server.details(),
  onChanged: event("identities"),
}}};
export const connection = {online: true, onResync: () => () => {}, onStatus: () => () => {}};
"""
START: Final = """
const {server, events, connection} = await import(new URL("api.js", MODULE));
const named = (ids) => [...ids].map((cookieStoreId) => ({cookieStoreId, name: cookieStoreId}));
const shown = () => identities.all().map((each) => each.cookieStoreId).join("");
const settled = () => new Promise((resolve) => setTimeout(resolve));
"""


def run(tmp_path: Path, module: str, names: str, body: str, stubs: dict[str, str] | None = None) -> Any:
    folder = tmp_path / "static"
    start = START.replace("MODULE", repr((folder / module).as_uri())) if stubs is None else ""
    return value_with(folder, stubs or {"api.js": API}, module, names, start + body)


def test_a_dropped_card_stays_where_it_was_dropped_while_the_list_is_read_again(tmp_path: Path) -> None:
    body = """
    server.list = () => named("abc");
    await identities.load();
    const sent = Promise.withResolvers();
    const moving = identities.moving("a", 2, sent.promise);
    const seen = [shown()];
    events.identities({all: true});
    await settled();
    seen.push(shown());
    server.list = () => named("bca");
    sent.resolve();
    await moving;
    await settled();
    return [...seen, shown()];
    """
    assert run(tmp_path, "identities_state.js", "identities", body) == ["bca", "bca", "bca"]


def test_a_card_lands_at_the_place_that_is_visible_while_a_removal_waits(tmp_path: Path) -> None:
    body = """
    server.list = () => named("abcd");
    await identities.load();
    connection.online = false;
    identities.sending("a", {isRemoved: true}, new Promise(() => {}));
    const before = shown();
    identities.moving("d", 1, new Promise(() => {}));
    return [before, shown()];
    """
    assert run(tmp_path, "identities_state.js", "identities", body) == ["bcd", "bdc"]


def test_settings_that_were_saved_are_not_replaced_by_an_older_answer(tmp_path: Path) -> None:
    body = """
    const {identities} = await import(new URL("identities_state.js", MODULE));
    server.list = () => named("a");
    await identities.load();
    server.details = () => ({settings: "first"});
    const details = detailsOf("a");
    const seen = [];
    details.follow(() => seen.push(details.value.settings));
    await details.reading;
    const old = Promise.withResolvers();
    server.details = () => old.promise;
    details.reload();
    await settled();
    details.saved("new");
    server.details = () => ({settings: "new"});
    old.resolve({settings: "old"});
    await details.reading;
    return [seen.includes("old"), seen.at(-1)];
    """
    module = repr((tmp_path / "static" / "identity_details.js").as_uri())
    found = run(tmp_path, "identity_details.js", "detailsOf", body.replace("MODULE", module))
    assert found == [False, "new"]


def test_a_list_that_could_not_be_read_is_read_again_without_another_change(tmp_path: Path) -> None:
    body = """
    const wait = globalThis.setTimeout;
    const retries = [];
    globalThis.setTimeout = (fn, ms) => (ms > 1000 ? retries.push(fn) : wait(fn, ms));
    const answers = [() => "first", () => { throw new Error("not reachable"); }, () => "second"];
    const reads = [];
    let found = null;
    const event = {addListener: (fn) => (event.emit = fn), removeListener() {}};
    const list = new LiveList(event, async (changes) => {
      reads.push(changes);
      found = answers.shift()();
    });
    list.follow(() => {});
    await list.reading;
    event.emit({ids: ["a"]});
    await list.reading;
    const seen = [found, list.error];
    retries.shift()();
    await list.reading;
    return [...seen, found, list.error, reads];
    """
    everything = None
    expected = ["first", "not reachable", "second", None, [everything, [{"ids": ["a"]}], everything]]
    assert run(tmp_path, "live_list.js", "LiveList", body) == expected


def test_identities_that_could_not_be_read_are_read_again_without_another_change(tmp_path: Path) -> None:
    body = """
    const wait = globalThis.setTimeout;
    const retries = [];
    globalThis.setTimeout = (fn, ms) => (ms > 1000 ? retries.push(fn) : wait(fn, ms));
    globalThis.console.error = () => {};
    server.list = () => named("ab");
    await identities.load();
    server.list = () => { throw new Error("not reachable"); };
    events.identities({changed: ["c"]});
    await settled();
    const seen = [shown(), retries.length];
    retries.shift()();
    await settled();
    seen.push(shown(), retries.length);
    server.list = () => named("abc");
    retries.shift()();
    await settled();
    return [...seen, shown(), retries.length];
    """
    assert run(tmp_path, "identities_state.js", "identities", body) == ["ab", 1, "ab", 1, "abc", 0]


def test_sites_that_could_not_be_read_are_read_again_without_another_change(tmp_path: Path) -> None:
    api = """
    export const server = {list: () => []};
    const onChanged = {addListener: (fn) => (server.emit = fn), removeListener() {}};
    export const browser = {hatbox: {sites: {list: async () => server.list(), onChanged}}};
    export const connection = {onResync: () => () => {}};
    """
    body = """
    const {server} = await import(API);
    const retries = [];
    globalThis.setTimeout = (fn) => retries.push(fn);
    globalThis.console.error = () => {};
    let updates = 0;
    const feed = new SiteFeed(null, () => updates++);
    await feed.start();
    server.list = () => { throw new Error("not reachable"); };
    server.emit({cookieStoreIds: ["a"], all: false});
    await feed.reading;
    server.list = () => [{host: "site.example", identities: []}];
    const seen = [updates, retries.length];
    retries.shift()();
    await feed.reading;
    return [...seen, updates, feed.stale.all];
    """.replace("API", repr((tmp_path / "static" / "api.js").as_uri()))
    assert run(tmp_path, "site_feed.js", "SiteFeed", body, {"api.js": api}) == [2, 1, 3, False]


def test_an_identity_without_visible_text_in_its_name_is_shown_by_its_id(tmp_path: Path) -> None:
    body = """
    server.list = () => [{cookieStoreId: "firefox-container-9", name: "\\u200b\\u3164"}, ...named("b")];
    await identities.load();
    connection.online = false;
    const [{name, storedName}, other] = identities.all();
    identities.sending("firefox-container-9", {name: "Work"}, new Promise(() => {}));
    const {name: after, storedName: gone} = identities.get("firefox-container-9");
    return [name, storedName, other.name, "storedName" in other, after, gone ?? null];
    """
    expected = ["firefox-container-9", "\u200b\u3164", "b", False, "Work", None]
    assert run(tmp_path, "identities_state.js", "identities", body) == expected


def test_a_name_with_an_override_of_its_direction_reads_the_same_everywhere(tmp_path: Path) -> None:
    body = """
    const id = "firefox-container-9";
    server.list = () => [{cookieStoreId: id, name: "ab\u202ecd"}, ...named("b")];
    await identities.load();
    const {name, storedName, isUnnamed} = identities.get(id);
    connection.online = false;
    identities.sending(id, {name: "x\u202ey"}, new Promise(() => {}));
    return [name, storedName, isUnnamed, identities.get(id).name];
    """
    assert run(tmp_path, "identities_state.js", "identities", body) == ["abcd", "ab\u202ecd", False, "xy"]


def test_the_row_of_a_tab_stays_while_its_time_changes(tmp_path: Path) -> None:
    stubs = {
        "dom.js": "export const h = () => {}; export {h as fav, h as icon, h as iconButton};",
        "layers.js": "export const menu = () => {};",
        "tab_actions.js": "const no = () => {}; export {no as bringToFront, no as chooseTarget, no as closeTab};",
    }
    body = """
    const tab = (lastAccessed, title = "Inbox") => ({id: 1, title, url: "https://a.example/", lastAccessed});
    const now = Date.now();
    const time = {textContent: "", title: ""};
    showTime({querySelector: () => time}, tab(now - 4 * 60_000));
    const isSame = (other) => tabSignature(tab(now)) === tabSignature(other);
    return [isSame(tab(now - 60_000)), isSame(tab(now, "Other")), time.textContent];
    """
    found = run(tmp_path, "tab_row.js", "showTime, tabSignature", body, stubs)
    assert found == [True, False, "4 min ago"]


def test_the_days_that_a_removed_identity_stays_become_fewer_while_they_are_shown(tmp_path: Path) -> None:
    no = "const no = () => {}; export {%s};"
    elements = "no as btn, no as empty, no as errorLine, no as h, no as icon, no as iconButton, no as say, no as tile"
    stubs = {
        "api.js": API,
        "dom.js": no % elements + 'export {plural} from "./numbers.js";',
        "layers.js": no % "no as dialog, no as menu, no as notice, no as problem, no as toast",
        "toasts.js": no % "no as toast, no as undoFailed",
        "virtual_list.js": "export class VirtualList {}",
        "phone.js": "export const isPhone = () => false;",
        "screen_parts.js": no % "no as loadError, no as skeletonAfter",
    }
    body = """
    const parts = {".removed": [{}], ".left": [{}, {}]};
    const cell = {querySelector: (name) => parts[name][0], querySelectorAll: (name) => parts[name]};
    const now = Date.now();
    const entry = {removedAt: now - 60_000, expiresAt: now + 2.5 * 86_400_000, daysLeft: 30}; // read long ago
    const list = {cells: new Map([["a", cell]]), items: [entry], indexOf: () => 0};
    TrashSection.prototype.showTimes.call({list});
    return Object.values(parts).flat().map(({textContent}) => textContent);
    """
    found = run(tmp_path, "trash_section.js", "TrashSection", body, stubs)
    assert found == ["Removed 1 min ago", "3 days left", "3 days left"]


@pytest.mark.parametrize("how", ["reorder.cancel()", "dispatchEvent(lost)"])
def test_a_drag_whose_screen_is_left_ends_and_leaves_no_listener(tmp_path: Path, how: str) -> None:
    dom = """
    export const h = () => ({style: {}, remove() {}});
    export const say = () => {};
    """
    body = """
    let frames = 0, listening = 0;
    globalThis.requestAnimationFrame = () => ++frames;
    globalThis.cancelAnimationFrame = () => (frames = 0);
    for (const [name, by] of [["addEventListener", 1], ["removeEventListener", -1]]) {
      const before = globalThis[name];
      globalThis[name] = (...given) => { listening += by; before.apply(globalThis, given); };
    }
    const box = () => ({left: 0, top: 0, bottom: 500});
    const list = {
      items: ["a", "b"], key: (item) => item, indexOf: (key) => list.items.indexOf(key), paint() {},
      set: (items) => (list.items = items), lifted: null,
      host: {getBoundingClientRect: box, append() {}}, scroller: {getBoundingClientRect: box},
      geometry: {place: () => [0, 0], indexAt: () => 1, width: 1, height: 1},
    };
    const dropped = [];
    const reorder = new Reorder(list, {name: (key) => key, drop: (...given) => dropped.push(given)});
    const handle = {setPointerCapture() {}};
    const event = {button: 0, pointerId: 7, clientX: 0, clientY: 0, currentTarget: handle, preventDefault() {}};
    const lost = Object.assign(new Event("lostpointercapture"), {pointerId: 7});
    reorder.startWithPointer(event, "a");
    reorder.follow([0, 100], [0, 0]);
    const during = [reorder.isActive, list.items.join(""), listening, frames > 0];
    HOW;
    return [during, [reorder.isActive, list.items.join(""), listening, frames, handle.onpointermove, dropped]];
    """
    during, after = run(tmp_path, "reorder.js", "Reorder", body.replace("HOW", how), {"dom.js": dom})
    assert during == [True, "ba", 2, True]
    assert after == [False, "ab", 0, 0, None, []]
