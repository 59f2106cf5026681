"""The host side of the bridge: one extension process, and the parts that handle its messages (protocol.py).

The process is not trusted: an invalid message ends it. Knows no namespace by name.
"""

from __future__ import annotations

import asyncio
import json
import logging
import reprlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from hatbox.errors import ExtensionTerminated, ScriptError
from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.api_description import Description
from hatbox.extensions.runtime.boot import Boot, settings
from hatbox.extensions.runtime.deno import DenoProcess
from hatbox.extensions.runtime.exit_reason import Exit
from hatbox.extensions.runtime.fair_turns import FairTurns
from hatbox.extensions.runtime.host import Host, LogEntry
from hatbox.extensions.runtime.host_requests import HostRequests
from hatbox.extensions.runtime.incoming_messages import IncomingMessages
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.message_parsing import console_line, fetch_request, uncaught
from hatbox.extensions.runtime.outgoing_messages import OutgoingMessages
from hatbox.extensions.runtime.script_calls import ScriptCalls
from hatbox.extensions.runtime.script_connection import ScriptConnection
from hatbox.extensions.runtime.script_listeners import ScriptListeners
from hatbox.extensions.runtime.script_resources import ScriptResources
from hatbox.extensions.runtime.sockets import Sockets
from hatbox.extensions.runtime.wire_frames import ProtocolError, encode_frame

__all__ = ["ChunkAssembler", "Runtime", "Watchdog"]

logger = logging.getLogger("hatbox.extensions")

_LEVELS: Final = frozenset({"log", "info", "warn", "error", "debug"})
_KINDS: Final = frozenset({"error", "rejection", "listener"})
_CALLS: Final = frozenset({protocol.CALL, protocol.READ_SOURCE, protocol.FETCH, protocol.INDEXED_DB})
_MAX_CHARACTERS: Final = 64 << 20  # the quota of five million code units, each escaped as \uXXXX, and a reserve


