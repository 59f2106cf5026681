"""Answers the endpoint requests of programs: opens an endpoint for each, and closes it with the program.

All requests of an identity for clients with grants share one endpoint. A request with a token has one of its own.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

import msgspec

from hatbox.engines.endpoint_requests import (
    ENDPOINT_RELEASED,
    ENDPOINT_REQUESTED,
    EndpointAnswer,
    EndpointRequest,
    answer_request,
    decode_release,
    decode_request,
    hash_token,
)
from hatbox.errors import EngineError, HatboxError, ProfileError
from hatbox.store.base import ChangeRecord, Store
from hatbox.tasks import Tasks

if TYPE_CHECKING:
    from hatbox.engines.chromium.endpoint.authorization import Authorization, Authorize, TokenAuthorization
    from hatbox.engines.chromium.endpoint.endpoint import Endpoint

__all__ = ["MAX_REQUESTS", "EndpointAnswers", "GrantAuthorizer"]

logger = logging.getLogger("hatbox.engines.chromium")

MAX_REQUESTS: Final = 64
"""The requests of programs that run at a time, for all identities of an engine."""
_POLL_SECONDS: Final = 1.0  # between two checks whether programs have ended

GrantAuthorizer = Callable[[str], "Authorize"]
"""The Authorize for clients with grants, by cookieStoreId. It accepts tokens of grants with pages and cookie values and
without a limit of hosts. The layer that knows grants passes it as EngineServices.endpoint_grants."""


class EndpointAnswers:
    """The requests that one engine has received, from `start` to `stop`."""

    def __init__(
        self,
        store: Store,
        serves: Callable[[str], bool],
        open_endpoint: Callable[[str, Authorize], Awaitable[Endpoint]],
        grants: GrantAuthorizer | None,
    ) -> None:
        self._store = store
        self._serves = serves
        self._open_endpoint = open_endpoint
        self._grants = grants
        self._requests: dict[str, EndpointRequest] = {}
        self._endpoints: dict[str, Endpoint] = {}
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

    def _on_change(self, change: ChangeRecord) -> None:
        try:
            if change.topic == ENDPOINT_REQUESTED:
                self._on_request(decode_request(change.payload))
            elif change.topic == ENDPOINT_RELEASED:
                self._end(decode_release(change.payload))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:  # of another version
            logger.warning("an endpoint request was ignored: %s", error)

    def _on_request(self, request: EndpointRequest) -> None:
        if request.process.is_local and self._serves(request.cookie_store_id) and request.id not in self._requests:
            self._tasks.spawn(self._answer(request))

    async def _answer(self, request: EndpointRequest) -> None:
        if len(self._requests) >= MAX_REQUESTS:
            answer = EndpointAnswer(request.id, error=f"{MAX_REQUESTS} programs use endpoints of this engine.")
        else:
            self._requests[request.id] = request
            if len(self._requests) == 1:
                self._tasks.spawn(self._watch_programs())
            await self._is_ready.wait()
            answer = await self._open(request)
        if answer.error:
            self._requests.pop(request.id, None)
        try:
            await self._store.write(lambda transaction: answer_request(transaction, answer))
        except ProfileError as error:
            logger.error("an endpoint request was not answered: %s", error)
            self._end(request.id)

    async def _open(self, request: EndpointRequest) -> EndpointAnswer:
        async with self._opening:
            if not self._is_wanted(request):
                return EndpointAnswer(request.id, error="the request has expired.")
            key = _key(request)
            try:
                if key not in self._endpoints:
                    self._endpoints[key] = await self._open_endpoint(request.cookie_store_id, self._authorizer(request))
            except HatboxError as error:
                return EndpointAnswer(request.id, error=str(error))
            except OSError as error:
                return EndpointAnswer(request.id, error=f"the endpoint cannot listen: {error}")
            return EndpointAnswer(request.id, self._endpoints[key].port)

    def _authorizer(self, request: EndpointRequest) -> Authorize:
        from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization

        if request.token_hash:
            return _authorize_hash(request.token_hash, TokenAuthorization())
        if self._grants is None:
            raise EngineError("this engine does not know grants. Start it with a newer version of Hatbox.")
        return self._grants(request.cookie_store_id)

    def _is_wanted(self, request: EndpointRequest) -> bool:
        return request.id in self._requests and request.expires > time.time() and request.process.is_running

    async def _watch_programs(self) -> None:
        """End the requests of programs that have ended. One that stops releases its requests."""
        while self._requests:
            await asyncio.sleep(_POLL_SECONDS)
            for request in [*self._requests.values()]:
                if not request.process.is_running or not self._serves(request.cookie_store_id):
                    self._end(request.id)

    def _end(self, request_id: str) -> None:
        request = self._requests.pop(request_id, None)
        if request is not None:
            self._tasks.spawn(self._close(_key(request)))

    async def _close(self, key: str) -> None:
        """Close an endpoint that no request has any more."""
        async with self._opening:
            if all(_key(each) != key for each in self._requests.values()):
                endpoint = self._endpoints.pop(key, None)
                if endpoint is not None:
                    await endpoint.close()


def _key(request: EndpointRequest) -> str:
    return request.id if request.token_hash else request.cookie_store_id


def _authorize_hash(token_hash: str, authorization: TokenAuthorization) -> Authorize:
    """Authorize clients whose token has this hash."""
    expected = token_hash.encode()

    def authorize(given: str) -> Authorization | None:
        return authorization if hmac.compare_digest(hash_token(given).encode(), expected) else None

    return authorize
