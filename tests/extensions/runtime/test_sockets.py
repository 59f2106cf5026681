"""WebSocket: as in the standard and Firefox, only to permitted hosts, and without cookies."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from hatbox import Profile
from hatbox.extensions.extension import Extension
from hatbox.extensions.runtime.host import Socket, SocketClosed, SocketRequest
from hatbox.extensions.runtime.network import Network
from hatbox.extensions.runtime.sockets import MAX_SOCKETS, Sockets
from hatbox.extensions.runtime.wire_frames import ProtocolError
from hatbox.urls.match_patterns import host_permissions
from tests.extensions.made import run_made
from tests.extensions.runtime.lab import UUID, Lab, in_lab, needs_deno

pytestmark = needs_deno

HERE = "http://127.0.0.1/*"
NONE = "An invalid or illegal string was specified"

# What becomes of a socket: `await life(socket)` is all its events until it is closed.
LIFE = """
function life(socket) {
  const seen = [];
  for (const type of ["open", "message", "error", "close"]) {
    socket.addEventListener(type, event => {
      seen.push(type === "close" ? [type, event.code, event.reason, event.wasClean]
        : type === "message" ? [type, event.data] : [type]);
    });
  }
  return new Promise(resolve => { socket.addEventListener("close", () => { resolve(seen); }); });
}
"""


class Place:
    """A server, and what it has seen."""

    def __init__(self, server: Server) -> None:
        self.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        self.asked: list[Headers] = []
        self.codes: asyncio.Queue[int | None] = asyncio.Queue()


@asynccontextmanager
async def serving(
    talk: Callable[[ServerConnection], Any] | None = None, answer: Response | None = None, **options: Any
) -> AsyncIterator[Place]:
    """A server that sends back what it gets, or does as `talk` says."""

    async def echo(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.send(message)

    async def handle(connection: ServerConnection) -> None:
        try:
            await (talk or echo)(connection)
            await connection.wait_closed()
        finally:
            place.codes.put_nowait(connection.close_code)

    def look(_: ServerConnection, request: Request) -> Response | None:
        place.asked.append(request.headers)
        return answer

    async with serve(handle, "127.0.0.1", 0, process_request=look, **options) as server:
        place = Place(server)
        yield place


def of_lab(
    tmp_path: Path,
    use: Callable[[Lab, Place], Any],
    talk: Callable[[ServerConnection], Any] | None = None,
    **options: Any,
) -> None:
    async def main(lab: Lab) -> None:
        async with serving(talk, **options) as place:
            try:
                await use(lab, place)
            finally:
                await lab.close()

    in_lab(tmp_path, main)


def brief(place: Place) -> str:
    """The life of a socket that is closed when it is open."""
    return f"const s = new WebSocket({place.url!r}); s.onopen = () => {{ s.close(); }}; return life(s)"


# ── Bad input ──

CONSTRUCTED = [
    ('""', ["SyntaxError", NONE]),
    ('"http://["', ["SyntaxError", NONE]),
    ('"ftp://127.0.0.1/"', ["SyntaxError", NONE]),
    ('"relative"', ["SyntaxError", NONE]),
    ('"ws://127.0.0.1:9/a#b"', ["SyntaxError", NONE]),
    ('"ws://127.0.0.1:9/a#"', ["SyntaxError", NONE]),
    ('"ws://127.0.0.1:9/", ""', ["SyntaxError", NONE]),
    ('"ws://127.0.0.1:9/", "a b"', ["SyntaxError", NONE]),
    ('"ws://127.0.0.1:9/", ["a", "a"]', ["SyntaxError", NONE]),
    ('"ws://127.0.0.1:9/", ["é"]', ["SyntaxError", NONE]),
    ("", ["TypeError", "WebSocket constructor: At least 1 argument required, but only 0 passed"]),
    ('"ws://127.0.0.1:9/", ["a", "A"]', "ws://127.0.0.1:9/"),
    ('"ws://127.0.0.1:9/", 5', "ws://127.0.0.1:9/"),
    ('"ws://127.0.0.1:9/", null', "ws://127.0.0.1:9/"),
    ('"ws://127.0.0.1:9/", undefined', "ws://127.0.0.1:9/"),
    ('"http://127.0.0.1:9/a"', "ws://127.0.0.1:9/a"),
    ('"https://127.0.0.1:9"', "wss://127.0.0.1:9/"),
    ("new URL('WS://127.0.0.1:80')", "ws://127.0.0.1/"),
]


def test_what_is_no_address_or_protocol_is_refused_as_in_firefox(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        for arguments, expected in CONSTRUCTED:
            source = f"try {{ return new WebSocket({arguments}).url }} catch (e) {{ return [e.name, e.message] }}"
            assert await runtime.evaluate(source) == expected, arguments

    in_lab(tmp_path, use)


def test_codes_reasons_and_early_messages_are_refused_as_in_firefox(tmp_path: Path) -> None:
    invalid = ["InvalidAccessError", 15]
    cases = [
        ('socket.send("x")', ["InvalidStateError", 11]),
        ("socket.send()", ["TypeError", None]),
        ("socket.close(1001)", invalid),
        ("socket.close(2999.4)", invalid),
        ("socket.close(5000)", invalid),
        ("socket.close(null)", invalid),
        ('socket.close(1000, "x".repeat(124))', ["SyntaxError", 12]),
        ('socket.close(undefined, "é".repeat(62))', ["SyntaxError", 12]),
        ('WebSocket("ws://127.0.0.1:9/")', ["TypeError", None]),
        ("WebSocket.prototype.send.call({}, 1)", ["TypeError", None]),
        ("WebSocket.prototype.url", ["TypeError", None]),
    ]

    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, f"var socket = new WebSocket({place.url!r})", permissions=[])
        for source, expected in cases:
            caught = f"try {{ {source} }} catch (e) {{ return [e.name, e.code] }}"
            assert await runtime.evaluate(f"socket = new WebSocket({place.url!r}); {caught}") == expected, source
        assert await runtime.evaluate(
            "socket.binaryType = 'foo'; socket.onopen = 5; [socket.binaryType, socket.onopen]"
        ) == [
            "blob",
            None,
        ]

    of_lab(tmp_path, use)


@pytest.mark.parametrize(
    "message",
    [
        ["open", 1, ["ws://127.0.0.1/"]],
        ["open", 1, [5, []]],
        ["open", 1, ["ws://127.0.0.1/", [5]]],
        ["open", 2, ["ws://127.0.0.1/", []]],
        ["open", 1, ["ws://127.0.0.1/", ["a\r\nCookie: b=c"]]],
        ["open", 1, ["ws://127.0.0.1/", [""]]],
        ["text", 1, ["x"]],
        ["close", 7, [None, ""]],
    ],
)
def test_what_our_own_half_would_not_say_ends_the_child(message: list[Any]) -> None:
    async def main() -> None:
        sockets = Sockets(_never, "moz-extension://x", "Agent/1", lambda _: None, lambda _: None)
        with pytest.raises(ProtocolError):
            sockets.handle(*message)

    asyncio.run(main())


@pytest.mark.parametrize(
    "message", [["text", [5]], ["bytes", ["?"]], ["close", ["1000", ""]], ["fail", []], ["read", ["1"]], ["dance", []]]
)
def test_nor_of_a_socket_that_is_open(message: list[Any]) -> None:
    async def main() -> None:
        sockets = Sockets(_never, "moz-extension://x", "Agent/1", lambda _: None, lambda _: None)
        sockets.handle("open", 1, ["ws://127.0.0.1/", []])
        with pytest.raises(ProtocolError):
            sockets.handle(message[0], 1, message[1])
        sockets.close()

    asyncio.run(main())


async def _never(_: SocketRequest) -> Socket:
    await asyncio.Event().wait()
    raise AssertionError


# ── Permissions ──


@pytest.mark.parametrize("permissions", [[], ["https://127.0.0.1/*"], ["wss://127.0.0.1/*"], ["http://localhost/*"]])
def test_a_host_without_permission_is_not_asked(tmp_path: Path, permissions: list[str]) -> None:
    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, permissions=permissions)
        seen = await runtime.evaluate(f"life(new WebSocket({place.url!r}))")
        assert seen == [["error"], ["close", 1006, "", False]]
        assert place.asked == []
        assert lab.host.lines == [f"WebSocket({place.url}): missing host permission for 127.0.0.1"]

    of_lab(tmp_path, use)


@pytest.mark.parametrize("permission", [HERE, "ws://127.0.0.1/*", "*://127.0.0.1/*", "<all_urls>"])
def test_a_pattern_for_http_or_ws_permits_it(tmp_path: Path, permission: str) -> None:
    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, permissions=[permission])
        assert await runtime.evaluate(brief(place)) == [["open"], ["close", 1005, "", True]]

    of_lab(tmp_path, use)


def test_a_socket_is_cut_off_when_the_permission_is_revoked(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        async with serving() as place:
            await extension.evaluate(
                f"const socket = new WebSocket({place.url!r}); globalThis.seen = life(socket);"
                "return new Promise(resolve => { socket.onopen = resolve; })"
            )
            grants = (await profile.extensions.permissions(extension.id)).granted
            await profile.extensions.revoke(extension.id, grants)
            assert await extension.evaluate("seen") == [["open"], ["error"], ["close", 1006, "", False]]

    log: list[Any] = []
    run_made(tmp_path, use, LIFE, manifest_version=3, host_permissions=[HERE], start={"on_log": log.append})
    assert "missing host permission for 127.0.0.1" in log[-1].text


def test_tls_is_spoken_with_whom_it_trusts_and_with_nobody_else(tmp_path: Path) -> None:
    certificate = Path(__file__).parents[2] / "engines" / "selfsigned.pem"

    async def use(lab: Lab) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        async with serving(ssl=context) as place:
            place.url = place.url.replace("ws:", "wss:")
            runtime = await lab.start(LIFE, permissions=["https://127.0.0.1/*"])
            assert await runtime.evaluate(brief(place)) == [["error"], ["close", 1006, "", False]]
            assert "certificate verify failed" in lab.host.lines[-1]
            trusting = ssl.create_default_context(cafile=certificate)
            trusting.check_hostname = False  # it names none
            network = Network(trusted=lambda: trusting)
            runtime = await lab.start(LIFE, permissions=["https://127.0.0.1/*"], network=network)
            assert await runtime.evaluate(brief(place)) == [["open"], ["close", 1005, "", True]]

    in_lab(tmp_path, use)


def test_nobodys_cookies_are_sent_and_none_are_kept(tmp_path: Path) -> None:
    async def use(lab: Lab, place: Place) -> None:
        store = await lab.profile.cookie_store("firefox-default")
        await store.receive(["mine=1"], place.url.replace("ws", "http"))
        runtime = await lab.start(LIFE, permissions=[HERE], navigator={"userAgent": "Another/2"})
        for _ in range(2):
            await runtime.evaluate(brief(place))
        for headers in place.asked:
            assert "Cookie" not in headers
            assert headers["Origin"] == f"moz-extension://{UUID}"
            assert headers["User-Agent"] == "Another/2"

    def bake(_: ServerConnection, __: Request, response: Response) -> None:
        response.headers["Set-Cookie"] = "from=server"

    of_lab(tmp_path, use, process_response=bake)


# ── Messages ──


def test_text_and_bytes_of_all_kinds_come_back_in_order(tmp_path: Path) -> None:
    source = """
      const socket = new WebSocket(URL_);
      socket.binaryType = "arraybuffer";
      const got = [];
      await new Promise(resolve => { socket.onopen = resolve; });
      const all = new Promise(resolve => {
        socket.onmessage = ({data, origin}) => {
          got.push(typeof data === "string" ? data : [...new Uint8Array(data)]);
          if (origin !== new URL(URL_).origin && origin !== URL_.slice(0, -1)) got.push(origin);
          if (got.length === 8) resolve();
        };
      });
      const bytes = new Uint8Array([1, 2, 3, 4]);
      socket.send("a é 日 \\u{1f600}\\ud800");
      socket.send(new Blob(["blob"]));
      socket.send(bytes.subarray(1, 3));
      socket.send(bytes.buffer);
      socket.send(new DataView(bytes.buffer, 3));
      socket.send("");
      socket.send("\\0" + JSON.stringify({"\\0": ["undefined"]}));
      socket.send({toString: () => "object"});
      const buffered = socket.bufferedAmount > 0;
      await all;
      return [got, buffered, socket.bufferedAmount, socket.readyState];
    """

    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(permissions=[HERE])
        got, buffered, left, state = await runtime.evaluate(source.replace("URL_", repr(place.url)))
        assert got == [
            "a é 日 \U0001f600\ufffd",
            list(b"blob"),
            [2, 3],
            [1, 2, 3, 4],
            [4],
            "",
            '\0{"\\u0000":["undefined"]}',
            "object",
        ]
        assert (buffered, left, state) == (True, 0, 1)

    of_lab(tmp_path, use)


def test_bytes_are_a_blob_unless_a_script_wants_a_buffer(tmp_path: Path) -> None:
    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(permissions=[HERE])
        source = f"""
          const socket = new WebSocket({place.url!r});
          socket.onopen = () => {{ socket.send(new Uint8Array([104, 105])); }};
          const {{data}} = await new Promise(resolve => {{ socket.onmessage = resolve; }});
          return [data instanceof Blob, data.type, await data.text()];
        """
        assert await runtime.evaluate(source) == [True, "", "hi"]

    of_lab(tmp_path, use)


def test_what_a_listener_sets_going_is_done_before_the_next_message(tmp_path: Path) -> None:
    async def talk(connection: ServerConnection) -> None:
        await connection.send("1")
        await connection.send("2")
        await connection.close()

    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, permissions=[HERE])
        source = f"""
          const order = [];
          const socket = new WebSocket({place.url!r});
          socket.onmessage = async ({{data}}) => {{ order.push(data); await null; order.push(`after ${{data}}`); }};
          await life(socket);
          return order;
        """
        assert await runtime.evaluate(source) == ["1", "after 1", "2", "after 2"]

    of_lab(tmp_path, use, talk)


def test_an_error_in_a_listener_is_logged_and_the_next_one_is_called(tmp_path: Path) -> None:
    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, permissions=[HERE])
        source = f"""
          const socket = new WebSocket({place.url!r});
          socket.onopen = () => {{ throw new Error("mine"); }};
          socket.addEventListener("open", () => {{ socket.close(); }});
          return life(socket);
        """
        assert (await runtime.evaluate(source))[-1] == ["close", 1005, "", True]
        assert (await lab.host.said("mine")).kind == "error"

    of_lab(tmp_path, use)


def test_the_subprotocol_is_the_one_that_the_server_chooses(tmp_path: Path) -> None:
    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(permissions=[HERE])
        source = f"""
          const socket = new WebSocket({place.url!r}, ["first", "second"]);
          const before = socket.protocol;
          await new Promise(resolve => {{ socket.onopen = resolve; }});
          return [before, socket.protocol, socket.extensions];
        """
        assert await runtime.evaluate(source) == ["", "second", ""]

    of_lab(tmp_path, use, subprotocols=["second"], compression=None)


# ── The end ──


def test_codes_and_reasons_go_both_ways(tmp_path: Path) -> None:
    async def talk(connection: ServerConnection) -> None:
        async for message in connection:
            await connection.close(4001, f"enough of {message!s}")

    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, permissions=[HERE])
        start = f"const socket = new WebSocket({place.url!r}); const seen = life(socket);"
        for close, theirs, ours in [
            ("()", 1005, 1005),
            ("(3000, 'bye')", 3000, 3000),
            ("(undefined, 'x')", 1000, 1000),
        ]:
            seen = await runtime.evaluate(f"{start} socket.onopen = () => {{ socket.close{close}; }}; return seen")
            assert (seen[-1][1], await place.codes.get()) == (ours, theirs)
        seen = await runtime.evaluate(f"{start} socket.onopen = () => {{ socket.send('you'); }}; return seen")
        assert seen == [["open"], ["close", 4001, "enough of you", True]]

    of_lab(tmp_path, use, talk)


def test_what_was_sent_before_close_arrives(tmp_path: Path) -> None:
    got: list[Any] = []

    async def talk(connection: ServerConnection) -> None:
        got.extend([message async for message in connection])

    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, permissions=[HERE])
        source = f"""
          const socket = new WebSocket({place.url!r});
          socket.onopen = () => {{
            for (let i = 0; i < 300; i++) socket.send("x".repeat(10000));
            socket.send(new Blob(["last"]));
            socket.close();
            socket.send("too late");
          }};
          await life(socket);
          return socket.bufferedAmount;
        """
        assert await runtime.evaluate(source) == len("too late")
        assert (len(got), got[-1]) == (301, b"last")

    of_lab(tmp_path, use, talk)


def test_a_socket_that_is_closed_before_it_is_open_fails(tmp_path: Path) -> None:
    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, permissions=[HERE])
        source = "const seen = life(s); s.close(); return [s.readyState, await seen]"
        assert await runtime.evaluate(f"const s = new WebSocket({place.url!r}); {source}") == [
            2,
            [["error"], ["close", 1006, "", False]],
        ]

    of_lab(tmp_path, use)


def test_a_server_that_breaks_off_is_no_error_but_not_clean(tmp_path: Path) -> None:
    async def talk(connection: ServerConnection) -> None:
        connection.transport.abort()

    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, permissions=[HERE])
        seen = await runtime.evaluate(f"life(new WebSocket({place.url!r}))")
        assert seen == [["open"], ["close", 1006, "", False]]

    of_lab(tmp_path, use, talk)


@pytest.mark.parametrize(
    ("message", "why"), [("x" * (9 << 20), "frame with 9437184 bytes"), (b"\xff", "invalid start byte")]
)
def test_a_message_that_is_too_large_or_broken_ends_the_connection(tmp_path: Path, message: Any, why: str) -> None:
    async def talk(connection: ServerConnection) -> None:
        with contextlib.suppress(Exception):
            await connection.send(message, text=True)

    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, permissions=[HERE])
        seen = await runtime.evaluate(f"life(new WebSocket({place.url!r}))")
        assert seen == [["open"], ["error"], ["close", 1006, "", False]]
        await lab.host.said(why)

    of_lab(tmp_path, use, talk, compression=None)


def test_a_message_that_is_too_large_to_send_ends_it_too(tmp_path: Path) -> None:
    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, permissions=[HERE])
        source = f"""
          const socket = new WebSocket({place.url!r});
          socket.onopen = () => {{ socket.send(new Uint8Array(9 << 20)); }};
          return life(socket);
        """
        assert await runtime.evaluate(source) == [["open"], ["error"], ["close", 1006, "", False]]
        await lab.host.said("a message of 9437184 bytes is too large")

    of_lab(tmp_path, use)


@pytest.mark.parametrize("status", [301, 401, 200])
def test_redirections_are_not_followed_and_refusals_are_failures(tmp_path: Path, status: int) -> None:
    async def use(lab: Lab) -> None:
        async with serving() as other:
            answer = Response(
                status, HTTPStatus(status).phrase, Headers({"Location": other.url, "Content-Length": "0"})
            )
            async with serving(answer=answer) as place:
                runtime = await lab.start(LIFE, permissions=[HERE])
                seen = await runtime.evaluate(f"life(new WebSocket({place.url!r}))")
                assert seen == [["error"], ["close", 1006, "", False]]
                assert (len(place.asked), other.asked) == (1, [])

    in_lab(tmp_path, use)


def test_sockets_end_with_their_extension(tmp_path: Path) -> None:
    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(permissions=[HERE])
        await runtime.evaluate(
            f"var socket = new WebSocket({place.url!r}); return new Promise(resolve => {{ socket.onopen = resolve; }})"
        )
        await runtime.stop()
        assert await place.codes.get() == 1001

    of_lab(tmp_path, use)


def test_an_event_page_sleeps_though_its_socket_is_busy(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        async with serving() as place:
            await extension.evaluate(f"""
              var socket = new WebSocket({place.url!r});
              socket.onopen = socket.onmessage = () => {{ socket.send("again"); }};
            """)
            assert await place.codes.get() == 1001
            assert extension.runtime is None

    start = {"idle_seconds": 0.3}
    run_made(tmp_path, use, persistent=False, permissions=[HERE], start=start)


# ── Bounds ──


class Slow:
    """A connection to a server that sends without end, and reads nothing."""

    protocol = extensions = ""

    def __init__(self) -> None:
        self.taken = 0
        self.sending = 0

    async def send(self, _: str | bytes) -> None:
        self.sending += 1
        await asyncio.Event().wait()

    async def receive(self) -> str | bytes | SocketClosed:
        self.taken += 1
        return b"x" * 100_000

    async def close(self, code: int | None, reason: str) -> None: ...

    async def close_going_away(self) -> None: ...

    def abort(self, why: str) -> None: ...


async def settle() -> None:
    for _ in range(100):
        await asyncio.sleep(0)


def test_no_more_is_taken_from_a_server_than_the_script_reads() -> None:
    async def main() -> None:
        slow = Slow()

        async def connect(_: SocketRequest) -> Socket:
            return slow

        told: list[Any] = []
        sockets = Sockets(connect, "moz-extension://x", "Agent/1", told.append, lambda _: None)
        sockets.handle("open", 1, ["ws://127.0.0.1/", []])
        await settle()
        assert slow.taken == 11  # the first that is beyond a megabyte
        sockets.handle("read", 1, [told[1][3][1]])
        sockets.handle("read", 1, [told[2][3][1]])
        await settle()
        assert slow.taken == 13
        sockets.close()
        await settle()

    asyncio.run(main())


class Deaf(Slow):
    """A connection to a server that sends nothing, and answers no goodbye."""

    def __init__(self) -> None:
        super().__init__()
        self.dropped = asyncio.Event()

    async def receive(self) -> str | bytes | SocketClosed:
        return await asyncio.Future()

    async def close_going_away(self) -> None:
        await asyncio.Event().wait()

    def abort(self, why: str) -> None:
        self.dropped.set()


def test_a_server_that_does_not_answer_a_goodbye_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hatbox.extensions.runtime.sockets._GOING_AWAY_TIMEOUT", 0.01)

    async def main() -> None:
        deaf = Deaf()

        async def connect(_: SocketRequest) -> Socket:
            return deaf

        sockets = Sockets(connect, "moz-extension://x", "Agent/1", lambda _: None, lambda _: None)
        sockets.handle("open", 1, ["ws://127.0.0.1/", []])
        await settle()
        sockets.close()
        await asyncio.wait_for(deaf.dropped.wait(), 60)

    asyncio.run(main())


def test_a_connection_that_comes_just_as_the_script_ends_is_cut_off() -> None:
    async def main() -> None:
        deaf = Deaf()
        connected = asyncio.get_running_loop().create_future()

        async def connect(_: SocketRequest) -> Socket:
            await connected
            sockets.close()  # before anybody could take it
            return deaf

        sockets = Sockets(connect, "moz-extension://x", "Agent/1", lambda _: None, lambda _: None)
        sockets.handle("open", 1, ["ws://127.0.0.1/", []])
        await settle()
        connected.set_result(None)
        await asyncio.wait_for(deaf.dropped.wait(), 60)

    asyncio.run(main())


@pytest.mark.parametrize("message", [["close", [5, ""]], ["close", [1000, "x" * 200]]])
def test_what_cannot_be_sent_ends_the_connection(message: list[Any]) -> None:
    async def main() -> None:
        async with serving() as place, asyncio.timeout(60):
            told: asyncio.Queue[list[Any]] = asyncio.Queue()
            log: list[str] = []
            network = Network()

            def connect(request: SocketRequest) -> Awaitable[Socket]:
                return network.connect(request, lambda: host_permissions((HERE,)))

            sockets = Sockets(connect, "moz-extension://x", "Agent/1", told.put_nowait, log.append)
            sockets.handle("open", 1, [place.url, []])
            assert (await told.get())[2] == "open"
            sockets.handle(message[0], 1, message[1])
            assert (await told.get())[2:] == ["closed", (1006, "", False, True)]
            assert "sending a message failed" in log[0]

    asyncio.run(main())


def test_it_is_the_permitted_host_that_is_connected_to() -> None:
    """Only a child that has escaped our half of the bridge says this: scripts have their URLs rewritten there."""

    async def main() -> None:
        async with serving() as place:
            url = f"{place.url[:-1]}\\:x@localhost:1/"
            request = SocketRequest(url, [], "moz-extension://x", "Agent/1")
            socket = await Network().connect(request, lambda: host_permissions((HERE,)))
            assert len(place.asked) == 1
            await socket.close_going_away()

    asyncio.run(main())


def test_a_script_that_sends_faster_than_the_server_reads_keeps_it_in_its_own_memory(tmp_path: Path) -> None:
    resume = asyncio.Event()
    got: list[Any] = []

    async def talk(connection: ServerConnection) -> None:
        await resume.wait()
        got.extend([len(message) async for message in connection])

    async def use(lab: Lab, place: Place) -> None:
        runtime = await lab.start(LIFE, permissions=[HERE])
        await runtime.evaluate(f"""
          globalThis.socket = new WebSocket({place.url!r}); globalThis.ended = life(socket);
          await new Promise(resolve => {{ socket.onopen = resolve; }});
          const piece = new Uint8Array(1 << 20);
          for (let i = 0; i < 40; i++) socket.send(piece);
        """)
        (socket,) = runtime._sockets._open.values()
        assert socket._outgoing_size <= 2 << 20
        assert await runtime.evaluate("socket.bufferedAmount") > 20 << 20
        resume.set()
        await runtime.evaluate("socket.close(); return ended")
        assert got == [1 << 20] * 40

    of_lab(tmp_path, use, talk, compression=None, max_queue=1)


def test_a_child_that_does_not_keep_to_the_window_is_ended() -> None:
    async def main() -> None:
        async def connect(_: SocketRequest) -> Socket:
            return Slow()

        sockets = Sockets(connect, "moz-extension://x", "Agent/1", lambda _: None, lambda _: None)
        sockets.handle("open", 1, ["ws://127.0.0.1/", []])
        with pytest.raises(ProtocolError, match="window exceeded"):
            for _ in range(20_000):
                sockets.handle("text", 1, [""])
        sockets.close()
        await settle()

    asyncio.run(main())


def test_no_more_than_two_hundred_at_a_time(tmp_path: Path) -> None:
    async def main() -> None:
        log: list[str] = []
        sockets = Sockets(_never, "moz-extension://x", "Agent/1", lambda _: None, log.append)
        for number in range(1, MAX_SOCKETS + 2):
            sockets.handle("open", number, ["ws://127.0.0.1/", []])
        await settle()
        assert log == ["WebSocket(ws://127.0.0.1/): 200 WebSockets are open"]
        sockets.close()
        await settle()

    asyncio.run(main())


def test_the_class_looks_as_it_does_in_a_browser(tmp_path: Path) -> None:
    members = {"url", "readyState", "bufferedAmount", "extensions", "protocol", "binaryType", "close", "send"}
    members |= {"onopen", "onerror", "onclose", "onmessage", "CONNECTING", "OPEN", "CLOSING", "CLOSED"}

    async def use(lab: Lab) -> None:
        runtime = await lab.start("var s = new WebSocket('ws://127.0.0.1:9/')")
        values = (
            "[s.readyState, s.protocol, s.extensions, s.binaryType, s.bufferedAmount, `${s}`, s instanceof EventTarget]"
        )
        assert await runtime.evaluate(values) == [0, "", "", "blob", 0, "[object WebSocket]", True]
        assert set(await runtime.evaluate("Object.keys(WebSocket.prototype)")) == members
        constants = "[WebSocket.CONNECTING, WebSocket.OPEN, s.CLOSING, WebSocket.prototype.CLOSED, WebSocket.length]"
        assert await runtime.evaluate(constants) == [0, 1, 2, 3, 1]
        assert await runtime.evaluate("Object.keys(globalThis).indexOf('WebSocket')") == -1

    in_lab(tmp_path, use)
