"""Asks a running engine, in whichever process of this machine, for a CDP endpoint of an identity.

The program appends ENDPOINT_REQUESTED to the change log, and the engine that serves the identity answers with
ENDPOINT_ANSWERED: a port, or an error. ENDPOINT_RELEASED ends it, and so does the end of the program's process. Nothing
of it is stored in tables. A token itself is never written: the request has its hash, or says that grants decide.
Programs that are attached to an engine also ask it to answer when it has applied changes: WAIT_REQUESTED.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import time
import uuid
from typing import Final, Literal, Protocol, TypeAlias

import msgspec

from hatbox.engines.endpoint_options import NO_OPTIONS, EndpointOptions
from hatbox.engines.running_engines import ENGINES_CHANGED, RunningEngine, busy, has_lease
from hatbox.errors import EngineError, ProfileError
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.store.processes import ProcessId, current_process, current_user, program_name
from hatbox.store.recorded_calls import unrecorded

__all__ = [
    "ANSWER_TIMEOUT",
    "CHROMIUM",
    "ENDPOINT_ANSWERED",
    "ENDPOINT_RELEASED",
    "ENDPOINT_REQUESTED",
    "WAIT_REQUESTED",
    "AwaitedState",
    "EndpointAnswer",
    "EndpointRequest",
    "RequestedEndpoint",
    "WaitRequest",
    "answer_request",
    "decode_answer",
    "decode_release",
    "decode_request",
    "decode_wait",
    "engine_ended",
    "expect_reachable",
    "hash_token",
    "release_request",
    "request_endpoint",
    "request_wait",
    "send_request",
]

logger = logging.getLogger("hatbox.engines")

WAIT_TIMEOUT: Final = 120.0
"""Seconds until a request to wait fails: pages that do not respond are given up earlier."""
_POLL_SECONDS: Final = 1.0  # between two checks whether the engine has ended

ENDPOINT_REQUESTED: Final = "endpoints.requested"
"""The topic of a request. Its payload is an EndpointRequest."""
ENDPOINT_ANSWERED: Final = "endpoints.answered"
"""The topic of an answer. Its payload is an EndpointAnswer."""
ENDPOINT_RELEASED: Final = "endpoints.released"
"""The topic of the end of a request. Its payload is the id of the request."""
WAIT_REQUESTED: Final = "endpoints.wait"
"""The topic of a request to answer later. Its payload is a WaitRequest."""

AwaitedState: TypeAlias = Literal["ready", "settled", "synced"]
"""What an engine waits for: its browser; see also EngineRunner.wait_until_settled, ChromiumRunner.wait_until_synced."""

ANSWER_TIMEOUT: Final = 30.0
"""Seconds until a request without an answer fails. An engine that is starting answers when its browser runs."""
CHROMIUM: Final = "Chromium"
"""The name of the engine that has endpoints."""


class EndpointRequest(msgspec.Struct, frozen=True):
    """The request for an endpoint of one identity. `id` is random, and repeated in the answer."""

    id: str
    cookie_store_id: str
    process: ProcessId
    """The program. The endpoint is closed when it ends."""
    expires: float
    """When the program waits no longer, in seconds since 1970. Both run on one machine."""
    since: float
    """When the engine was started, as its record says: which engine is meant."""
    token_hash: str = ""
    """The SHA-256 of the token of its clients, in hexadecimal; see hash_token. Empty: clients have grants."""
    run: str = ""
    """The run to which pages belong that the clients open: their tabs are closed with it. Empty: they stay open."""
    program: str = ""
    """The name of the program, for people."""
    options: EndpointOptions = NO_OPTIONS


class WaitRequest(msgspec.Struct, frozen=True):
    """The request to answer when the engine has applied the changes so far."""

    id: str
    process: ProcessId
    since: float
    """As in EndpointRequest."""
    state: AwaitedState


class EndpointAnswer(msgspec.Struct, frozen=True):
    """The answer of the engine: the port on 127.0.0.1, or an error."""

    id: str
    port: int = 0
    error: str = ""
    knows_options: bool = False
    """Whether the version of the engine has EndpointRequest.options."""


class SentRequest(Protocol):
    """A request. It is encoded as JSON."""

    @property
    def id(self) -> str:
        """Random, and repeated in the answer."""


class RequestedEndpoint:
    """An endpoint that an engine has opened for this program. Close it when it is not needed any more."""

    def __init__(self, store: Store, request_id: str, engine: RunningEngine, port: int) -> None:
        self._store = store
        self._id = request_id
        self.engine = engine
        """The engine that has opened it."""
        self.port = port
        """The port on 127.0.0.1."""

    def url(self, token: str) -> str:
        """The address for a client with this token. It is a secret, as the token is."""
        return f"ws://127.0.0.1:{self.port}/{token}"

    async def close(self) -> None:
        """The engine closes the endpoint and its connections. Closing twice has no effect."""
        await release_request(self._store, self._id)


def hash_token(token: str) -> str:
    """The SHA-256 of a token, which must be random: at least 32 characters of secrets.token_urlsafe."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def expect_reachable(engine: RunningEngine, cookie_store_id: str = "") -> None:
    """Raise EngineBusy unless this is a Chromium engine of this machine and user."""
    process = engine.process
    reason = ""
    if engine.engine != CHROMIUM:
        reason = f"only {CHROMIUM} has pages for programs"
    elif process is None or not process.is_local:
        reason = "it runs on another machine"
    elif not engine.user:
        reason = "it runs an older version of Hatbox"
    elif engine.user != current_user():
        reason = "it runs as another user"
    if reason:
        raise busy(engine, reason, identity=cookie_store_id)


