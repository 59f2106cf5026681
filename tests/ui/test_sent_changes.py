"""Changes that the page sends: each once, and with their errors where they belong. Without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tests.extensions.runtime.lab import needs_deno
from tests.ui.static_modules import value_with

pytestmark = needs_deno

API: Final = """
export const sent = [];
export const answers = []; // of calls that wait: {resolve, reject}
const send = (name) => (...given) => new Promise((resolve, reject) => {
  sent.push([name, ...given]);
  answers.push({resolve, reject});
});
const event = {addListener() {}, removeListener() {}};
export const browser = {
  contextualIdentities: {hide: send("hide"), show: send("show")},
  hatbox: {
    identities: {onChanged: event, list: async () => [], summaries: async () => []},
    rules: {onChanged: event, list: async () => [], test: send("test")},
    sites: {importFile: send("importFile")},
    tabs: {open: send("open"), close: send("close")},
    engines: {onChanged: event, list: async () => []},
  },
};
export const connection = {online: true, onResync: () => () => {}, onStatus: () => () => {}};
"""
DOM: Final = """
class Element {
  constructor(props, children) {
    Object.assign(this, props, {children, value: "", isConnected: true, attributes: new Map()});
  }
  setAttribute(name, value) { this.attributes.set(name, value); }
  removeAttribute(name) { this.attributes.delete(name); }
  hasAttribute(name) { return this.attributes.has(name); }
  replaceChildren(...children) { this.children = children; }
  hasChildNodes() { return this.children.flat().some(Boolean); }
  contains() { return false; }
  querySelector() { return this; }
  append(...children) { this.children.push(...children); }
  focus() {}
}
export const h = (tag, props, ...children) => new Element(props, children);
export const btn = (text, onclick) => new Element({text, onclick}, []);
export const errorLine = (text) => new Element({text}, []);
export const say = () => {};
export const isUnavailable = () => false;
export const plural = (count, word) => `${count} ${word}s`;
export {h as icon, h as iconButton, h as tile, h as patternText};
"""
LAYERS: Final = """
const no = () => ({hidePopover() {}});
export const shown = [];
export const toast = (text) => shown.push(text);
export const problem = (anchor, text) => shown.push(text);
export {no as dialog, no as menu, no as notice, no as popover, no as closeToasts};
"""
STUBS: Final = {
    "api.js": API,
    "dom.js": DOM,
    "layers.js": LAYERS,
    "toasts.js": 'export {toast, toast as undoFailed} from "./layers.js";',
    "identity_editor.js": "export const identityEditor = () => {};",
}
START: Final = """
globalThis.document = {activeElement: null};
const stub = (name) => import(new URL(name, MODULE));
const [{sent, answers}, {shown}] = [await stub("api.js"), await stub("layers.js")];
const settled = () => new Promise((resolve) => setTimeout(resolve));
const names = () => sent.map(([name]) => name);
"""


def run(tmp_path: Path, module: str, names: str, body: str) -> Any:
    folder = tmp_path / "static"
    start = START.replace("MODULE", repr((folder / "api.js").as_uri()))
    return value_with(folder, STUBS, module, names, start + body)


def test_hiding_twice_is_one_change_and_showing_meanwhile_another(tmp_path: Path) -> None:
    body = """
    const work = {cookieStoreId: "2", name: "Work", tabs: 0};
    setHidden(work, true);
    setHidden(work, true);
    const before = names();
    setHidden(work, false);
    for (const {resolve} of answers) resolve();
    await settled();
    return [before, names(), shown];
    """
    expected = [["hide"], ["hide", "show"], ["Work is hidden.", "Work is shown again."]]
    assert run(tmp_path, "identity_actions.js", "setHidden", body) == expected


FORM: Final = """
const form = addressForm("2");
const type = (text) => (form.input.value = text);
const free = {outcome: "free", title: "", identities: [], matches: [], notes: []};
"""


def test_an_address_is_opened_once_and_the_next_one_stays_in_the_field(tmp_path: Path) -> None:
    body = """
    type("one.example");
    form.submit();
    form.submit();
    answers.shift().resolve(free);
    await settled();
    form.submit(); // it is being opened
    const first = names();
    type("two.example");
    answers.shift().resolve({tab: {id: 1, url: "https://one.example/"}, engine: "running"});
    await settled();
    const left = form.input.value;
    form.submit();
    answers.shift().resolve(free);
    await settled();
    answers.shift().resolve({tab: {id: 2, url: "https://two.example/"}, engine: "running"});
    await settled();
    return [first, left, sent, form.input.value, shown];
    """
    first, left, sent, empty, shown = run(tmp_path, "address_form.js", "addressForm", FORM + body)
    assert first == ["test", "open"]
    assert left == "two.example"
    assert sent[2:] == [["test", "two.example", "2"], ["open", "2", "two.example"]]
    assert empty == ""
    assert shown == [f"Opened {name}.example as this identity." for name in ("one", "two")]


def test_a_choice_of_identities_opens_one_tab_after_a_double_click(tmp_path: Path) -> None:
    body = """
    type("one.example");
    form.submit();
    answers.shift().resolve({...free, outcome: "asks", identities: ["2", "3"]});
    await settled();
    const box = form.below.children[0];
    const [choice] = box.children.at(-1).children[0];
    choice.onclick();
    choice.onclick();
    await settled();
    const during = names();
    answers.shift().reject(new Error("No engine can open it."));
    await settled();
    return [during, sent.at(-1), form.below.children[0].text, form.input.value];
    """
    expected = [["test", "open"], ["open", "2", "one.example"], "No engine can open it.", "one.example"]
    assert run(tmp_path, "address_form.js", "addressForm", FORM + body) == expected


def test_an_address_that_could_not_be_opened_is_named_when_the_next_one_is_typed(tmp_path: Path) -> None:
    body = """
    type("one.example");
    form.submit();
    answers.shift().resolve(free);
    await settled();
    type("two.example");
    answers.shift().reject(new Error("The profile is locked."));
    await settled();
    const below = form.below.children[0].text;
    form.submit();
    form.el.isConnected = false; // another screen
    answers.shift().reject(new Error("It is closed."));
    await settled();
    return [below, form.input.value, shown];
    """
    below, value, shown = run(tmp_path, "address_form.js", "addressForm", FORM + body)
    assert below == "one.example was not opened. The profile is locked."
    assert value == "two.example"
    assert shown == ["two.example was not opened. It is closed."]


def test_a_file_that_is_too_large_only_as_a_message_says_how_it_can_be_imported(tmp_path: Path) -> None:
    body = """
    const area = {addEventListener() {}};
    const place = new DropPlace("2", area);
    place.take([new File(["cookies"], "cookies.txt")]);
    while (!answers.length) await settled();
    answers[0].reject(Object.assign(new Error("This has 40 MB."), {kind: "MessageTooLarge"}));
    await settled();
    return place.message.children[0].text;
    """
    expected = "cookies.txt is too large to be sent. Import it in a terminal with: “hatbox import”"
    assert run(tmp_path, "identity_tabs/cookie_files.js", "DropPlace", body) == expected
