"""Sends CDP commands to targets, and receives their events, inside one session with the browser.

The messages are tunneled with Target.sendMessageToTarget (no `flatten`), so all target sessions end with the browser
session.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Callable
from typing import Any

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.sessions import Session

__all__ = ["TargetMessages"]


class TargetMessages:
    """The messages of all targets. `on_event` receives the target id, the event name and the params of each event."""

    def __init__(self, session: Session, on_event: Callable[[str, str, dict[str, Any]], None]) -> None:
        self._session = session
        self._on_event = on_event
        self._ids = itertools.count(1)
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        session.on("Target.receivedMessageFromTarget", log_exceptions(self._on_message))

    async def send(self, session_id: str, method: str, params: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        """Send a command; returns the future of its reply. A page does not reply while a navigation is in progress."""
        message_id = next(self._ids)
        reply = self._replies[message_id] = asyncio.get_running_loop().create_future()
        reply.add_done_callback(lambda _: self._replies.pop(message_id, None))
        message = json.dumps({"id": message_id, "method": method, "params": params})
        await self._session.send("Target.sendMessageToTarget", {"sessionId": session_id, "message": message})
        return reply

    def stop(self) -> None:
        """Cancel all pending replies."""
        for reply in [*self._replies.values()]:
            reply.cancel()

    def _on_message(self, event: dict[str, Any]) -> None:
        message = json.loads(event["message"])
        if "method" in message:
            self._on_event(event.get("targetId", ""), message["method"], message["params"])
        elif (reply := self._replies.get(message["id"])) is not None and not reply.done():
            if "error" in message:
                reply.set_exception(PlaywrightError(message["error"]["message"]))
                reply.exception()  # marks it as retrieved: the reply may not be awaited
            else:
                reply.set_result(message["result"])