class Runtime:
    """The scripts of one extension, running in a process of their own."""

    def __init__(self, host: Host, boot: Boot, limits: RuntimeLimits, connection: ScriptConnection) -> None:
        self.connection = connection
        """Where the scripts run."""
        self._host = host
        self._boot = boot
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._outgoing = OutgoingMessages(connection)
        extension = FairTurns.of_loop().of_extension(boot.extension_id)
        self._incoming = IncomingMessages(
            connection, limits, self._handle, self._outgoing.flush, host.shared_snapshot, extension, _is_call
        )
        self._requests = HostRequests(connection, self._outgoing)
        self._calls = ScriptCalls(host, boot.extension_id, limits, connection, self._outgoing, self._incoming)
        self.listeners = ScriptListeners(
            host,
            boot.extension_id,
            limits.listeners,
            self._requests,
            self._outgoing,
            log=self._log,
            on_dispatch=self.touch,
        )
        """The event listeners of the scripts."""
        self._resources = ScriptResources(host, boot, self._outgoing, self._incoming.drained, self._log)
        self._sockets = Sockets(host.connect, boot.base[:-1], boot.user_agent, self._outgoing.send_soon, self._warn)
        self._local_storage_chunks = ChunkAssembler()
        self._watchdog = Watchdog(connection, limits.ping_timeout, lambda: self._incoming.is_host_behind)
        self.on_script: Callable[[], None] = lambda: None
        """Called when a script of the package was sent to the process."""
        self.last_activity = self._loop.time()
        """When a script last sent a message or received an event, by the clock of the event loop."""
        connection.receiver = self._incoming
        connection.exited.add_done_callback(self._on_exit)

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
        """Start a process that is ready to run scripts, or use `child`, which was started with the same options.

        Raises ExtensionTerminated if the process does not become ready.
        """
        limits = limits or RuntimeLimits()
        process = child or await DenoProcess.start(limits, inspect=inspect, unsafe_eval=unsafe_eval)
        runtime = cls(host, boot, limits, process)
        runtime._outgoing.send([protocol.BOOT, settings(boot, limits)])
        try:
            await asyncio.wait_for(asyncio.shield(runtime._ready), limits.start_timeout)
            process.limit_resources()
        except TimeoutError:
            process.end(Exit("unresponsive", f"not ready after {limits.start_timeout:g} s"))
            await process.exited  # the caller may close the event loop next
            raise ExtensionTerminated(f"the extension process was not ready after {limits.start_timeout:g} s") from None
        except BaseException:
            process.end(Exit("stopped"))
            await process.exited
            raise
        if not inspect:  # a process at a breakpoint does not respond to pings
            runtime.watch()
        return runtime

    def watch(self) -> None:
        """Ping the scripts from now on, and end the connection if they do not respond."""
        self._watchdog.start()

    @property
    def process(self) -> DenoProcess:
        """The extension process. Raises TypeError if the scripts run elsewhere."""
        if not isinstance(self.connection, DenoProcess):
            raise TypeError("the scripts do not run in an extension process")
        return self.connection

    @property
    def exited(self) -> asyncio.Future[Exit]:
        """Done when the connection to the scripts has ended, with the reason."""
        return self.connection.exited

    @property
    def pending_calls(self) -> int:
        """The number of requests of scripts that the host has not answered."""
        return len(self._calls)

    @property
    def pending_responses(self) -> int:
        """The number of requests of the host without a response: mostly listeners that have not finished."""
        return len(self._requests)

    def touch(self) -> None:
        """Record activity, which delays the suspension of an event page."""
        self.last_activity = self._loop.time()

    async def run_scripts(self, paths: Sequence[str]) -> None:
        """Run classic scripts of the package, in order and in one scope. An error is logged, and the next one runs."""
        for path in paths:
            await self._run_classic(protocol.RUN_SCRIPT, path)

    async def run_worker(self, path: str) -> None:
        """Run the script of a service worker once; `Boot.worker` must be `classic`. An error is logged."""
        await self._run_classic(protocol.RUN_WORKER, path)

    async def run_module(self, path: str) -> None:
        """Run a module of the package with its imports, until its top level has completed. An error is logged."""
        await self._run(protocol.RUN_MODULE, self.url(path))

    def fire_load(self) -> None:
        """Fire the `load` event of the background page: all scripts have run."""
        self._outgoing.send([protocol.LOADED])

    async def evaluate(self, source: str, *, inspect: bool = False, timeout: float | None = None) -> Any:
        """Run an expression or statements in the global scope. Returns the result as JSON data.

        `await` is allowed; statements return a value with `return`. With `inspect` the result is readable text.
        Raises ScriptError for what the code throws.
        """
        form = "inspect" if inspect else "json"
        text = await self._requests.send(protocol.EVALUATE, source, form, timeout=timeout)
        try:
            return text if inspect else json.loads(text)
        except RecursionError:
            raise ScriptError("The result is nested too deeply.", "RangeError") from None

    def update_namespaces(self, description: Description) -> None:
        """Replace the namespaces that scripts see: permissions were granted or revoked."""
        self._outgoing.send([protocol.NAMESPACES, description])

    def change_local_storage(self, key: str | None, value: str | None) -> None:
        """Apply a change that another page of the extension made in localStorage, and fire `storage`."""
        if self._boot.local_storage is not None:
            self._outgoing.send([protocol.LOCAL_STORAGE, key, value])

    async def flush(self, timeout: float | None = None) -> None:
        """Wait until the messages that scripts have sent so far are handled.

        Raises TimeoutError, and ExtensionTerminated if the scripts end first.
        """
        await self._requests.send(protocol.FLUSH, timeout=timeout)

    async def stop(self, timeout: float = 1.0) -> Exit:
        """End the process. Changes to localStorage made so far are saved if it still responds."""
        if self.connection.running and self._boot.local_storage is not None:
            with suppress(TimeoutError, ScriptError, ExtensionTerminated):
                await self.flush(timeout / 2)
        return await self.connection.stop(timeout)

    def url(self, path: str) -> str:
        """The moz-extension:// URL of a file."""
        return self._boot.base + path.removeprefix("/")

    async def _run_classic(self, kind: str, path: str) -> None:
        source = await self._resources.source(path)
        if source is None:
            failed = f"Loading failed for the <script> with source “{self.url(path)}”."
            self._log(LogEntry("error", "error", failed))
        else:
            await self._run(kind, self.url(path), source)

    async def _run(self, kind: str, *fields: Any) -> None:
        result = self._requests.send(kind, *fields)
        self.on_script()
        try:
            await result
        except ScriptError as error:
            self._host.log(LogEntry("error", "error", str(error), error.file, error.line, error.column, error.stack))

    def _handle(self, message: Any) -> None:
        # The most frequent message without `match`, whose class patterns take longer than the rest of the bridge.
        if type(message) is list and len(message) == 4 and message[0] == protocol.CALL:
            _, request_id, path, arguments = message
            if type(request_id) is int and type(path) is str and type(arguments) is list:
                self.last_activity = self._loop.time()
                self._calls.call(request_id, path, arguments)
                return
        match message:
            case [protocol.RESPONSE, int(request_id), bool(ok), value]:
                self._requests.resolve(request_id, ok, value)
            case [protocol.CALL, int(request_id), str(path), list(arguments), True]:
                self._calls.call(request_id, path, arguments, user_input=True)
            case [protocol.LISTENER, str(path), int(listener_id), True, list(extra)]:
                self.listeners.add(path, listener_id, extra)
            case [protocol.LISTENER, str(_), int(listener_id), False]:
                self.listeners.remove(listener_id)
            case [protocol.LOG, str(level), str(text), location] if level in _LEVELS:
                self._log(console_line(level, text, location))
            case [protocol.UNCAUGHT, str(kind), dict(error)] if kind in _KINDS:
                self._log(uncaught(kind, error))
            case [protocol.READ_SOURCE, int(request_id), str(url)]:
                self._calls.respond(request_id, self._resources.source_at(url))
            case [protocol.FETCH, int(request_id), dict(request)]:
                self._calls.respond(request_id, self._resources.fetch(request_id, fetch_request(request)))
            case [protocol.CANCEL, int(request_id)]:
                self._calls.cancel(request_id)
            case [protocol.READY]:
                if not self._ready.done():
                    self._ready.set_result(None)
            case _:
                self._handle_non_activity(message)
                return
        self.touch()

    def _handle_non_activity(self, message: Any) -> None:
        """Handle a message that does not delay the suspension of an event page, as in Firefox."""
        match message:
            case [protocol.PONG, int(number)]:
                self._watchdog.on_pong(number)
            case [protocol.SOCKET, str(kind), int(socket_id), *fields]:
                self._sockets.handle(kind, socket_id, fields)
            case [protocol.LOCAL_STORAGE, bool(last), str(chunk)]:
                change = self._local_storage_chunks.add(chunk, last=last)
                if change is not None and not self._host.change_local_storage(*change):
                    raise ProtocolError("localStorage quota exceeded")
            case [protocol.INDEXED_DB, int(request_id), str(operation), list(fields)]:
                self._calls.use_indexed_db(request_id, operation, fields)
            case _:
                raise ProtocolError(f"invalid message: {reprlib.repr(message)}")

    def _warn(self, text: str) -> None:
        self._log(LogEntry("console", "warn", text))

    def _log(self, entry: LogEntry) -> None:
        try:
            self._host.log(entry)
        except Exception:
            logger.exception("writing a console message of %s failed", self._boot.extension_id)

    def _on_exit(self, _: asyncio.Future[Exit]) -> None:
        if not self._ready.done():
            self._ready.set_exception(self._requests.termination())
            self._ready.exception()  # retrieved: nothing waits for it if the scripts run in a document
        self._watchdog.stop()
        self._requests.fail_all()
        self._calls.cancel_all()
        self._incoming.clear()
        self._sockets.close()
        self.listeners.remove_all()


