"""The port between a response filter and the StreamFilter object of a script (js/members/webRequest.js).

Messages are JSON text, as for native applications.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec

from hatbox.errors import ApiError
from hatbox.messaging.context import ExtensionContext
from hatbox.messaging.ports import Channel, Deliver, Port, WaitForAck
from hatbox.web_requests.response_filter import INVALID_REQUEST, ResponseFilter

__all__ = ["connect_filter"]

_END_NUMBER: Final = 0  # the only port of its context


def connect_filter(
    channel: Channel, sender: ExtensionContext, attach: Callable[[ResponseFilter], bool], timeout: float
) -> None:
    """Connect the port of a script with a new filter. `attach` returns whether a request can be filtered."""
    end = _FilterEnd(channel, sender.extension_id, timeout)
    channel.targets.append(end)
    channel.opened()
    if not attach(end.filter):
        end.filter.fail(INVALID_REQUEST)


class _FilterEnd(Port):
    """The end of the port at the host."""

    def __init__(self, channel: Channel, extension_id: str, timeout: float) -> None:
        context = ExtensionContext(extension_id, "about:blank", "null", kind=None)
        super().__init__(channel, context, _END_NUMBER, None)
        context.ports[_END_NUMBER] = self
        self.filter = ResponseFilter(self._send_event, self.disconnect, timeout)

    def deliver(self, message: Any, _: Deliver, __: WaitForAck) -> Awaitable[Any] | None:
        """Pass a message of the script to the filter."""
        if not isinstance(message, str):
            raise ApiError("invalid message of a response filter")
        try:
            decoded = msgspec.json.decode(message)
        except msgspec.DecodeError:
            raise ApiError("invalid message of a response filter") from None
        self.filter.receive(decoded)
        return None

    def on_disconnect(self) -> None:
        """The context of the script was closed."""
        self.filter.disconnect()

    def _send_event(self, event: Mapping[str, Any]) -> None:
        if self.open:
            self.post(msgspec.json.encode(event).decode())
