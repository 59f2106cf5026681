"""The host's half of the bridge: messages of one child become calls, listeners, files, requests and lines of the log.

The child is not trusted. A message that our own half would not write ends it; nothing that it says is taken for more
than a wish of its extension. Knows no namespace.
"""

from __future__ import annotations

import asyncio
import base64
import inspect as inspection
import json
import logging
import reprlib
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from hatbox.errors import ApiError, ExtensionTerminated, HatboxError, NetworkError, ScriptError
from hatbox.extensions.runtime.api_description import Description
from hatbox.extensions.runtime.boot import Boot, settings
from hatbox.extensions.runtime.chunks import ChunkAssembler
from hatbox.extensions.runtime.deno import DenoProcess, Exit
from hatbox.extensions.runtime.host import (
    FetchRequest,
    FetchResponse,
    Host,
    LogEntry,
)
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.message_parsing import (
    console_line,
    content_type,
    fetch_request,
    path_in,
    script_error,
    split_path,
    uncaught,
)
from hatbox.extensions.runtime.sockets import Sockets
from hatbox.extensions.runtime.wire_frames import ProtocolError, WireFrame, encode_frame

__all__ = ["Runtime"]

logger = logging.getLogger("hatbox.extensions")

UNEXPECTED: Final = "An unexpected error occurred"
"""What a script is told of an error that is not meant for it. The words are Firefox's."""

_CHUNK_BYTES: Final = (
    3 << 17
)  # bytes of a body that are sent at once, so that nobody waits for a large one; no base64 is cut
_MAX_SCRIPT_BYTES: Final = (
    8 << 20
)  # bytes of one script: an engine with the memory that it has here could not hold more
_LEVELS: Final = frozenset({"log", "info", "warn", "error", "debug"})
# What does not keep an event page awake: that it is alive, and, as in Firefox, WebSocket and localStorage.
_NON_ACTIVITY_MESSAGES: Final = frozenset({"pong", "w", "ls"})
_KINDS: Final = frozenset({"error", "rejection", "listener"})


