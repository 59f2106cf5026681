"""protocol_hub.js with a connection that the test answers, in Deno."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from hatbox.engines.chromium.protocol_hub import _SCRIPT
from hatbox.extensions.runtime.command import deno_program

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
    source = f"{LAB.replace('HUB', f'({_SCRIPT})')}\nconst main = async () => {{ {code} }};\n"
    source += "console.log(JSON.stringify(await main())); Deno.exit();"
    done = subprocess.run(
        [deno_program(), "run", "-"], input=source, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


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
