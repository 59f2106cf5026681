"""The frames and workers of a browser, and to which page each belongs, seen over one session with the browser itself.

Every page, frame of another process and worker is a target, with which there is a session inside of that session. So
one that has just opened is found as well, and all of it ends with the one session.
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
from playwright.async_api import CDPSession
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import log_exceptions

__all__ = ["FramePath", "FrameTree", "Target"]

logger = logging.getLogger("hatbox.engines.chromium")

_FRAME_TIMEOUT: Final = 2.0  # seconds for a frame to be told of that has asked for something
_FRAME_TREE_TIMEOUT: Final = 1.0  # and for a page to say which frames it has
_PAGE: Final = "page"
_PRERENDERED: Final = "prerender"
_WITH_FRAMES: Final = (_PAGE, _PRERENDERED, "iframe")
_WORKERS: Final = ("worker", "shared_worker", "service_worker")


class Target(msgspec.Struct):
    """A page, a frame that has a process of its own, or a worker."""

    id: str
    kind: str
    url: str
    context_id: str
    opener_id: str | None
    parent_frame_id: str | None
    session_id: str = ""
    is_ready: bool = False
    """Whether what happens in it is told."""


class _Frame(msgspec.Struct):
    number: int
    parent_id: str | None
    url: str
    target_id: str


class FramePath(msgspec.Struct, frozen=True):
    """Where something was asked for."""

    target: Target
    """The page, or the worker where there is no page."""
    frames: tuple[tuple[int, str], ...] = ()
    """The frame and those around it, to the one at the top, which is 0, and where each of them is."""

    @property
    def document_url(self) -> str | None:
        """Where the document is; that of a frame that has no address of its own is the one around it."""
        urls = (url for _, url in self.frames) if self.frames else iter([self.target.url])
        return next((url for url in urls if url.startswith("http")), None)


class FrameTree:
    """The frames of a browser. `hear` gets what happens in any target: a name of the protocol, and what belongs to it.

    `gone` gets the id of each target that is no longer there.
    """

    def __init__(
        self, session: CDPSession, hear: Callable[[str, dict[str, Any]], None], gone: Callable[[str], None]
    ) -> None:
        self._session = session
        self._hear = hear
        self._gone = gone
        self._targets: dict[str, Target] = {}
        self._frames: dict[str, _Frame] = {}
        self._numbers = itertools.count(1)
        self._ids = itertools.count(1)
        self._network_enabled = False
        self._answers: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._waiting: set[asyncio.Future[None]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        session.on("Target.targetCreated", log_exceptions(self._on_created))
        session.on("Target.targetDestroyed", log_exceptions(self._on_destroyed))
        session.on("Target.receivedMessageFromTarget", log_exceptions(self._on_message))

    async def discover_targets(self) -> None:
        """Look at what there is; resolves when all of it is known. A page that does not answer is not waited for."""
        kinds = [{"type": kind} for kind in (_PAGE, "iframe", *_WORKERS)]
        await self._session.send("Target.setDiscoverTargets", {"discover": True, "filter": kinds})
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_FRAME_TREE_TIMEOUT)

    async def enable_network(self) -> None:
        """From now on what becomes of requests is told too."""
        if not self._network_enabled:
            self._network_enabled = True
            for target in list(self._targets.values()):
                with contextlib.suppress(PlaywrightError):
                    await self._send_without_reply(target, "Network.enable")

    async def refresh_loaders(self) -> None:
        """Have documents and workers that are there ask as new ones do: what they ask for is held only from then on."""
        for target in list(self._targets.values()):
            with contextlib.suppress(PlaywrightError):
                await self._send_without_reply(target, "Fetch.enable", patterns=[{"urlPattern": "nothing:"}])
                await self._send_without_reply(target, "Fetch.disable")

    def stop(self) -> None:
        """Nobody wants to know any more."""
        for task in self._tasks:
            task.cancel()
        for news in self._waiting:
            news.cancel()
        for answer in self._answers.values():
            answer.cancel()

    async def wait_for_frame(self, frame_id: str) -> FramePath | None:
        """Where a frame is, or a worker: when it is known, and is listened to. None if that does not come to be."""
        try:
            async with asyncio.timeout(_FRAME_TIMEOUT):
                while (spot := self._spot(frame_id)) is None:
                    news: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                    self._waiting.add(news)
                    await news
        except TimeoutError:
            return None
        return spot

    def url_of(self, frame_id: str | None) -> str | None:
        """Where a frame is, if that is known."""
        frame = self._frames.get(frame_id or "")
        return frame.url if frame else None

    def set_frame_url(self, frame_id: str, url: str) -> None:
        """A frame is about to show this: what the document asks for may be told before that it is there."""
        if frame := self._frames.get(frame_id):
            frame.url = url

    async def send(self, target_id: str, method: str, **given: Any) -> dict[str, Any]:
        """Send something to a target. Raises PlaywrightError."""
        target = self._targets.get(target_id)
        if target is None:
            raise PlaywrightError("it is gone")
        return await (await self._send_without_reply(target, method, **given))

    async def _send_without_reply(self, target: Target, method: str, **given: Any) -> asyncio.Future[dict[str, Any]]:
        """Send something. The answer is one of the page, which has none while another page is on its way."""
        number = next(self._ids)
        answer = self._answers[number] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(lambda _: self._answers.pop(number, None))
        message = json.dumps({"id": number, "method": method, "params": given})
        await self._session.send("Target.sendMessageToTarget", {"sessionId": target.session_id, "message": message})
        return answer

    # -------------------------------------------------------------------------------------------------------- targets

    def _on_created(self, event: dict[str, Any]) -> None:
        info = event["targetInfo"]
        target = self._targets[info["targetId"]] = Target(
            info["targetId"],
            info.get("subtype") or info["type"],  # a page that is loaded in case somebody wants it has no tab
            info["url"],
            info.get("browserContextId", ""),
            info.get("openerId"),
            info.get("parentFrameId"),
        )
        if target.kind in _WITH_FRAMES:
            self._upsert_frame(target.id, target.parent_frame_id, target.url, target.id)
        task = asyncio.ensure_future(self._attach(target))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _attach(self, target: Target) -> None:
        try:
            given = {"targetId": target.id, "flatten": False}
            target.session_id = (await self._session.send("Target.attachToTarget", given))["sessionId"]
            if self._network_enabled:
                await self._send_without_reply(target, "Network.enable")
            if target.kind in _WITH_FRAMES:
                await self._send_without_reply(target, "Page.enable")
            target.is_ready = True
            self._wake_waiters()
            if target.kind in _WITH_FRAMES:
                self._add_tree((await self.send(target.id, "Page.getFrameTree"))["frameTree"], target.id)
            if target.kind == "iframe":
                await self._check_ready_state(target)
        except PlaywrightError as error:
            logger.debug("a target was gone before it was there: %s", error)

    async def _check_ready_state(self, target: Target) -> None:
        """Whether the document of a frame had come before it was listened to: then nobody has told of that."""
        state = await self.send(target.id, "Runtime.evaluate", expression="document.readyState")
        if state["result"].get("value") != "loading":
            self._hear("Page.frameStoppedLoading", {"frameId": target.id})

    def _on_destroyed(self, event: dict[str, Any]) -> None:
        target_id = event["targetId"]
        if self._targets.pop(target_id, None) is not None:
            self._frames = {each: frame for each, frame in self._frames.items() if frame.target_id != target_id}
            self._gone(target_id)

    def _on_message(self, event: dict[str, Any]) -> None:
        message = json.loads(event["message"])
        if "method" in message:
            self._on_event(event.get("targetId", ""), message["method"], message["params"])
        elif (answer := self._answers.get(message["id"])) is not None and not answer.done():
            if "error" in message:
                answer.set_exception(PlaywrightError(message["error"]["message"]))
                answer.exception()  # maybe nobody asks for it
            else:
                answer.set_result(message["result"])

    # --------------------------------------------------------------------------------------------------------- frames

    def _on_event(self, target_id: str, name: str, event: dict[str, Any]) -> None:
        if name == "Page.frameAttached":
            self._upsert_frame(event["frameId"], event["parentFrameId"], "", target_id)
        elif name == "Page.frameNavigated":
            frame = event["frame"]
            self._upsert_frame(frame["id"], frame.get("parentId"), frame["url"], target_id)
        elif name == "Page.frameDetached" and event.get("reason") != "swap":
            self._frames.pop(event["frameId"], None)
        self._hear(name, event)

    def _add_tree(self, tree: dict[str, Any], target_id: str) -> None:
        frame = tree["frame"]
        self._upsert_frame(frame["id"], frame.get("parentId"), frame["url"], target_id)
        for child in tree.get("childFrames", ()):
            self._add_tree(child, target_id)

    def _upsert_frame(self, frame_id: str, parent_id: str | None, url: str, target_id: str) -> None:
        known = self._frames.get(frame_id)
        if known is None:
            number = next(self._numbers) if parent_id else 0
            self._frames[frame_id] = _Frame(number, parent_id, url, target_id)
        else:
            known.url = url or known.url
            known.parent_id = known.parent_id or parent_id
            known.target_id = target_id
        self._wake_waiters()

    def _spot(self, frame_id: str) -> FramePath | None:
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
        waiting, self._waiting = self._waiting, set()
        for each in waiting:
            with contextlib.suppress(asyncio.InvalidStateError):
                each.set_result(None)
