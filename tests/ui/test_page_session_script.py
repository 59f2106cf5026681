"""page_session.js and wire_values.js in Deno, with a WebSocket that the test controls."""

from __future__ import annotations

from typing import Any

from hatbox.ui.page_calls import DONE
from hatbox.ui.page_limits import PageLimits
from hatbox.ui.static_files import FOLDER
from tests.extensions.runtime.lab import needs_deno
from tests.in_deno import value_in_deno

START = f"""
import {{PageSession}} from "{(FOLDER / "page_session.js").as_uri()}";
import {{decodeText, encodeArguments}} from "{(FOLDER / "wire_values.js").as_uri()}";

const sockets = [], received = [], log = [];
let replayed = [];
class Socket {{
  constructor() {{ this.sent = []; this.bufferedAmount = 0; sockets.push(this); }}
  close() {{ log.push("close"); }}
  send(text) {{ this.sent.push(JSON.parse(text)); }}
  welcome(resumed, number) {{ this.onopen(); this.onmessage({{data: JSON.stringify({{resumed, received: number}})}}); }}
  frame(...values) {{ this.onmessage({{data: JSON.stringify(values)}}); }}
}}
const session = new PageSession({{
  id: "the id", open: () => new Socket(), receive: (messages) => received.push(...messages),
  replay: () => replayed, onTooLarge: (...given) => log.push(given),
  onStatus: () => log.push(session.online && (session.silent ? "silent" : true)),
  onResync: () => log.push("resync"), onClosed: () => log.push("closed"),
}});
const {{setTimeout: soon}} = globalThis;
const turn = () => new Promise((resolve) => soon(resolve));
// A clock for the timers that are started after it was stopped.
let now = 0, timers = [];
function stopClock() {{
  globalThis.setTimeout = (run, time) => {{ timers.push({{run, at: now + time}}); return timers.at(-1); }};
  globalThis.clearTimeout = (timer) => {{ timers = timers.filter((each) => each !== timer); }};
}}
function pass(time) {{
  for (const end = now + time; ;) {{
    const [next] = timers.filter(({{at}}) => at <= end).sort((a, b) => a.at - b.at);
    if (!next) return void (now = end);
    clearTimeout(next);
    now = next.at;
    next.run();
  }}
}}
session.connect();
"""


def in_session(body: str) -> Any:
    return value_in_deno(START, body)


@needs_deno
def test_what_was_not_acknowledged_is_sent_again_and_duplicates_are_dropped() -> None:
    sent, messages, states = in_session("""
        sockets[0].welcome(false, 0);
        session.send(["c", 1, "one", []]); await turn();
        session.send(["c", 2, "two", []]); session.send(["c", 3, "three", []]); await turn();
        sockets[0].frame(1, 1, [["r", 1, true, null]]);
        sockets[0].onclose();
        session.send(["c", 4, "four", []]); await turn();
        session.connect();
        sockets[1].welcome(true, 1);
        sockets[1].frame(1, 1, [["r", 1, true, null]]);
        sockets[1].frame(2, 3, [["r", 2, true, null]]);
        return [sockets.map((each) => each.sent), received, log];
    """)
    first, second = sent
    two = [["c", 2, "two", []], ["c", 3, "three", []]]
    assert first == [{"session": "the id", "received": 0, "calls": 0}, [1, 0, [["c", 1, "one", []]]], [2, 0, two]]
    assert second == [
        {"session": "the id", "received": 1, "calls": 3},
        [2, 1, two],
        [3, 1, [["c", 4, "four", []]]],
    ]
    assert messages == [["r", 1, True, None], ["r", 2, True, None]]
    assert states == [True, False, "closed", True]


@needs_deno
def test_a_server_that_does_not_know_the_session_gets_everything_again() -> None:
    sent, states = in_session("""
        sockets[0].welcome(false, 0);
        session.send(["c", 1, "one", []]); await turn();
        sockets[0].frame(1, 1, []); sockets[0].frame(2, 1, []);
        sockets[0].onclose();
        replayed = [["l", "event", 1, true, []], ["c", 1, "one", []]];
        session.connect();
        sockets[1].welcome(false, 0);
        sockets[1].frame(1, 1, []);
        return [sockets[1].sent, log];
    """)
    assert sent[0] == {"session": "the id", "received": 2, "calls": 1}
    assert sent[1] == [1, 0, [["l", "event", 1, True, []], ["c", 1, "one", []]]]
    assert states == [True, False, "closed", True, "resync"]


@needs_deno
def test_large_calls_are_sent_again_in_frames_that_the_server_accepts() -> None:
    sizes, ids = in_session("""
        const large = "x".repeat(3_000_000);
        replayed = [["l", "event", 1, true, []], ...[1, 2, 3].map((id) => ["c", id, "import", [large]])];
        sockets[0].welcome(false, 0);
        session.send(["c", 4, "import", [large]]); session.send(["c", 5, "import", [large + large]]); await turn();
        const frames = sockets[0].sent.slice(1);
        return [frames.map(([number]) => number), frames.map(([, , messages]) => messages.map((each) => each[1]))];
    """)
    assert sizes == [1, 2, 3, 4, 5]
    assert ids == [["event", 1], [2], [3], [4], [5]]