async def request_endpoint(
    store: Store,
    engine: RunningEngine,
    cookie_store_id: str,
    *,
    token_hash: str = "",
    run: str = "",
    options: EndpointOptions = NO_OPTIONS,
    max_time: float = ANSWER_TIMEOUT,
) -> RequestedEndpoint:
    """Ask a running engine to open the endpoint of an identity; see engine_for.

    `token_hash` is that of the token of the clients. Without, clients have grants: tokens with pages and cookie values,
    and the host `<all_urls>`. With `run`, the pages that clients open belong to a script; see script_tabs. Raises
    EngineBusy if the engine cannot be reached or does not answer within `max_time` seconds, and EngineError if it
    refuses or ends meanwhile.
    """
    expect_reachable(engine, cookie_store_id)
    request = EndpointRequest(
        uuid.uuid4().hex,
        cookie_store_id,
        current_process(),
        time.time() + max_time,
        engine.since or 0,
        token_hash,
        run,
        program_name(),
        options,
    )
    try:
        answer = await send_request(store, engine, ENDPOINT_REQUESTED, request, max_time)
        if options != NO_OPTIONS and not answer.knows_options:
            raise busy(engine, "it runs an older version of Hatbox", identity=cookie_store_id)
    except BaseException:
        with contextlib.suppress(asyncio.CancelledError):
            await release_request(store, request.id)
        raise
    return RequestedEndpoint(store, request.id, engine, answer.port)


async def request_wait(
    store: Store, engine: RunningEngine, state: AwaitedState, *, max_time: float = WAIT_TIMEOUT
) -> None:
    """Wait until a running engine has applied the changes so far. Raises EngineError, and EngineBusy after a time."""
    request = WaitRequest(uuid.uuid4().hex, current_process(), engine.since or 0, state)
    await send_request(store, engine, WAIT_REQUESTED, request, max_time)


async def send_request(
    store: Store, engine: RunningEngine, topic: str, request: SentRequest, max_time: float
) -> EndpointAnswer:
    """The answer to a request. Raises EngineError if it is an error or the engine ends, EngineBusy without one."""
    answers: list[EndpointAnswer] = []
    changed = asyncio.Event()

    def on_change(change: ChangeRecord) -> None:
        if change.topic == ENDPOINT_ANSWERED:
            answer = decode_answer(change.payload)
            if answer.id == request.id:
                answers.append(answer)
                changed.set()
        elif change.topic in (ENGINES_CHANGED, RESYNC):
            changed.set()

    store.subscribe(on_change)
    try:
        with unrecorded():
            requested = store.write(lambda each: each.changes.append(topic, msgspec.json.encode(request)))
        await requested
        await _wait_for_answer(store, engine, answers, changed, max_time)
    except TimeoutError:
        identity = str(getattr(request, "cookie_store_id", ""))
        raise busy(engine, "it does not answer", identity=identity) from None
    finally:
        store.unsubscribe(on_change)
    if answers[0].error:
        raise EngineError(answers[0].error)
    return answers[0]


async def _wait_for_answer(
    store: Store, engine: RunningEngine, answers: list[EndpointAnswer], changed: asyncio.Event, max_time: float
) -> None:
    deadline = time.monotonic() + max_time
    while not answers and (remaining := deadline - time.monotonic()) > 0:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(remaining, _POLL_SECONDS)):
                await changed.wait()
        changed.clear()
        if not answers and not await has_lease(store, engine):
            raise engine_ended(engine)
    if not answers:
        raise TimeoutError


def engine_ended(engine: RunningEngine) -> EngineError:
    """The error of a program whose engine, in another process, has ended."""
    return EngineError(f"the {engine.engine} engine ({engine.process}) has ended. Start this program again.")


async def release_request(store: Store, request_id: str) -> None:
    """Append the end of a request to the change log. The engine closes what it has opened for it."""
    try:
        with unrecorded():
            released = store.write(lambda each: each.changes.append(ENDPOINT_RELEASED, msgspec.json.encode(request_id)))
        await released
    except ProfileError as error:  # the engine closes the endpoint when this process ends
        logger.debug("an endpoint was not released: %s", error)


def answer_request(transaction: Transaction, answer: EndpointAnswer) -> None:
    """Append the answer of an engine to the change log."""
    transaction.changes.append(ENDPOINT_ANSWERED, msgspec.json.encode(answer))


decode_request = msgspec.json.Decoder(EndpointRequest).decode
decode_wait = msgspec.json.Decoder(WaitRequest).decode
decode_answer = msgspec.json.Decoder(EndpointAnswer).decode
decode_release = msgspec.json.Decoder(str).decode