class Runtime:
    """One extension's scripts, running in a child of their own."""

    def __init__(self, host: Host, boot: Boot, limits: RuntimeLimits) -> None:
        self._host = host
        self._boot = boot
        self._limits = limits
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._listeners: dict[int, _ScriptListener] = {}
        self._asked: dict[int, asyncio.Future[Any]] = {}
        self._numbers = 0
        self._under_way: dict[int, asyncio.Future[Any]] = {}
        self._replies: list[Any] = []
        self._flush_scheduled = False
        self._waiting: deque[tuple[WireFrame, int]] = deque()
        """Frames that are not handled yet, and which of their messages is next."""
        self._waiting_size = 0
        self._writable = True
        self._caught_up = asyncio.Event()
        self._caught_up.set()
        self._reading = asyncio.Lock()
        """Held while a file of the package is read and sent: one at a time, because each may be large."""
        self._continuing = False
        self._sockets = Sockets(host.connect, boot.base[:-1], boot.user_agent, self._send_soon, self._warn)
        self._pieces = ChunkAssembler()
        self.on_script: Callable[[], None] = lambda: None
        """Called when a script of the package is on its way to the child."""
        self.last_activity = self._loop.time()
        """When the script last said something, or was told of an event, by the loop's clock."""
        self.dispatched_events = 0
        """How often it was told of one."""

    @classmethod
    async def start(
        cls,
        host: Host,
        boot: Boot,
        limits: RuntimeLimits | None = None,
        *,
        inspect: bool = False,
        unsafe_eval: bool = False,
        child: DenoProcess | None = None,
    ) -> Runtime:
        """Start a child, ready to run scripts. Raises ExtensionTerminated if it does not get that far.

        A `child` that was started ahead, with the same options, is taken for it.
        """
        runtime = cls(host, boot, limits or RuntimeLimits())
        if child is None:
            child = await DenoProcess.start(runtime._limits, inspect=inspect, unsafe_eval=unsafe_eval)
        child.receiver = runtime
        runtime.process = child
        child.exited.add_done_callback(runtime._ended)
        runtime._send(["boot", settings(boot, runtime._limits)])
        try:
            await asyncio.wait_for(asyncio.shield(runtime._ready), runtime._limits.start_timeout)
        except TimeoutError:
            child.end(Exit("unresponsive", f"not ready after {runtime._limits.start_timeout:g} s"))
            raise ExtensionTerminated(
                f"the extension's process was not ready in {runtime._limits.start_timeout:g} s"
            ) from None
        except asyncio.CancelledError:
            child.end(Exit("stopped"))
            await child.exited
            raise
        child.ready()
        if not inspect:  # one that stands at a breakpoint does not answer, and that is no fault of its own
            child.watch()
        return runtime

    process: DenoProcess

    @property
    def exited(self) -> asyncio.Future[Exit]:
        """Done when the child has ended, with the reason."""
        return self.process.exited

    @property
    def pending_calls(self) -> int:
        """How many calls of the script the host has not answered yet."""
        return len(self._under_way)

    @property
    def pending_responses(self) -> int:
        """How many answers the script owes: of listeners that are not done, for the most part."""
        return len(self._asked)

    # ── What the host asks of the child ──

    async def run_scripts(self, paths: Sequence[str]) -> None:
        """Run classic scripts of the package, in order and in one scope. What fails is logged, and the next runs."""
        for path in paths:
            await self._run_classic("script", path)

    async def run_worker(self, path: str) -> None:
        """Run the script of a service worker, for which Boot.worker is `classic`. Once; what fails is logged."""
        await self._run_classic("worker", path)

    async def run_module(self, path: str) -> None:
        """Run a module of the package, with all that it imports, until its top level is done. What fails is logged."""
        await self._run("module", self.url(path))

    def loaded(self) -> None:
        """Tell the page that all its scripts have run."""
        self._send(["loaded"])

    async def evaluate(self, source: str, *, inspect: bool = False, within: float | None = None) -> Any:
        """Run an expression, or statements, in the extension's global scope, and return the result as JSON makes it.

        `await` may be used; among statements, `return` gives the result. With `inspect` it is text for people.
        Raises ScriptError for what is thrown.
        """
        text = await self._ask(["evaluate", source, "inspect" if inspect else "json"], within)
        try:
            return text if inspect else json.loads(text)
        except RecursionError:
            raise ScriptError("The result is nested too deeply.", "RangeError") from None

    def update_namespaces(self, description: Description) -> None:
        """Show the namespaces of a description, and no others: permissions have been granted or revoked."""
        self._send(["show", description])

    async def dispatch_event(
        self, path: str, arguments: Sequence[Any], *, wait: bool = True, within: float | None = None
    ) -> list[Any] | None:
        """Call all listeners of an event; with `wait`, what they return, without those that threw or took too long.

        None if there are none.
        """
        listeners = [each for each in self._listeners.values() if each.path == path]
        if not listeners:
            return None
        if not wait:
            for listener in listeners:
                listener.notify(*arguments)
            return []
        answers = await asyncio.gather(
            *(listener.call(*arguments, within=within) for listener in listeners), return_exceptions=True
        )
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(
                answer, (ScriptError, TimeoutError, ExtensionTerminated)
            ):
                raise answer
        return [answer for answer in answers if not isinstance(answer, BaseException)]

    def has_listener(self, path: str) -> bool:
        """Whether a script listens to an event."""
        return self.listeners(path) > 0

    def listeners(self, path: str) -> int:
        """How many listeners of an event there are."""
        return sum(each.path == path for each in self._listeners.values())

    async def stop(self, grace: float = 1.0) -> Exit:
        """End the child. What it has written to localStorage until now counts, if it still answers."""
        if self.process.running and self._boot.local_storage is not None:
            with suppress(TimeoutError, ScriptError, ExtensionTerminated):
                await self._ask(["flush"], grace / 2)
        return await self.process.stop(grace)

    def url(self, path: str) -> str:
        """The moz-extension:// URL of a file."""
        return self._boot.base + path.removeprefix("/")

    async def _run_classic(self, kind: str, path: str) -> None:
        source = await self._text(path)
        if source is None:
            failed = f"Loading failed for the <script> with source “{self.url(path)}”."
            self._log(LogEntry("error", "error", failed))
        else:
            await self._run(kind, self.url(path), source)

    async def _run(self, kind: str, *details: Any) -> None:
        asked = self._ask([kind, *details], None)
        self.on_script()
        try:
            await asked
        except ScriptError as error:
            self._host.log(LogEntry("error", "error", str(error), error.file, error.line, error.column, error.stack))

    def _ask(self, message: list[Any], within: float | None) -> Awaitable[Any]:
        """Send a message with a number, now, and wait for the answer that bears it when that is awaited.

        At once, because who is asked first must hear first, also where nobody waits for the first one's answer.
        """
        self._numbers += 1
        number = self._numbers
        answer: asyncio.Future[Any] = self._loop.create_future()
        if self.process.running:
            self._asked[number] = answer
            kind, *details = message
            self._send([kind, number, *details])
        else:
            answer.set_exception(ExtensionTerminated(_gone(self.process)))
        return self._answer(number, answer, within)

    async def _answer(self, number: int, answer: asyncio.Future[Any], within: float | None) -> Any:
        try:
            async with asyncio.timeout(within):
                return await answer
        finally:
            self._asked.pop(number, None)

    def _send(self, message: list[Any]) -> None:
        """Send a message, behind the answers that wait to be sent: the order is what the script sees."""
        self._replies.append(message)
        self._flush()

    def _send_soon(self, message: list[Any]) -> None:
        """Send it with what else comes up in this turn of the loop."""
        self._replies.append(message)
        if not self._flush_scheduled:
            self._flush_scheduled = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_scheduled = False
        messages = self._replies
        if messages:
            self._replies = []
            try:
                frame = encode_frame(messages)
            except (TypeError, ValueError, NotImplementedError, RecursionError):
                frame = encode_frame([_encodable(message) for message in messages])
            self.process.send(frame)

    # ── What the child says ──

    def received(self, frames: Sequence[WireFrame]) -> None:
        """Frames have come. They are handled at once, unless others wait or the child does not read its answers."""
        if len(frames) == 1 and len(frames[0].messages) == 1 and not self._waiting and self._writable:
            self._handle(frames[0].messages[0])  # one call, as nearly always: this is all that it costs
            self._flush()
            return
        for frame in frames:
            self._waiting.append((frame, 0))
            self._waiting_size += frame.size
        if not self._continuing:
            self._work()
        if self._waiting_size > self._limits.max_receive_buffer:
            self.process.end(Exit("unresponsive", "it asks, and does not read the answers"))

    def writable(self, ready: bool) -> None:
        """Hold what the child asks while it does not read what it is answered."""
        self._writable = ready
        if ready:
            self._caught_up.set()
            self._continue()
        else:
            self._caught_up.clear()

    def _continue(self) -> None:
        if self._waiting and not self._continuing:
            self._continuing = True
            self._loop.call_soon(self._resume)

    def _resume(self) -> None:
        self._continuing = False
        try:
            self._work()
        except ProtocolError as error:
            self.process.end(Exit("protocol", str(error)))

    def _work(self) -> None:
        """Handle messages, for as long as one child may keep the loop."""
        deadline = time.perf_counter() + self._limits.time_slice
        waiting = self._waiting
        while waiting and self._writable and self.process.running:
            frame, first = waiting.popleft()
            self._waiting_size -= frame.size
            if len(frame.messages) == 1:
                done = self._handle_some(frame.messages, first, deadline)
            else:
                with self._host.shared_snapshot():
                    done = self._handle_some(frame.messages, first, deadline)
            if done < len(frame.messages):
                waiting.appendleft((frame, done))
                self._waiting_size += frame.size
                self._continue()
            self._flush()  # with each frame, so that the child reads the first answers while the next are made
            if self._continuing:
                break

    def _handle_some(self, messages: list[Any], first: int, deadline: float) -> int:
        """Handle messages until it is time to stop; returns which one is next."""
        for index in range(first, len(messages)):
            if time.perf_counter() > deadline:
                return index
            self._handle(messages[index])
        return len(messages)

    def _handle(self, message: Any) -> None:
        if type(message) is list and len(message) == 4 and message[0] == "c":  # a quick look at what comes most often
            _, number, path, arguments = message
            if type(number) is int and type(path) is str and type(arguments) is list:
                self.last_activity = self._loop.time()
                self._call(number, path, arguments)
                return
        if type(message) is list and message and message[0] not in _NON_ACTIVITY_MESSAGES:
            self.last_activity = self._loop.time()
        match message:
            case ["c", int(number), str(path), list(arguments)]:
                self._call(number, path, arguments)
            case ["c", int(number), str(path), list(arguments), True]:
                self._call(number, path, arguments, user_input=True)
            case ["a", int(number), bool(ok), value]:
                self._answered(number, ok, value)
            case ["l", str(path), int(number), True, list(extra)]:
                self._listen(path, number, extra)
            case ["l", str(_), int(number), False]:
                self._unlisten(number)
            case ["log", str(level), str(text), place] if level in _LEVELS:
                self._log(console_line(level, text, place))
            case ["x", str(kind), dict(error)] if kind in _KINDS:
                self._log(uncaught(kind, error))
            case ["s", int(number), str(url)]:
                self._begin(number, self._source(url))
            case ["f", int(number), dict(request)]:
                self._begin(number, self._fetch(number, fetch_request(request)))
            case ["w", str(what), int(number), *details]:
                self._sockets.handle(what, number, details)
            case ["ls", bool(last), str(piece)]:
                self._store_locally(piece, last)
            case ["k", int(number)]:
                self._cancel(number)
            case ["pong", int(number)]:
                self.process.ponged(number)
            case ["ready"]:
                if not self._ready.done():
                    self._ready.set_result(None)
            case _:
                raise ProtocolError(f"a message that means nothing: {reprlib.repr(message)}")

    # ── Calls ──

    def _call(self, number: int, path: str, arguments: list[Any], *, user_input: bool = False) -> None:
        namespace, member = split_path(path)
        try:
            call = self._host.call_with_user_input if user_input else self._host.call
            reply = call(namespace, member, arguments)
        except Exception as error:  # noqa: BLE001 - the script gets it
            self._replies.append(["r", number, False, self._error_message(error)])
            return
        if isinstance(reply, asyncio.Future):
            if reply.done():  # what only reads is answered in the same breath
                self._replies.append(self._reply(number, reply))
                return
        elif not inspection.isawaitable(reply):  # nothing to wait for
            self._replies.append(["r", number, True, reply])
            return
        self._begin(number, reply)

    def _begin(self, number: int, reply: Awaitable[Any]) -> None:
        """Answer when it is done."""
        future = asyncio.ensure_future(reply)
        if number in self._under_way:
            future.cancel()
            raise ProtocolError(f"the call number {number} twice")
        self._under_way[number] = future
        future.add_done_callback(lambda done: self._done(number, done))
        if len(self._under_way) > self._limits.calls:
            self.process.set_reading(False)

    def _done(self, number: int, done: asyncio.Future[Any]) -> None:
        del self._under_way[number]
        if not self.process.running:
            if not done.cancelled():
                done.exception()  # nobody will ever ask
            return
        message = self._reply(number, done)
        if self._under_way:
            self._send_soon(message)
            if len(self._under_way) <= self._limits.calls // 2:
                self.process.set_reading(True)
        else:  # the last one: nothing else will come up to share its frame
            self._send(message)

    def _reply(self, number: int, done: asyncio.Future[Any]) -> list[Any]:
        try:
            return ["r", number, True, done.result()]
        except asyncio.CancelledError:
            return ["r", number, False, UNEXPECTED]
        except Exception as error:  # noqa: BLE001 - the script gets it
            return ["r", number, False, self._error_message(error)]

    def _error_message(self, error: Exception) -> str:
        """What a script is told of an error: only what was meant for it."""
        if isinstance(error, (ApiError, NetworkError)):
            return str(error)
        logger.error("a call of %s failed", self._boot.extension_id, exc_info=error)
        return UNEXPECTED

    def _cancel(self, number: int) -> None:
        if number in self._under_way:
            self._under_way[number].cancel()

    # ── Listeners ──

    def _listen(self, path: str, number: int, extra: list[Any]) -> None:
        if number in self._listeners or len(self._listeners) >= self._limits.listeners:
            raise ProtocolError("too many listeners, or one twice")
        listener = _ScriptListener(self, path, number)
        try:
            self._host.add_listener(listener, extra)
        except Exception as error:  # noqa: BLE001 - addListener has returned long ago; all that is left is to tell
            self._log(LogEntry("error", "error", f"{path}.addListener: {self._error_message(error)}"))
        else:
            self._listeners[number] = listener

    def _event_dispatched(self) -> None:
        self.last_activity = self._loop.time()
        self.dispatched_events += 1

    def _unlisten(self, number: int) -> None:
        listener = self._listeners.pop(number, None)
        if listener is not None:
            try:
                self._host.remove_listener(listener)
            except Exception:
                logger.exception("a listener of %s was removed", self._boot.extension_id)

    def _answered(self, number: int, ok: bool, value: Any) -> None:
        answer = self._asked.get(number)
        if answer is None or answer.done():
            return  # whoever asked has not waited
        if ok:
            answer.set_result(value)
        else:
            answer.set_exception(script_error(value))

    # ── Files, requests, the log ──

    async def _source(self, url: str) -> str | None:
        path = path_in(self._boot.base, url)
        return None if path is None else await self._text(path)

    async def _text(self, path: str) -> str | None:
        """The source of a script. Read in a thread, because unpacking takes as long as whoever packed it wanted."""
        source = await asyncio.to_thread(self._host.read_file, path)
        if source is not None and len(source) > _MAX_SCRIPT_BYTES:
            self._log(LogEntry("error", "error", f"{self.url(path)} is larger than {_MAX_SCRIPT_BYTES >> 20} MiB."))
            return None
        return None if source is None else source.decode("utf-8-sig", "replace")

    async def _fetch(self, number: int, request: FetchRequest) -> dict[str, Any]:
        try:
            if request.url.startswith(self._boot.base):
                async with self._reading:
                    return await self._answer_in_pieces(number, await self._local(request))
            return await self._answer_in_pieces(number, await self._host.fetch(self._with_user_agent(request)))
        except HatboxError as error:
            self._warn(f"fetch({request.url[:200]}): {error}")
            raise

    def _with_user_agent(self, request: FetchRequest) -> FetchRequest:
        """The request, from what `navigator` says that it is, unless the script has said otherwise."""
        if any(name.lower() == "user-agent" for name, _ in request.headers):
            return request
        return request._replace(headers=[*request.headers, ("User-Agent", self._boot.user_agent)])

    async def _answer_in_pieces(self, number: int, response: FetchResponse) -> dict[str, Any]:
        """What is answered to a request; of a large body all but the last piece goes ahead, as the child reads it."""
        body, start = memoryview(response.body), 0
        while len(body) - start > _CHUNK_BYTES:
            await self._caught_up.wait()
            self._send(["b", number, _base64(body[start : start + _CHUNK_BYTES])])
            start += _CHUNK_BYTES
            await asyncio.sleep(0)
        return {
            "url": response.url,
            "status": response.status,
            "statusText": response.status_text,
            "headers": response.headers,
            "redirected": response.redirected,
            "body": _base64(body[start:]),
        }

    async def _local(self, request: FetchRequest) -> FetchResponse:
        path = path_in(self._boot.base, request.url)
        body = None if path is None else await asyncio.to_thread(self._host.read_file, path)
        if body is None:
            raise NetworkError(f"the package has no file {path}")
        return FetchResponse(request.url, 200, "OK", [("content-type", content_type(path or ""))], False, body)

    def _store_locally(self, piece: str, last: bool) -> None:
        change = self._pieces.add(piece, last=last)
        if change is not None and not self._host.change_local_storage(*change):
            raise ProtocolError("more in localStorage than there is room for")

    def _warn(self, text: str) -> None:
        self._log(LogEntry("console", "warn", text))

    def _log(self, entry: LogEntry) -> None:
        try:
            self._host.log(entry)
        except Exception:
            logger.exception("the log of %s", self._boot.extension_id)

    # ── The end ──

    def _ended(self, _: asyncio.Future[Exit]) -> None:
        gone = ExtensionTerminated(_gone(self.process))
        if not self._ready.done():
            self._ready.set_exception(gone)
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(gone)
        for reply in list(self._under_way.values()):
            reply.cancel()
        self._waiting.clear()
        self._sockets.close()
        for number in list(self._listeners):
            self._unlisten(number)