def _is_call(message: Any) -> bool:
    return type(message) is list and bool(message) and type(message[0]) is str and message[0] in _CALLS


class ChunkAssembler:
    """Joins the chunks of a change. They are not trusted.

    A change of localStorage can be larger than a frame.
    """

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self._size = 0

    def add(self, chunk: str, *, last: bool) -> tuple[str | None, str | None] | None:
        """The complete change: a key and its value, or None if it is removed; no key if all are removed."""
        self._chunks.append(chunk)
        self._size += len(chunk)
        if self._size > _MAX_CHARACTERS:
            raise ProtocolError("localStorage change is too large")
        if not last:
            return None
        text, self._chunks, self._size = "".join(self._chunks), [], 0
        try:
            change = json.loads(text)
        except (ValueError, RecursionError):
            change = None
        match change:
            case [str() as key, str() | None as value]:
                return key, value
            case [None, None]:
                return None, None
        raise ProtocolError("invalid localStorage change")


class Watchdog:
    """Pings a process every `timeout` seconds, except while the host does not read from it.

    `is_host_behind` returns whether messages of the process, of which the response may be one, wait for the host.
    """

    def __init__(self, connection: ScriptConnection, timeout: float, is_host_behind: Callable[[], bool]) -> None:
        self._connection = connection
        self._timeout = timeout
        self._is_host_behind = is_host_behind
        self._timer: asyncio.TimerHandle | None = None
        self._pings = 0
        self._pongs = 0

    def start(self) -> None:
        """Send the first ping."""
        self._ping()

    def on_pong(self, number: int) -> None:
        """The process responded to a ping."""
        self._pongs = max(self._pongs, min(number, self._pings))

    def stop(self) -> None:
        """Send no more pings."""
        if self._timer:
            self._timer.cancel()

    def _ping(self) -> None:
        if not self._connection.running:
            return
        if self._connection.reading and not self._is_host_behind():
            if self._pongs < self._pings:
                self._connection.end(Exit("unresponsive", f"no response within {self._timeout:g} s"))
                return
            self._pings += 1
            self._connection.send(encode_frame([[protocol.PING, self._pings]]))
        self._timer = asyncio.get_running_loop().call_later(self._timeout, self._ping)
