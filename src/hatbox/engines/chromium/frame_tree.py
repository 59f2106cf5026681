"""The frames and workers of a browser, and the page that each belongs to, observed over one browser session.

Every page, out-of-process frame and worker is a CDP target. It is attached as soon as it exists, before Playwright
reports it.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.frame_numbers import frame_number
from hatbox.engines.chromium.frame_path import FramePath, Target
from hatbox.engines.chromium.pending_documents import PendingDocuments
from hatbox.engines.chromium.sessions import Session, within
from hatbox.tasks import Tasks

__all__ = ["FrameTree"]

logger = logging.getLogger("hatbox.engines.chromium")

_FRAME_TIMEOUT: Final = 2.0  # seconds until the frame of a paused request is known
_FRAME_TREE_TIMEOUT: Final = 1.0
_PAGE: Final = "page"
_PRERENDERED: Final = "prerender"
_WITH_FRAMES: Final = (_PAGE, _PRERENDERED, "iframe")
_WORKERS: Final = ("worker", "shared_worker", "service_worker")


class _Frame(msgspec.Struct):
    number: int
    parent_id: str | None
    url: str
    target_id: str


class FrameTree:
    """The frames of a browser. `on_event` receives the events of all targets: the CDP name and the params.

    `on_target_destroyed` receives the id of each closed target.
    """

    def __init__(
        self,
        session: Session,
        on_event: Callable[[str, dict[str, Any]], None],
        on_target_destroyed: Callable[[str], None],
    ) -> None:
        self._session = session
        self._notify_event = on_event
        self._notify_destroyed = on_target_destroyed
        self._messages = _TargetMessages(session, self._on_event)
        self._targets: dict[str, Target] = {}
        self._frames: dict[str, _Frame] = {}
        self._pending = PendingDocuments()
        self._network_enabled = False
        self._on_registrations: Callable[[str, dict[str, Any]], None] | None = None
        self._waiters: set[asyncio.Future[None]] = set()
        self._tasks = Tasks()
        session.on("Target.targetCreated", log_exceptions(self._on_created))
        session.on("Target.targetDestroyed", log_exceptions(self._on_destroyed))

    async def discover_targets(self) -> None:
        """Attach to all targets. An unresponsive page delays this by one second at most."""
        kinds = [{"type": kind} for kind in (_PAGE, "iframe", *_WORKERS)]
        await self._session.send("Target.setDiscoverTargets", {"discover": True, "filter": kinds})
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FRAME_TREE_TIMEOUT):
                await self._tasks.wait()

    async def enable_network(self) -> None:
        """Enable the Network domain in all targets, existing and new."""
        if not self._network_enabled:
            self._network_enabled = True
            for target in list(self._targets.values()):
                with contextlib.suppress(PlaywrightError):
                    await self._send_without_reply(target, "Network.enable")

    async def observe_service_workers(self, on_registrations: Callable[[str, dict[str, Any]], None]) -> None:
        """Pass the id of the target and ServiceWorker.workerRegistrationUpdated of all pages, existing and new, first
        with all registrations."""
        is_enabled, self._on_registrations = self._on_registrations is not None, on_registrations
        for target in [each for each in self._targets.values() if each.kind == _PAGE and each.is_ready]:
            with contextlib.suppress(PlaywrightError):
                if is_enabled:
                    await self._send_without_reply(target, "ServiceWorker.disable")
                await self._send_without_reply(target, "ServiceWorker.enable")

    def context_of(self, target_id: str) -> str:
        """The browserContextId of a target; empty if it is closed."""
        target = self._targets.get(target_id)
        return target.context_id if target is not None else ""

    async def refresh_loaders(self) -> None:
        """Toggle Fetch in existing targets. Chromium intercepts only loaders created after Fetch.enable."""
        for target in list(self._targets.values()):
            with contextlib.suppress(PlaywrightError):
                await self._send_without_reply(target, "Fetch.enable", patterns=[{"urlPattern": "nothing:"}])
                await self._send_without_reply(target, "Fetch.disable")

    def stop(self) -> None:
        """Cancel all pending work."""
        self._tasks.cancel()
        for waiter in self._waiters:
            waiter.cancel()
        self._messages.stop()

    async def wait_for_frame(self, frame_id: str, request_id: str | None = None) -> FramePath | None:
        """Wait until the frame or worker is known and attached. Returns None if it is not after 2 seconds.

        With the CDP id of a request, the URL of the frame is that of the document that has sent the request. If that is
        not reported within this time, it is the document that the frame shows.
        """
        path: FramePath | None = None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FRAME_TIMEOUT):
                while (path := self._path(frame_id)) is None or self._pending.is_undecided(frame_id, request_id):
                    waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                    self._waiters.add(waiter)
                    await waiter
        if path is not None and (url := self._pending.url_of_request(frame_id, request_id)):
            (number, _), *ancestors = path.frames
            return FramePath(path.target, ((number, url), *ancestors))
        return path

    def has_frame(self, frame_id: str) -> bool:
        """Whether the frame or worker is known and attached."""
        return self._path(frame_id) is not None

    def url_of(self, frame_id: str | None) -> str | None:
        """The URL of a frame, if the frame is known."""
        frame = self._frames.get(frame_id or "")
        return frame.url if frame else None

    def target(self, target_id: str) -> Target | None:
        """The target with this id."""
        return self._targets.get(target_id)

    def target_of(self, frame_id: str) -> str | None:
        """The id of the page or out-of-process frame that contains a frame or dedicated worker, if it is known."""
        worker = self._targets.get(frame_id)
        if worker is not None and worker.kind in _WORKERS:
            frame_id = worker.parent_frame_id or ""
        frame = self._frames.get(frame_id)
        return frame.target_id if frame else None

    def page_of(self, frame_id: str) -> str | None:
        """The id of the page that contains a frame or dedicated worker, if it is known."""
        path = self._path(frame_id)
        return path.target.id if path is not None else None

    def workers_of(self, target_id: str) -> list[str]:
        """The ids of the dedicated workers in a page or out-of-process frame."""
        workers = (each for each in self._targets.values() if each.kind in _WORKERS)
        return [each.id for each in workers if self.target_of(each.id) == target_id]

    async def is_empty(self, target_id: str) -> bool:
        """Whether a page has committed no document, not even about:blank. Playwright does not report such a page."""
        info = (await self._session.send("Target.getTargetInfo", {"targetId": target_id}))["targetInfo"]
        return not info["url"]

    async def send(self, target_id: str, method: str, **params: Any) -> dict[str, Any]:
        """Send a command to a target; returns its result. Raises Playwright's Error."""
        target = self._targets.get(target_id)
        if target is None:
            raise PlaywrightError("target closed")
        return await within(await self._send_without_reply(target, method, **params), method)

    async def _send_without_reply(self, target: Target, method: str, **params: Any) -> asyncio.Future[dict[str, Any]]:
        return await self._messages.send(target.session_id, method, params)

    def _on_created(self, event: dict[str, Any]) -> None:
        info = event["targetInfo"]
        target = self._targets[info["targetId"]] = Target(
            info["targetId"],
            info.get("subtype") or info["type"],  # A prerendered page has no tab.
            info["url"],
            info.get("browserContextId", ""),
            info.get("openerId"),
            info.get("parentFrameId"),
        )
        if target.kind in _WITH_FRAMES:
            self._upsert_frame(target.id, target.parent_frame_id, target.url, target.id)
        self._tasks.spawn(self._attach(target))

    async def _attach(self, target: Target) -> None:
        try:
            params = {"targetId": target.id, "flatten": False}
            target.session_id = (await self._session.send("Target.attachToTarget", params))["sessionId"]
            if self._network_enabled:
                await self._send_without_reply(target, "Network.enable")
            if target.kind in _WITH_FRAMES:
                await self._send_without_reply(target, "Page.enable")
            if target.kind == _PAGE and self._on_registrations is not None:
                await self._send_without_reply(target, "ServiceWorker.enable")
            target.is_ready = True
            self._wake_waiters()
            if target.kind in _WITH_FRAMES:
                self._add_tree((await self.send(target.id, "Page.getFrameTree"))["frameTree"], target.id)
            if target.kind == "iframe":
                await self._check_ready_state(target)
        except PlaywrightError as error:
            logger.debug("target closed before attach: %s", error)

    async def _check_ready_state(self, target: Target) -> None:
        """Send Page.frameStoppedLoading for a frame that had loaded before it was attached."""
        state = await self.send(target.id, "Runtime.evaluate", expression="document.readyState")
        if state["result"].get("value") != "loading":
            self._notify_event("Page.frameStoppedLoading", {"frameId": target.id})

    def _on_destroyed(self, event: dict[str, Any]) -> None:
        target_id = event["targetId"]
        if self._targets.pop(target_id, None) is not None:
            for frame_id in [each for each, frame in self._frames.items() if frame.target_id == target_id]:
                self._remove_frame(frame_id)
            self._notify_destroyed(target_id)

    def _on_event(self, target_id: str, name: str, event: dict[str, Any]) -> None:
        if name == "Page.frameAttached":
            self._upsert_frame(event["frameId"], event["parentFrameId"], "", target_id)
        elif name == "Page.frameNavigated":
            frame = event["frame"]
            self._pending.commit(frame["id"], frame["loaderId"])
            self._upsert_frame(frame["id"], frame.get("parentId"), frame["url"], target_id)
        elif name == "Page.frameDetached" and event.get("reason") != "swap":
            self._remove_frame(event["frameId"])
        elif name == "ServiceWorker.workerRegistrationUpdated" and self._on_registrations is not None:
            self._on_registrations(target_id, event)
        elif self._pending.on_event(name, event, self._frames):
            self._wake_waiters()
        self._notify_event(name, event)

    def _remove_frame(self, frame_id: str) -> None:
        self._frames.pop(frame_id, None)
        self._pending.remove(frame_id)

    def _add_tree(self, tree: dict[str, Any], target_id: str) -> None:
        frame = tree["frame"]
        self._pending.commit(frame["id"], frame["loaderId"])
        self._upsert_frame(frame["id"], frame.get("parentId"), frame["url"], target_id)
        for child in tree.get("childFrames", ()):
            self._add_tree(child, target_id)

    def _upsert_frame(self, frame_id: str, parent_id: str | None, url: str, target_id: str) -> None:
        known = self._frames.get(frame_id)
        if known is None:
            number = frame_number(frame_id, is_main=parent_id is None)
            self._frames[frame_id] = _Frame(number, parent_id, url, target_id)
        else:
            known.url = url or known.url
            known.parent_id = known.parent_id or parent_id
            known.target_id = target_id
        self._wake_waiters()

    def _path(self, frame_id: str) -> FramePath | None:
        target = self._targets.get(frame_id)
        if target is not None and target.kind in _WORKERS:
            if target.parent_frame_id is None:
                return FramePath(target)
            frame_id = target.parent_frame_id
        frames = list(self._ancestors(frame_id))
        if not frames or frames[-1].parent_id is not None or not self._is_ready(frames[0].target_id):
            return None
        page = self._targets.get(frames[-1].target_id)
        return FramePath(page, tuple((each.number, each.url) for each in frames)) if page and page.is_ready else None

    def _ancestors(self, frame_id: str | None) -> Iterator[_Frame]:
        while frame_id is not None and (frame := self._frames.get(frame_id)) is not None:
            yield frame
            frame_id = frame.parent_id

    def _is_ready(self, target_id: str) -> bool:
        target = self._targets.get(target_id)
        return target is None or target.is_ready

    def _wake_waiters(self) -> None:
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            with contextlib.suppress(asyncio.InvalidStateError):
                waiter.set_result(None)


class _TargetMessages:
    """The messages of all targets. `on_event` receives the target id, the event name and the params of each event.

    They are tunneled with Target.sendMessageToTarget (no `flatten`), so all target sessions end with the browser
    session.
    """

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
