"""Lists of the page that read again only what an event names."""

from __future__ import annotations

from pathlib import Path

import hatbox.ui
from tests.extensions.runtime.lab import needs_deno
from tests.in_deno import value_in_deno

MODULE = (Path(hatbox.ui.__file__).parent / "static" / "live_list.js").as_uri()
SERVER = f"""
globalThis.document = {{baseURI: "http://127.0.0.1:1/", addEventListener() {{}}}};
globalThis.WebSocket = class {{ addEventListener() {{}} send() {{}} close() {{}} }};
const {{PartialList}} = await import("{MODULE}");
const stored = new Map(["a", "c", "b"].map((id) => [id, {{id, text: id}}]));
const calls = [];
let emit;
const api = {{
  async list(ids) {{
    calls.push(ids ?? "all");
    return [...stored.values()].filter((each) => !ids || ids.includes(each.id)).map((each) => ({{...each}}));
  }},
  onChanged: {{addListener: (fn) => (emit = fn), removeListener() {{}}}},
}};
const list = new PartialList(api, {{key: (each) => each.id, compare: (one, two) => (one.text < two.text ? -1 : 1)}});
const texts = () => list.all().map((each) => each.text);
list.follow(() => {{}});
await list.reading;
"""


@needs_deno
def test_only_what_an_event_names_is_read_again_and_what_is_gone_leaves_the_list() -> None:
    body = """
    const first = texts();
    stored.get("a").text = "z";
    stored.delete("b");
    emit({ids: ["a"], all: false});
    emit({ids: ["b", "a"], all: false}); // during the read
    await list.reading;
    const second = texts();
    stored.set("d", {id: "d", text: "d"});
    emit({ids: [], all: true});
    await list.reading;
    emit({ids: Array.from({length: 1001}, (_, index) => `${index}`), all: false}); // more than a call accepts
    await list.reading;
    return [first, second, texts(), calls];
    """
    everything = ["c", "d", "z"]
    calls = ["all", ["a"], ["b", "a"], "all", "all"]
    assert value_in_deno(SERVER, body) == [["a", "b", "c"], ["c", "z"], everything, calls]