@needs_deno
def test_a_call_that_the_server_would_not_accept_fails_and_others_are_sent() -> None:
    sent, log = in_session("""
        sockets[0].welcome(false, 0);
        const fits = "\\u20ac".repeat(11_000_000), large = "\\u20ac".repeat(11_200_000); // three bytes each
        session.send(["c", 1, "import", [large]]); session.send(["c", 2, "import", [fits]]);
        session.send(["c", 3, "hide", []]); await turn();
        return [sockets[0].sent.slice(1).map(([number, , messages]) => [number, messages.map((each) => each[1])]), log];
    """)
    assert sent == [[1, [2]], [2, [3]]]
    assert log == [True, [1, 33_600_000 + len('["c",1,"import",[""]]')]]


@needs_deno
def test_a_connection_that_the_server_closes_because_of_a_large_call_is_not_closed_again_by_it() -> None:
    sent, log = in_session("""
        sockets[0].welcome(false, 0);
        session.send(["l", "event", 1, true, []]); session.send(["c", 1, "import", ["x".repeat(100)]]);
        session.send(["c", 2, "hide", []]); await turn();
        session.send(["c", 3, "show", []]); await turn();
        sockets[0].onclose({code: 1009});
        session.connect();
        sockets[1].welcome(true, 0);
        return [sockets[1].sent.slice(1), log];
    """)
    assert sent == [[1, 0, [["l", "event", 1, True, []], ["c", 2, "hide", []]]], [2, 0, [["c", 3, "show", []]]]]
    assert [each for each in log if isinstance(each, list)] == [[1, 100 + len('["c",1,"import",[""]]')]]


def test_the_page_knows_the_size_that_the_server_accepts() -> None:
    assert "const MAX_TEXT = 32 * 2 ** 20;" in (FOLDER / "page_session.js").read_text("utf-8")
    assert PageLimits().text == 32 * 2**20


@needs_deno
def test_a_connection_that_is_lost_at_once_does_not_reset_the_delay() -> None:
    delays = in_session("""
        const delays = [];
        for (let i = 0; i < 3; i++) {
            sockets.at(-1).welcome(false, 0);
            sockets.at(-1).onclose();
            delays.push(session.delay);
            session.connect();
        }
        sockets.at(-1).welcome(false, 0);
        session.since -= 11_000;
        sockets.at(-1).onclose();
        clearTimeout(session.timer);
        return [...delays, session.delay];
    """)
    assert delays == [200, 400, 800, 200]


@needs_deno
def test_frames_of_the_server_are_acknowledged_also_if_the_page_sends_nothing() -> None:
    sent = in_session("""
        sockets[0].welcome(false, 0);
        sockets[0].frame(1, 0, []); sockets[0].frame(2, 0, []);
        while (sockets[0].sent.length < 2) await turn();
        return sockets[0].sent;
    """)
    assert sent[1:] == [[0, 2, []]]


@needs_deno
def test_a_server_that_does_not_acknowledge_is_silent_after_2_s_and_left_after_15() -> None:
    log, sent = in_session("""
        stopClock();
        sockets[0].welcome(false, 0);
        pass(60_000); // nothing was sent
        session.send(["c", 1, "one", []]); await turn();
        pass(1900); log.push("1.9 s");
        pass(100);
        sockets[0].frame(0, 1, []); // it was suspended
        session.send(["c", 2, "two", []]); await turn();
        pass(1900);
        session.send(["c", 3, "three", []]); await turn();
        sockets[0].frame(0, 2, []); // it is slow
        pass(1900); log.push("slow");
        pass(100); pass(12_900); log.push("14.9 s");
        pass(100);
        sockets[0].onclose?.(); sockets[0].frame(0, 3, []); // of the old connection
        session.connect();
        sockets[1].welcome(true, 3); // it has received all
        pass(60_000);
        return [log, sockets[1].sent];
    """)
    silent = ["silent", True]
    assert log == [True, "1.9 s", *silent, "slow", "silent", "14.9 s", False, "closed", "close", True]
    assert sent == [{"session": "the id", "received": 0, "calls": 3}]


@needs_deno
def test_a_large_frame_that_is_being_sent_is_no_silence() -> None:
    log = in_session("""
        stopClock();
        sockets[0].welcome(false, 0);
        sockets[0].bufferedAmount = 30_000_000;
        session.send(["c", 1, "import", ["large"]]); await turn();
        for (let i = 0; i < 20; i++) { sockets[0].bufferedAmount -= 1_000_000; pass(2000); }
        log.push("sent");
        pass(2000);
        return log;
    """)
    assert log == [True, "sent", "silent"]


@needs_deno
def test_an_idle_page_finds_out_whether_the_server_answers() -> None:
    log, sent = in_session("""
        session.probe();
        stopClock();
        sockets[0].welcome(false, 0);
        session.probe(); session.probe();
        pass(2000);
        sockets[0].frame(0, 1, []);
        return [log, sockets[0].sent.slice(1)];
    """)
    assert (log, sent) == ([True, "silent", True], [[1, 0, []]])


@needs_deno
def test_values_that_json_lacks_are_marked_and_decoded() -> None:
    arguments, decoded = in_session(r"""
        const text = '{"a":{"\\u0000":["undefined"]},"b":[{"\\u0000":["number","-0"]}],"\\u0000\\u0000c":1}';
        const value = decodeText(text);
        return [
            encodeArguments([1, undefined, null, undefined, undefined]),
            ["a" in value && value.a === undefined, Object.is(value.b[0], -0), value["\0c"]],
        ];
    """)
    assert arguments == [1, {"\0": ["undefined"]}, None]
    assert decoded == [True, True, 1]


def test_the_page_recognizes_calls_that_were_done_before_a_restart() -> None:
    assert f'const DONE = "{DONE}";' in (FOLDER / "api.js").read_text("utf-8")