class _ScriptListener:
    """A listener of a script, as the host calls it."""

    def __init__(self, runtime: Runtime, path: str, number: int) -> None:
        self.path = path
        self._runtime = runtime
        self._number = number

    def notify(self, *arguments: Any) -> None:
        """Call it, and do not wait."""
        self._runtime._event_dispatched()
        self._runtime._send_soon(["e", 0, self._number, arguments])

    def call(self, *arguments: Any, within: float | None = None) -> Awaitable[Any]:
        """Call it; what it returns can be waited for."""
        self._runtime._event_dispatched()
        return self._runtime._ask(["e", self._number, arguments], within)


def _base64(data: memoryview) -> str:
    return base64.b64encode(data).decode("ascii")


def _gone(process: DenoProcess) -> str:
    exited = process.exited
    return f"the extension's process has ended: {exited.result() if exited.done() else 'it was stopped'}"


def _encodable(message: list[Any]) -> list[Any]:
    """The message, or what stands for an answer that cannot be sent."""
    try:
        encode_frame([message])
    except (TypeError, ValueError, NotImplementedError, RecursionError) as error:
        logger.error("a message cannot be sent to a script: %s", error)
        return ["r", message[1], False, UNEXPECTED] if message[0] == "r" else ["nothing"]
    return message
