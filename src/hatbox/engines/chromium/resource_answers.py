"""Answers the paused requests of web pages for files of extensions. A refusal is the same as that of an unknown URL."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from typing import Any, Final
from weakref import WeakValueDictionary

from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.extension_resources import ExtensionResources, ResourceRequest, is_resource_url
from hatbox.engines.chromium.fetch_commands import CONTINUE, FetchCommand, header_entries, redirect
from hatbox.engines.chromium.frame_path import FramePath
from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.chromium.request_details import TabLookup
from hatbox.engines.chromium.resource_floods import REFUSED, ResourceFloods

__all__ = ["ResourceAnswers"]

_CONCURRENT: Final = 4  # answers of one page at the same time
_METHODS: Final = ("GET", "HEAD")


class ResourceAnswers:
    """The answers for the pages of one browser."""

    def __init__(
        self,
        frames: FrameTree,
        tabs: TabLookup,
        resources: ExtensionResources,
        floods: ResourceFloods,
        programs: EndpointPages | None = None,
    ) -> None:
        self._frames = frames
        self._tabs = tabs
        self._resources = resources
        self._programs = programs
        self.floods = floods
        """The pages with too many requests."""
        self._slots: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def redirect_url(self, url: str) -> str | None:
        """The URL to which Chromium can redirect a request instead of a moz-extension:// URL; None if it has none."""
        return self._resources.chromium_url(url)

    async def answer(self, event: Mapping[str, Any]) -> FetchCommand:
        """The command for a paused request."""
        command = await self._decide(event)
        if command is REFUSED:
            self.floods.count_refusal(event["frameId"])
        return command

    async def _decide(self, event: Mapping[str, Any]) -> FetchCommand:
        path = await self._frames.wait_for_frame(event["frameId"], event.get("networkId"))
        if path is None:
            return REFUSED
        if await self._tabs.request_frame(path.target) is None:
            return CONTINUE  # of an extension page, which has an interception of its own
        slots = self._slots.setdefault(path.target.id, asyncio.Semaphore(_CONCURRENT))
        async with slots:
            return await self._respond(event, path)

    async def _respond(self, event: Mapping[str, Any], path: FramePath) -> FetchCommand:
        sent = event["request"]
        is_document = event["resourceType"] == "Document"
        documents = _documents(path, is_document=is_document, referrer=sent["headers"].get("Referer", ""))
        if not documents or sent["method"] not in _METHODS:
            return REFUSED
        frame_id = event["frameId"] if is_document else None
        found = await self._resources.respond(ResourceRequest(sent["url"], documents, frame_id, path.target.id))
        if found is None:
            return REFUSED
        if found.redirect_url is not None:
            return redirect(found.redirect_url)
        if frame_id is not None and self._programs is not None:
            self._programs.withhold_frame(frame_id, path.target.id)
        body = b"" if sent["method"] == "HEAD" else found.body
        encoded = await asyncio.to_thread(lambda: base64.b64encode(body).decode("ascii"))
        params = {"responseCode": 200, "responseHeaders": header_entries(tuple(found.headers))}
        return FetchCommand("Fetch.fulfillRequest", {**params, "body": encoded})


def _documents(path: FramePath, *, is_document: bool, referrer: str) -> tuple[str, ...]:
    """The URLs of the documents that may have started the request. A frame may be navigated by its own document too.

    A request may be paused before the URL of its new document is known. Its referrer, which no page can forge, tells
    that an extension's own document or style sheet has started it.
    """
    if not is_document and is_resource_url(referrer):
        return (referrer,)
    if not is_document:
        return () if path.document_url is None else (path.document_url,)
    parent = FramePath(path.target, path.frames[1:])
    if not parent.frames or parent.document_url is None:
        return ()
    own = path.frames[0][1]
    return (parent.document_url, own) if own.startswith("http") else (parent.document_url,)
