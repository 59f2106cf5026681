"""What can be heard and said of the requests of pages, in this process."""

from __future__ import annotations

import itertools
import time as clock
from collections.abc import Callable
from typing import Final

from hatbox.events import Event, Question
from hatbox.web_requests.exchange import Exchange
from hatbox.web_requests.model import Moment, Place

__all__ = ["Requests"]

_PATIENCE: Final = 10.0


class Requests:
    """The requests of the pages of one profile, whatever engine makes them.

    Listeners of the questions answer with an `Answer`, or with nothing. One that does not answer within `patience`
    seconds counts as one that had nothing to say.
    """

    def __init__(self, time: Callable[[], float] = clock.time, patience: float = _PATIENCE) -> None:
        self.time = time
        self.patience = patience
        self._ids = itertools.count(1)
        self.on_proxy_request: Question[Moment] = Question("proxy.onRequest")
        self.on_proxy_error: Event[tuple[str, str]] = Event("proxy.onError")
        """Who has answered something that cannot be read, and what is wrong with it."""
        self.on_before_request: Question[Moment] = Question("webRequest.onBeforeRequest")
        self.on_before_send_headers: Question[Moment] = Question("webRequest.onBeforeSendHeaders")
        self.on_send_headers: Event[Moment] = Event("webRequest.onSendHeaders")
        self.on_headers_received: Question[Moment] = Question("webRequest.onHeadersReceived")
        self.on_auth_required: Question[Moment] = Question("webRequest.onAuthRequired")
        self.on_before_redirect: Event[Moment] = Event("webRequest.onBeforeRedirect")
        self.on_response_started: Event[Moment] = Event("webRequest.onResponseStarted")
        self.on_completed: Event[Moment] = Event("webRequest.onCompleted")
        self.on_error_occurred: Event[Moment] = Event("webRequest.onErrorOccurred")

    def begin(self, place: Place, url: str, kind: str = "main_frame", document_url: str | None = None) -> Exchange:
        """A request that is about to be made."""
        return Exchange(self, str(next(self._ids)), place, url, kind, document_url)
