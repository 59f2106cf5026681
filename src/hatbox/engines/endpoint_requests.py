"""Asks a running engine, in whichever process of this machine, for a CDP endpoint of an identity.

The program appends ENDPOINT_REQUESTED to the change log, and the engine that serves the identity answers with
ENDPOINT_ANSWERED: a port, or an error. ENDPOINT_RELEASED ends it, and so does the end of the program's process. Nothing
of it is stored in tables. A token itself is never written: the request has its hash, or says that grants decide.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import time
import uuid
from typing import Final

import msgspec

from hatbox.engines.running_engines import ENGINES_CHANGED, RunningEngine, busy, has_lease
from hatbox.errors import EngineError, ProfileError
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.store.processes import ProcessId, current_process, current_user
from hatbox.store.recorded_calls import unrecorded

__all__ = [
    "ANSWER_TIMEOUT",
    "CHROMIUM",
    "ENDPOINT_ANSWERED",
    "ENDPOINT_RELEASED",
    "ENDPOINT_REQUESTED",
    "EndpointAnswer",
    "EndpointRequest",
    "RequestedEndpoint",
    "answer_request",
    "decode_answer",
    "decode_release",
    "decode_request",
    "expect_reachable",
    "hash_token",
    "request_endpoint",
]

logger = logging.getLogger("hatbox.engines")

_POLL_SECONDS: Final = 1.0  # between two checks whether the engine has ended

ENDPOINT_REQUESTED: Final = "endpoints.requested"
"""The topic of a request. Its payload is an EndpointRequest."""
ENDPOINT_ANSWERED: Final = "endpoints.answered"
"""The topic of an answer. Its payload is an EndpointAnswer."""
ENDPOINT_RELEASED: Final = "endpoints.released"
"""The topic of the end of a request. Its payload is the id of the request."""

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
    token_hash: str = ""
    """The SHA-256 of the token of its clients, in hexadecimal; see hash_token. Empty: clients have grants."""


class EndpointAnswer(msgspec.Struct, frozen=True):
    """The answer of the engine: the port on 127.0.0.1, or an error."""

    id: str
    port: int = 0
    error: str = ""


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
        await _release(self._store, self._id)


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
    max_time: float = ANSWER_TIMEOUT,
) -> RequestedEndpoint:
    """Ask a running engine to open the endpoint of an identity; see engine_for.

    `token_hash` is that of the token of the clients. Without, clients have grants: tokens with pages and cookie values,
    and no limit of hosts. Raises EngineBusy if the engine cannot be reached or does not answer within `max_time`
    seconds, and EngineError if it refuses or ends meanwhile.
    """
    expect_reachable(engine, cookie_store_id)
    expires = time.time() + max_time
    request = EndpointRequest(uuid.uuid4().hex, cookie_store_id, current_process(), expires, token_hash)
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
            requested = store.write(lambda each: each.changes.append(ENDPOINT_REQUESTED, msgspec.json.encode(request)))
        await requested
        answer = await _answer(store, engine, request, answers, changed)
    except BaseException:
        with contextlib.suppress(asyncio.CancelledError):
            await _release(store, request.id)
        raise
    finally:
        store.unsubscribe(on_change)
    if answer.error:
        raise EngineError(answer.error)
    return RequestedEndpoint(store, request.id, engine, answer.port)


async def _answer(
    store: Store,
    engine: RunningEngine,
    request: EndpointRequest,
    answers: list[EndpointAnswer],
    changed: asyncio.Event,
) -> EndpointAnswer:
    """Wait for the answer, as long as the engine runs."""
    while (remaining := request.expires - time.time()) > 0:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(min(remaining, _POLL_SECONDS)):
                await changed.wait()
        changed.clear()
        if answers:
            return answers[0]
        if not await has_lease(store, engine):
            raise EngineError(f"the {engine.engine} engine ({engine.process}) has ended. Start this program again.")
    raise busy(engine, "it does not answer", identity=request.cookie_store_id)


async def _release(store: Store, request_id: str) -> None:
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
decode_answer = msgspec.json.Decoder(EndpointAnswer).decode
decode_release = msgspec.json.Decoder(str).decode
