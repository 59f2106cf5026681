"""Calls webRequest listeners: filter and permissions, arguments, and BlockingResponse."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Final

from hatbox.api.caller import Caller
from hatbox.api.namespaces.web_request.request_details import details
from hatbox.api.namespaces.web_request.request_filter import matches
from hatbox.javascript.wire_codec import without_undefined
from hatbox.tasks import Tasks
from hatbox.urls.url import parse_url
from hatbox.web_requests.request_model import BlockingResponse, RequestSnapshot

__all__ = ["WebRequestListener"]

logger = logging.getLogger("hatbox.api")

_BLOCKING: Final = frozenset({"blocking", "asyncBlocking"})
_BLOCKING_PERMISSIONS: Final = frozenset({"webRequestBlocking"})
_AUTH_PERMISSIONS: Final = _BLOCKING_PERMISSIONS | {"webRequestAuthProvider"}
_HEADERS_OPTION: Final = {"onBeforeSendHeaders": "requestHeaders", "onHeadersReceived": "responseHeaders"}


class WebRequestListener:
    """The listeners of one event."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._blocking_permissions = _AUTH_PERMISSIONS if name == "onAuthRequired" else _BLOCKING_PERMISSIONS
        self._tasks = Tasks(self._log_error)

    def listener_args(
        self,
        caller: Caller,
        snapshot: RequestSnapshot,
        filter_: Mapping[str, Any],
        options: Sequence[str] | None = None,
    ) -> Sequence[Any] | None:
        """(details), if the filter matches and the caller has permission."""
        return (details(self._name, snapshot, options or ()),) if matches(caller, snapshot, filter_) else None

    def blocking_response(
        self, caller: Caller, result: Any, _: Mapping[str, Any], options: Sequence[str] | None = None
    ) -> Awaitable[BlockingResponse | None] | None:
        """The response of a blocking listener. The results of others are not awaited."""
        if not _BLOCKING.isdisjoint(options or ()) and not self._blocking_permissions.isdisjoint(caller.permissions):
            return self._response(caller, result, options or ())
        if inspect.isawaitable(result):
            self._tasks.spawn(_wait(result))
        return None

    async def _response(self, caller: Caller, result: Any, options: Sequence[str]) -> BlockingResponse | None:
        value = without_undefined(await result if inspect.isawaitable(result) else result)
        if value is None:
            return None
        return BlockingResponse(
            caller.id, value, _HEADERS_OPTION.get(self._name) in options, lambda host: _can_access_host(caller, host)
        )

    def _log_error(self, error: BaseException) -> None:
        logger.error("webRequest.%s listener raised", self._name, exc_info=error)


async def _wait(result: Awaitable[Any]) -> None:
    await result


def _can_access_host(caller: Caller, host: str) -> bool:
    url = parse_url(f"https://{host}/")
    return url is not None and caller.hosts.allow_url(url.scheme, url.host)
