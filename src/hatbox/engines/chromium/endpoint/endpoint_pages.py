"""The pages that clients of endpoints do not see, and those that they control. Shared by all parts of one engine."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Container
from typing import Final

from hatbox.engines.chromium.endpoint.authorization import Authorization
from hatbox.engines.chromium.endpoint.client_files import ClientFiles
from hatbox.engines.chromium.endpoint.download_reports import DownloadReport
from hatbox.engines.chromium.endpoint.endpoint_urls import is_withheld

__all__ = ["EndpointPages"]

_CREATION_SECONDS: Final = 2.0
_COMMIT_SECONDS: Final = 2.0  # after a page has stopped loading, the URL of its target is current
_LOAD_SECONDS: Final = 120.0
_NAVIGATION: Final = "navigation"
_EXTENSION: Final = "extension"


class EndpointPages:
    """Pages by target id. A withheld page does not exist for clients until each reason is released."""

    def __init__(self) -> None:
        self._withheld: defaultdict[str, set[str]] = defaultdict(set)  # reasons by target id
        self._frames: defaultdict[str, set[str]] = defaultdict(set)  # withheld frames of extensions by page
        self._releases: dict[str, asyncio.TimerHandle] = {}  # of navigations
        self._driven: set[str] = set()
        self._opened: dict[str, ClientFiles] = {}  # with the files of the client, by target id
        self._clients: Counter[str] = Counter()  # by browserContextId
        self._contexts: set[str] = set()
        self._creating: Counter[str] = Counter()  # pages that clients are opening, by browserContextId
        self._created = asyncio.Event()
        self._listeners: list[Callable[[str, bool], None]] = []
        self.download_listeners: list[Callable[[DownloadReport], Awaitable[None]]] = []
        """Called with each download of a page that starts or ends."""
        self.on_opened: Callable[[str, Authorization], None] = lambda _, __: None
        """Called with each page that a client opens, and the authorization of the client."""
        self.on_driven: Callable[[str], None] = lambda _: None
        """Called with each page that a client starts to control."""

    # --------------------------------------------------------------------------------------------------------- clients

    def connect(self, context_id: str) -> None:
        """A client is connected to a browser context."""
        self._clients[context_id] += 1
        self._contexts.add(context_id)

    def disconnect(self, context_id: str) -> None:
        """End `connect`."""
        self._clients[context_id] -= 1
        if self._clients[context_id] <= 0:
            del self._clients[context_id]

    def had_clients(self, context_id: str) -> bool:
        """Whether a client is or was connected to a browser context: its scripts may still run there."""
        return context_id in self._contexts

    # ----------------------------------------------------------------------------------------------------- withholding

    @property
    def withheld(self) -> list[str]:
        """The ids of withheld pages."""
        return [*self._withheld]

    def withhold(self, target_id: str, reason: str) -> None:
        """Withhold a page from all clients, at once. Several reasons add up.

        With a browserContextId, the pages that appear in it until `release` are withheld: see ClientTargets.
        """
        is_new = target_id not in self._withheld
        self._withheld[target_id].add(reason)
        if is_new:
            self._notify(target_id, True)

    def release(self, target_id: str, reason: str) -> None:
        """End `withhold` for a reason. Without one, nothing happens."""
        reasons = self._withheld.get(target_id)
        if reasons is None:
            return
        reasons.discard(reason)
        if not reasons:
            del self._withheld[target_id]
            self._notify(target_id, False)

    def withhold_frame(self, frame_id: str, page_id: str) -> None:
        """A frame is about to show a document of an extension. It is withheld until its page is closed.

        Chromium attaches clients to a frame before its URL is known.
        """
        if frame_id != page_id:
            self._frames[page_id].add(frame_id)
            self.withhold(frame_id, _EXTENSION)

    def navigating(self, target_id: str, url: str) -> None:
        """A page starts to load a URL. It is withheld until the URL of the target says that it is an internal page."""
        if self._listeners and is_withheld(url):
            self.withhold(target_id, _NAVIGATION)
            self._release_later(target_id, _LOAD_SECONDS)

    def loaded(self, target_id: str) -> None:
        """A page has stopped loading."""
        if target_id in self._releases:
            self._release_later(target_id, _COMMIT_SECONDS)

    def _release_later(self, target_id: str, seconds: float) -> None:
        self._cancel_release(target_id)
        release = asyncio.get_running_loop().call_later(seconds, self._end_navigation, target_id)
        self._releases[target_id] = release

    def _end_navigation(self, target_id: str) -> None:
        self._releases.pop(target_id, None)
        self.release(target_id, _NAVIGATION)

    def _cancel_release(self, target_id: str) -> None:
        if (release := self._releases.pop(target_id, None)) is not None:
            release.cancel()

    def subscribe(self, listener: Callable[[str, bool], None]) -> None:
        """Call the listener with the id of each page that is withheld (True) or released (False) from now on."""
        self._listeners.append(listener)

    def unsubscribe(self, listener: Callable[[str, bool], None]) -> None:
        """End `subscribe`."""
        self._listeners.remove(listener)

    def _notify(self, target_id: str, is_withheld: bool) -> None:
        for listener in [*self._listeners]:
            listener(target_id, is_withheld)

    # ---------------------------------------------------------------------------------------------------------- driven

    def drive(self, target_id: str) -> None:
        """A client controls this page from now on, until it is closed."""
        if target_id not in self._driven:
            self._driven.add(target_id)
            self.on_driven(target_id)

    def opened(self, target_id: str, authorization: Authorization, files: ClientFiles) -> None:
        """A client has opened this page."""
        self._opened[target_id] = files
        self.drive(target_id)
        self.on_opened(target_id, authorization)

    def is_opened(self, target_id: str) -> bool:
        """Whether a client has opened a page, as far as it is known now."""
        return target_id in self._opened

    def files_of(self, target_id: str) -> ClientFiles | None:
        """The files of the client that has opened a page, or its opener."""
        return self._opened.get(target_id)

    async def report_download(self, report: DownloadReport) -> None:
        """Report to the clients that a download has started or ended."""
        await asyncio.gather(*(listener(report) for listener in self.download_listeners))

    def is_driven(self, target_id: str, context_id: str = "") -> bool:
        """Whether a client controls a page, as far as it is known now, or is connected to its browser context.

        A connected client reaches every page of the context: through openers, workers and shared storage.
        """
        return target_id in self._driven or context_id in self._clients

    def set_creating(self, context_id: str, *, is_pending: bool) -> None:
        """A client has requested a new page, or the request has ended."""
        self._creating[context_id] += 1 if is_pending else -1
        if self._creating[context_id] <= 0:
            del self._creating[context_id]
            self._created.set()

    async def controls(self, target_id: str, opener_id: str | None, context_id: str) -> bool:
        """Whether a client controls a page or its opener, or is connected to its browser context."""
        if context_id in self._clients:
            self._inherit(target_id, opener_id)
            return True
        return await self._wait_for(self._driven, target_id, opener_id, context_id)

    async def has_opened(self, target_id: str, opener_id: str | None, context_id: str) -> bool:
        """Whether a client has opened a page or its opener. Waits for pages that are being opened."""
        return await self._wait_for(self._opened, target_id, opener_id, context_id)

    async def _wait_for(self, pages: Container[str], target_id: str, opener_id: str | None, context_id: str) -> bool:
        self._inherit(target_id, opener_id)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CREATION_SECONDS):
                while target_id not in pages and self._creating.get(context_id):
                    self._created.clear()
                    await self._created.wait()
                    self._inherit(target_id, opener_id)
        return target_id in pages or bool(self._creating.get(context_id))

    def remove(self, target_id: str) -> None:
        """A page is closed."""
        self._driven.discard(target_id)
        self._opened.pop(target_id, None)
        self._cancel_release(target_id)
        for each in (target_id, *self._frames.pop(target_id, ())):
            self._withheld.pop(each, None)

    def _inherit(self, target_id: str, opener_id: str | None) -> None:
        if opener_id in self._driven:
            self.drive(target_id)
        if opener_id is not None and opener_id in self._opened:
            self._opened.setdefault(target_id, self._opened[opener_id])
