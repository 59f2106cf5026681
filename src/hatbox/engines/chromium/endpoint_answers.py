"""Answers the requests of programs to an engine: opens an endpoint for each, and closes it with the program.

All requests of an identity for clients with grants share one endpoint. A request with a token or options has one of its
own: if it names a run, the pages that its clients open are tabs of that run, and are closed if the program is killed.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization
from hatbox.engines.endpoint_options import NO_OPTIONS, EndpointOptions
from hatbox.engines.endpoint_requests import (
    ENDPOINT_RELEASED,
    ENDPOINT_REQUESTED,
    WAIT_REQUESTED,
    AwaitedState,
    EndpointAnswer,
    EndpointRequest,
    WaitRequest,
    answer_request,
    decode_release,
    decode_request,
    decode_wait,
    hash_token,
)
from hatbox.errors import EngineError, HatboxError, ProfileError
from hatbox.store.base import ChangeRecord, Store, Transaction
from hatbox.tabs.script_tabs import close_script_tabs, move_script_tab, run_key
from hatbox.tabs.strip import close_rows
from hatbox.tasks import Tasks

if TYPE_CHECKING:
    from hatbox.engines.chromium.endpoint.authorization import Authorization, Authorize
    from hatbox.engines.chromium.endpoint.endpoint import Endpoint

__all__ = ["MAX_REQUESTS", "AnsweringEngine", "EndpointAnswers", "GrantAuthorizer"]

logger = logging.getLogger("hatbox.engines.chromium")

MAX_REQUESTS: Final = 64
"""The requests of programs that run at a time, for all identities of an engine."""
_POLL_SECONDS: Final = 1.0  # between two checks whether programs have ended
_TAB_POLL_SECONDS: Final = 0.02
_TAB_SECONDS: Final = 30.0  # until the tab of a new page is given up

GrantAuthorizer = Callable[[str, str], "Authorize"]
"""The Authorize for clients with grants, by cookieStoreId and the id of the only grant, which may be empty. It accepts
tokens of grants with pages and cookie values and the host `<all_urls>`. The layer that knows grants passes it as
EngineServices.endpoint_grants."""


class AnsweringEngine(NamedTuple):
    """What the answers need of the engine."""

    serves: Callable[[str], bool]
    since: Callable[[], float | None]
    """When it was started, as its record says."""
    open_endpoint: Callable[[str, Authorize, EndpointOptions], Awaitable[Endpoint]]
    tab_of: Callable[[str], int | None]
    """The tab of a target; None if it has none yet."""
    waits: Mapping[AwaitedState, Callable[[], Awaitable[None]]]
    grants: GrantAuthorizer | None = None


class _RequestAuthorization(TokenAuthorization):
    """The clients of one request."""

    def __init__(self, request: EndpointRequest) -> None:
        super().__init__()
        self.request = request
        self.program = request.program
        self._token_hash = request.token_hash.encode()

    def authorize(self, token: str) -> Authorization | None:
        """See Authorize."""
        is_valid = hmac.compare_digest(hash_token(token).encode(), self._token_hash)
        return self if is_valid and not self.ended.done() else None


class EndpointAnswers:
    """The requests that one engine has received, from `start` to `stop`."""

    def __init__(self, store: Store, engine: AnsweringEngine) -> None:
        self._store = store
        self._engine = engine
        self._requests: dict[str, EndpointRequest] = {}
        self._endpoints: dict[str, Endpoint] = {}
        self._waits = 0
        self._watching: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        self._is_ready = asyncio.Event()
        self._tasks = Tasks()

    def start(self) -> None:
        """Receive requests. They are answered from `set_ready` on: the browser may be starting."""
        self._is_ready.clear()
        self._store.subscribe(self._on_change)

    def set_ready(self) -> None:
        """The browser runs."""
        self._is_ready.set()

    async def stop(self) -> None:
        """Answer no more. The engine itself closes the endpoints. Stopping twice has no effect."""
        self._store.unsubscribe(self._on_change)
        self._tasks.cancel()
        await self._tasks.wait()
        self._requests.clear()
        self._endpoints.clear()
        self._waits = 0

    def _on_change(self, change: ChangeRecord) -> None:
        try:
            if change.topic == ENDPOINT_REQUESTED:
                self._on_request(decode_request(change.payload))
            elif change.topic == WAIT_REQUESTED:
                self._on_wait(decode_wait(change.payload))
            elif change.topic == ENDPOINT_RELEASED:
                self._end(decode_release(change.payload))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:  # of another version
            logger.warning("a request of a program was ignored: %s", error)

    async def _send(self, answer: EndpointAnswer) -> None:
        await self._store.write(lambda transaction: answer_request(transaction, answer))

    # ----------------------------------------------------------------------------------------------------------- waits

    def _on_wait(self, wait: WaitRequest) -> None:
        if wait.process.is_local and wait.since == self._engine.since():
            self._tasks.spawn(self._answer_wait(wait))

    async def _answer_wait(self, wait: WaitRequest) -> None:
        error = "" if self._waits < MAX_REQUESTS else f"{MAX_REQUESTS} programs wait for this engine."
        self._waits += 1
        try:
            if not error:
                await self._is_ready.wait()
                if wait.state != "ready":
                    await self._engine.waits[wait.state]()
        except HatboxError as failure:
            error = str(failure)
        finally:
            self._waits -= 1
        try:
            await self._send(EndpointAnswer(wait.id, error=error))
        except ProfileError as failure:
            logger.error("a request of a program was not answered: %s", failure)

    # ------------------------------------------------------------------------------------------------------- endpoints

    def _on_request(self, request: EndpointRequest) -> None:
        is_meant = request.process.is_local and request.since == self._engine.since()
        if not is_meant or request.id in self._requests:
            return
        is_accepted = len(self._requests) < MAX_REQUESTS
        if is_accepted:  # at once: the next change may release it
            self._requests[request.id] = request
            if self._watching is None or self._watching.done():
                self._watching = self._tasks.spawn(self._watch_programs())
        self._tasks.spawn(self._answer(request, is_accepted=is_accepted))

    async def _answer(self, request: EndpointRequest, *, is_accepted: bool) -> None:
        if is_accepted:
            await self._is_ready.wait()
            answer = await self._open(request)
            if answer.error:
                self._requests.pop(request.id, None)
        else:
            answer = EndpointAnswer(request.id, error=f"{MAX_REQUESTS} programs use endpoints of this engine.")
        try:
            await self._send(answer)
        except ProfileError as error:
            logger.error("an endpoint request was not answered: %s", error)
            self._end(request.id)

    async def _open(self, request: EndpointRequest) -> EndpointAnswer:
        async with self._opening:
            key = _key(request)
            try:
                if not self._engine.serves(request.cookie_store_id):  # or not yet, if another engine has just ended
                    await self._engine.waits["settled"]()
                if not self._is_wanted(request):
                    return EndpointAnswer(request.id, error="the request has expired.")
                if not self._engine.serves(request.cookie_store_id):
                    raise EngineError(f"this engine does not serve {request.cookie_store_id}")
                if key not in self._endpoints:
                    authorize = self._authorizer(request)
                    opened = await self._engine.open_endpoint(request.cookie_store_id, authorize, request.options)
                    self._endpoints[key] = opened
            except HatboxError as error:
                return EndpointAnswer(request.id, error=str(error))
            except OSError as error:
                return EndpointAnswer(request.id, error=f"the endpoint cannot listen: {error}")
            return EndpointAnswer(request.id, self._endpoints[key].port, knows_options=True)

    def _authorizer(self, request: EndpointRequest) -> Authorize:
        if request.token_hash:
            return _RequestAuthorization(request).authorize
        if self._engine.grants is None:
            raise EngineError("this engine does not know grants. Start it with a newer version of Hatbox.")
        return self._engine.grants(request.cookie_store_id, request.options.grant)

    def _is_wanted(self, request: EndpointRequest) -> bool:
        return request.id in self._requests and request.expires > time.time() and request.process.is_running

    async def _watch_programs(self) -> None:
        """End the requests of programs that have ended. One that stops releases its requests."""
        while self._requests:
            await asyncio.sleep(_POLL_SECONDS)
            for request in [*self._requests.values()]:
                if not request.process.is_running or not self._engine.serves(request.cookie_store_id):
                    self._end(request.id)
                    self._tasks.spawn(self._close_tabs_if_ended(request))

    def _end(self, request_id: str) -> None:
        request = self._requests.pop(request_id, None)
        if request is not None:
            self._tasks.spawn(self._close(_key(request)))

    async def _close(self, key: str) -> None:
        """Close an endpoint that no request has any more."""
        async with self._opening:
            is_used = any(_key(each) == key for each in self._requests.values())
            endpoint = None if is_used else self._endpoints.pop(key, None)
        if endpoint is not None:
            await endpoint.close()

    # ------------------------------------------------------------------------------------------------------------ tabs

    def on_page_opened(self, target_id: str, authorization: Authorization) -> None:
        """A client of an endpoint has opened a page. See EndpointPages.on_opened."""
        if isinstance(authorization, _RequestAuthorization) and authorization.request.run:
            self._tasks.spawn(self._record_page(target_id, authorization.request))

    async def _record_page(self, target_id: str, request: EndpointRequest) -> None:
        """Record that the tab of a page belongs to a run."""
        deadline = time.monotonic() + _TAB_SECONDS
        while (tab_id := self._engine.tab_of(target_id)) is None:
            if time.monotonic() > deadline:  # closed at once
                return
            await asyncio.sleep(_TAB_POLL_SECONDS)

        def record(transaction: Transaction) -> None:
            row = transaction.tabs.get(tab_id)
            if row is not None and request.id in self._requests:
                move_script_tab(transaction, request.run, request.process, tab_id)
            elif row is not None:  # the program has stopped or was killed
                close_rows(transaction, [row])

        await self._store.write(record)

    async def _close_tabs_if_ended(self, request: EndpointRequest) -> None:
        if request.run and not request.process.is_running:
            await self._store.write(lambda transaction: close_script_tabs(transaction, run_key(request.run)))


def _key(request: EndpointRequest) -> str:
    return request.id if request.token_hash or request.options != NO_OPTIONS else request.cookie_store_id
