"""The frames of all pages that are attached, with the execution contexts of their documents. Knows no extension."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from hatbox.engines.chromium.frame_numbers import frame_number
from hatbox.engines.chromium.protocol_hub import HubSession
from hatbox.extension_data.content_script_matching import FrameDocument

__all__ = ["PageFrame", "PageFrames", "WorldContext"]

_INHERITING: Final = ("about:", "data:", "blob:")
_OPAQUE: Final = frozenset({"null", "://"})


class WorldContext:
    """An execution context: one world of one document."""

    def __init__(self, session: HubSession, number: int, unique_id: str, world: str, origin: str = "") -> None:
        self.session = session
        self.number = number
        """The executionContextId. Numbers repeat in other processes."""
        self.unique_id = unique_id
        self.world = world
        """The name of the isolated world; empty for the main world."""
        self.origin = origin
        """The origin of the main world, serialized by Chromium."""


class PageFrame:
    """A frame. It stays the same when it loads another document."""

    def __init__(self, frame_id: str, parent_id: str | None, session: HubSession) -> None:
        self.id = frame_id
        self.parent_id = parent_id
        self.session = session
        """The session of the process that it is in."""
        self.url = ""
        self.origin = ""
        """The origin of its document, serialized by Chromium. An about:srcdoc document has that of its parent."""
        self.contexts: dict[str, WorldContext] = {}
        """The contexts of its document, by the name of the world."""

    @property
    def number(self) -> int:
        """The frameId in the API."""
        return frame_number(self.id, is_main=self.parent_id is None)


class PageFrames:
    """Follows the events of sessions."""

    def __init__(self) -> None:
        self._frames: dict[str, PageFrame] = {}
        self._contexts: dict[tuple[str, int], tuple[PageFrame, WorldContext]] = {}

    def get(self, frame_id: str) -> PageFrame | None:
        """The frame with this CDP id."""
        return self._frames.get(frame_id)

    def context(self, session: HubSession, number: int) -> tuple[PageFrame, WorldContext] | None:
        """The frame and context with this executionContextId of a session."""
        return self._contexts.get((session.id, number))

    def root(self, frame: PageFrame) -> PageFrame:
        """The main frame of the page of a frame."""
        for _ in range(len(self._frames)):
            parent = self._frames.get(frame.parent_id or "")
            if parent is None:
                break
            frame = parent
        return frame

    def in_page(self, main: PageFrame) -> Iterator[PageFrame]:
        """The frames of a page in the order of the frame tree."""
        yield main
        for frame in [*self._frames.values()]:
            if frame.parent_id == main.id:
                yield from self.in_page(frame)

    def matching(self, accept: Callable[[PageFrame], bool]) -> list[PageFrame]:
        """The frames of all pages that `accept` returns true for."""
        return [frame for frame in self._frames.values() if accept(frame)]

    def document(self, frame: PageFrame, cookie_store_id: str) -> FrameDocument:
        """The document of a frame."""
        main = self.root(frame)
        return FrameDocument(
            url=frame.url or "about:blank",
            creator_url=self._creator_url(frame),
            top_url=main.url or "about:blank",
            is_top=frame is main,
            has_opaque_origin=frame.origin in _OPAQUE,
            cookie_store_id=cookie_store_id,
        )

    def attach(self, session: HubSession, parent_frame_id: str | None) -> None:
        """A page or out-of-process frame is attached."""
        frame = self._frames.get(session.target_id)
        if frame is None:
            frame = self._frames[session.target_id] = PageFrame(session.target_id, parent_frame_id, session)
        frame.session = session
        if session.parent_id is None and not frame.url:
            frame.url = session.url

    def detach(self, session: HubSession) -> list[WorldContext]:
        """A session has ended. Returns its contexts. Frames that have moved to another session stay."""
        removed = self._remove_contexts(session)
        for frame in [*self._frames.values()]:
            if frame.session is session and (frame.parent_id is None or frame.id != session.target_id):
                self._frames.pop(frame.id, None)
        return removed

    def on_event(self, session: HubSession, name: str, event: dict[str, Any]) -> list[WorldContext]:
        """Handle an event. Returns the contexts that have ended."""
        match name:
            case "Page.frameTree":
                self._add_tree(session, event)
            case "Page.frameAttached":
                self._upsert(session, event["frameId"], event["parentFrameId"])
            case "Page.frameNavigated":
                self._set_document(session, event["frame"])
                if event.get("type") != "BackForwardCacheRestore":
                    return self._remove_children(event["frame"]["id"])
            case "Page.navigatedWithinDocument":
                if frame := self._frames.get(event["frameId"]):
                    frame.url = event["url"]
            case "Page.frameDetached":
                return self._detach_frame(session, event)
            case "Runtime.executionContextCreated":
                self._add_context(session, event["context"])
            case "Runtime.executionContextDestroyed":
                return self._remove_contexts(session, event["executionContextId"])
            case "Runtime.executionContextsCleared" | "Inspector.targetCrashed":
                return self._remove_contexts(session)
        return []

    def _creator_url(self, frame: PageFrame) -> str:
        """The URL of the nearest ancestor or opener that is no about:, data: or blob: document.

        That frame may have loaded another document since. Then it is the root of the origin that the document has.
        """
        url = self._nearest_url(frame)
        has_origin = bool(frame.origin) and frame.origin not in _OPAQUE
        return f"{frame.origin}/" if has_origin and not url.startswith(f"{frame.origin}/") else url

    def _nearest_url(self, frame: PageFrame) -> str:
        seen: set[str] = set()
        current: PageFrame | None = frame
        while current is not None and current.id not in seen:
            seen.add(current.id)
            if not (current.url or "about:blank").startswith(_INHERITING):
                return current.url
            next_id = current.parent_id if current.parent_id is not None else current.session.opener_id
            current = self._frames.get(next_id or "")
        return ""

    def _upsert(self, session: HubSession, frame_id: str, parent_id: str | None) -> PageFrame:
        frame = self._frames.get(frame_id)
        if frame is None:
            frame = self._frames[frame_id] = PageFrame(frame_id, parent_id, session)
        frame.parent_id = frame.parent_id or parent_id
        frame.session = session
        return frame

    def _set_document(self, session: HubSession, described: dict[str, Any]) -> None:
        frame = self._upsert(session, described["id"], described.get("parentId"))
        frame.url = described["url"] + described.get("urlFragment", "")

    def _add_tree(self, session: HubSession, tree: dict[str, Any]) -> None:
        self._set_document(session, tree["frame"])
        for child in tree.get("childFrames", ()):
            self._add_tree(session, child)

    def _detach_frame(self, session: HubSession, event: dict[str, Any]) -> list[WorldContext]:
        frame = self._frames.get(event["frameId"])
        if frame is None:
            return []
        removed = [
            context for context in [*frame.contexts.values()] if context.session is session and self._forget(context)
        ]
        if event.get("reason") != "swap":
            removed += self._remove_tree(frame)
        return removed

    def _remove_children(self, frame_id: str) -> list[WorldContext]:
        """A frame has a new document. Chromium does not report detached children if that is in another process."""
        children = [frame for frame in self._frames.values() if frame.parent_id == frame_id]
        return [context for frame in children for context in self._remove_tree(frame)]

    def _remove_tree(self, frame: PageFrame) -> list[WorldContext]:
        removed = []
        for each in [*self.in_page(frame)]:
            removed += [context for context in [*each.contexts.values()] if self._forget(context)]
            self._frames.pop(each.id, None)
        return removed

    def _add_context(self, session: HubSession, described: dict[str, Any]) -> None:
        details = described.get("auxData", {})
        frame = self._frames.get(details.get("frameId", ""))
        if frame is None:
            return
        world = described["name"]
        if details.get("isDefault"):
            world, frame.origin = "", described["origin"]
        context = WorldContext(session, described["id"], described["uniqueId"], world, described.get("origin", ""))
        frame.contexts[world] = context
        self._contexts[session.id, context.number] = frame, context

    def _remove_contexts(self, session: HubSession, number: int | None = None) -> list[WorldContext]:
        keys = [key for key in self._contexts if key[0] == session.id and number in (None, key[1])]
        removed = [self._contexts[key][1] for key in keys]
        return [context for context in removed if self._forget(context)]

    def _forget(self, context: WorldContext) -> bool:
        found = self._contexts.pop((context.session.id, context.number), None)
        if found is None:
            return False
        frame, _ = found
        if frame.contexts.get(context.world) is context:
            del frame.contexts[context.world]
        return True
