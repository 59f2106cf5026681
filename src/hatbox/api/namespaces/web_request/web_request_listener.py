"""Which listeners of webRequest hear of a request, what they are told, and what becomes of what they answer."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final

from hatbox.api.caller import Caller
from hatbox.api.namespaces.web_request.request_details import details
from hatbox.api.namespaces.web_request.request_filter import matches
from hatbox.javascript.wire_codec import without_undefined
from hatbox.urls.url import parse_url
from hatbox.web_requests.request_model import BlockingResponse, RequestSnapshot

__all__ = ["WebRequestListener"]

logger = logging.getLogger("hatbox.api")

_BLOCKING: Final = frozenset({"blocking", "asyncBlocking"})
_BLOCKING_PERMISSIONS: Final = frozenset({"webRequestBlocking"})
_AUTH_PERMISSIONS: Final = _BLOCKING_PERMISSIONS | {"webRequestAuthProvider"}
_CHANGED: Final = {"onBeforeSendHeaders": "requestHeaders", "onHeadersReceived": "responseHeaders"}


class WebRequestListener:
    """One of the events."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._blockers = _AUTH_PERMISSIONS if name == "onAuthRequired" else _BLOCKING_PERMISSIONS
        self._tasks: set[asyncio.Future[Any]] = set()

    def listener_args(
        self, caller: Caller, moment: RequestSnapshot, wishes: Mapping[str, Any], options: Sequence[str] | None = None
    ) -> Sequence[Any] | None:
        """(details), if the caller may hear of such a request, and wants to."""
        return (details(self._name, moment, options or ()),) if matches(caller, moment, wishes) else None

    def blocking_response(
        self, caller: Caller, answer: Any, _: Mapping[str, Any], options: Sequence[str] | None = None
    ) -> Awaitable[BlockingResponse | None] | None:
        """What a listener that may interfere answers. Nobody waits for the others."""
        if not _BLOCKING.isdisjoint(options or ()) and not self._blockers.isdisjoint(caller.permissions):
            return self._answer(caller, answer, options or ())
        if inspect.isawaitable(answer):
            task = asyncio.ensure_future(answer)
            self._tasks.add(task)
            task.add_done_callback(self._report)
        return None

    async def _answer(self, caller: Caller, answer: Any, options: Sequence[str]) -> BlockingResponse | None:
        said = without_undefined(await answer if inspect.isawaitable(answer) else answer)
        if said is None:
            return None
        return BlockingResponse(
            caller.id, said, _CHANGED.get(self._name) in options, lambda host: _can_access_host(caller, host)
        )

    def _report(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("a listener of webRequest.%s raised", self._name, exc_info=error)


def _can_access_host(caller: Caller, host: str) -> bool:
    url = parse_url(f"https://{host}/")
    return url is not None and caller.hosts.allow_url(url.scheme, url.host)
