"""protocol_hub.js with a connection that the test answers, in Deno."""

from __future__ import annotations

from typing import Any

import pytest

from hatbox.engines.chromium.protocol_hub import _SCRIPT
from tests.in_deno import value_in_deno

pytestmark = pytest.mark.deno

LAB = """
const sent = [], reports = [];
const connection = {send: text => { sent.push(JSON.parse(text)); }};
const run = HUB(connection, text => { reports.push(...JSON.parse(text)); });
const hub = (name, ...args) => run(name, args);
const receive = message => connection.onmessage(JSON.stringify(message));
const event = (sessionId, method, params) => receive({sessionId, method, params});
const attach = (sessionId, targetId, parent, type = "page") => {
  const targetInfo = {targetId, type, browserContextId: "context", url: ""};
  event(parent, "Target.attachedToTarget", {sessionId, targetInfo, waitingForDebugger: false});
};
const reply = (sessionId, result = {}) => {
  for (const each of sent.splice(0)) {
    if (each.sessionId === sessionId) receive({id: each.id, result: {identifier: `script-${each.id}`, ...result}});
    else sent.push(each);
  }
};
const commands = sessionId => sent.filter(each => each.sessionId === sessionId).map(each => each.method);
const replies = () => reports.filter(([kind]) => kind === "reply").map(([, number]) => number);
hub("context", "context", "firefox-default");
"""


def run(code: str) -> Any:
    """The value of a function body."""
    return value_in_deno(LAB.replace("HUB", f"({_SCRIPT})"), code)


def test_a_frame_does_not_wait_for_pages_that_hang() -> None:
    found = run("""
      attach("S1", "hanging");
      attach("S2", "page");
      reply("S2");
      attach("S3", "frame", "S2", "iframe");
      hub("wait", 1, null);
      hub("wait", 2, "frame");
      hub("wait", 3, "frame that is attached later");
      const before = replies();
      reply("S3");
      const after = replies();
      reply("S1");
      return [before, after, replies()];
    """)
    assert found == [[3], [3, 2], [3, 2, 1]]


FRAME = """
  const ORIGIN = "https://uuid";
  attach("S1", "page");
  attach("S2", "frame", "S1", "iframe");
  reply("S1"); reply("S2");
  const context = (id, origin, auxData = {isDefault: true}) => {
    event("S2", "Runtime.executionContextCreated", {context: {id, origin, name: "", auxData}});
  };
  const navigated = securityOrigin => event("S2", "Page.frameNavigated", {frame: {id: "frame", securityOrigin}});
  const calls = () => reports.splice(0)
    .filter(([, , name]) => name === "Runtime.bindingCalled").map(([, , , {payload}]) => payload);
  const call = (executionContextId, payload) => {
    event("S2", "Runtime.bindingCalled", {name: "post", payload, executionContextId});
  };
  context(1, "https://web.test");
  sent.length = 0;
  hub("embed", "frame", "post", "SOURCE", ORIGIN);
"""


def test_only_the_page_of_the_extension_calls_the_binding_of_a_frame() -> None:
    found = run(f"""{FRAME}
      const embedding = commands("S2");
      reply("S2");
      context(2, ORIGIN);
      context(3, ORIGIN, {{isDefault: false}});
      call(1, "of a web page");
      call(2, "of the extension");
      call(3, "of another world");
      call(4, "of nothing");
      call(2, "x".repeat(9 * 2 ** 20));
      return [embedding, calls().map(payload => payload.length > 100 ? payload.length : payload)];
    """)
    commands = ["Runtime.addBinding", "Runtime.evaluate", "Page.addScriptToEvaluateOnNewDocument"]
    assert found == [commands, ["of the extension", 8 * 2**20 + 1]]


def test_a_frame_that_leaves_the_page_of_the_extension_loses_the_binding() -> None:
    found = run(f"""{FRAME}
      reply("S2");
      navigated(ORIGIN);
      const shown = commands("S2");
      navigated("https://web.test");
      const left = commands("S2");
      sent.length = 0;
      context(2, ORIGIN);
      call(2, "late");
      hub("embed", "frame", "post", "SOURCE", ORIGIN);
      return [shown, left, calls(), commands("S2").length];
    """)
    assert found == [[], ["Page.removeScriptToEvaluateOnNewDocument", "Runtime.removeBinding"], [], 3]


def test_the_binding_ends_with_the_extension_also_where_it_is_being_added() -> None:
    found = run(f"""{FRAME}
      hub("embed", "another frame", "post", "SOURCE", ORIGIN);
      hub("unbind", "post");
      reply("S2");
      const removed = commands("S2");
      context(2, ORIGIN);
      call(2, "late");
      attach("S3", "another frame", "S1", "iframe");
      return [removed, calls(), commands("S3").includes("Runtime.addBinding")];
    """)
    assert found == [["Page.removeScriptToEvaluateOnNewDocument"], [], False]


WORLD = """
  hub("binding", "post", "world", "serve()");
  attach("S1", "page");
  reply("S1");
  const context = {id: 7, uniqueId: "7", name: "world", origin: "", auxData: {isDefault: false, frameId: "page"}};
  event("S1", "Runtime.executionContextCreated", {context});
"""


def test_a_world_that_a_new_document_takes_over_is_served() -> None:
    found = run(f"""
      {WORLD}
      event("S1", "Page.frameNavigated", {{frame: {{id: "other"}}}});
      const before = commands("S1");
      event("S1", "Page.frameNavigated", {{frame: {{id: "page"}}}});
      const after = sent.filter(each => each.method === "Runtime.evaluate").map(each => each.params);
      event("S1", "Runtime.executionContextDestroyed", {{executionContextId: 7}});
      event("S1", "Page.frameNavigated", {{frame: {{id: "page"}}}});
      return [before, after, sent.filter(each => each.method === "Runtime.evaluate").length];
    """)
    assert found == [[], [{"contextId": 7, "expression": "serve()"}], 1]


def test_events_of_a_page_wait_for_the_next_message_and_are_reported_in_order() -> None:
    found = run(f"""
      {WORLD}
      const before = reports.length;
      event("S1", "Page.frameNavigated", {{frame: {{id: "page"}}}});
      const waiting = reports.length;
      event("S1", "Runtime.bindingCalled", {{name: "post", executionContextId: 7, payload: "[]"}});
      return [waiting - before, reports.slice(before).map(each => each[2])];
    """)
    assert found[0] == 0
    assert found[1][-3:] == ["Page.frameNavigated", "Runtime.executionContextCreated", "Runtime.bindingCalled"]
