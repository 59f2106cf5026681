"""The files of running extensions that web pages may load (`web_accessible_resources`). Implements ExtensionResources.

A page learns nothing from a refusal: it is a network error, as for an extension that does not exist.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Final
from weakref import WeakKeyDictionary

from hatbox.engines.chromium.extension_resources import ResourceRequest, ResourceResponse
from hatbox.errors import HatboxError
from hatbox.extensions.content_scripts.frame_grants import FrameGrants, FrameOwner
from hatbox.extensions.extension import Extension
from hatbox.extensions.package.extension_urls import file_name
from hatbox.extensions.package.manifest import Manifest, WebAccessible
from hatbox.extensions.package_repository import LoadedPackage
from hatbox.extensions.pages.page_files import PageFiles
from hatbox.extensions.pages.page_urls import PageUrls
from hatbox.messaging.message_router import MessageRouter
from hatbox.urls.globs import glob
from hatbox.urls.match_patterns import parse_url_pattern
from hatbox.urls.url import parse_url

__all__ = ["WebResources", "is_web_accessible"]

logger = logging.getLogger("hatbox.extensions")

_MAX_BYTES: Final = 4 << 20  # Chromium takes a response as one text, which takes 15 ms for each MiB
_EVERY_PAGE: Final = "<all_urls>"
_HEADERS: Final = (("access-control-allow-origin", "*"), ("cross-origin-resource-policy", "cross-origin"))


class WebResources:
    """Answers the pages of one engine. `embed` prepares a frame for a page of an extension, by their ids."""

    def __init__(self, messages: MessageRouter, embed: Callable[[str, str], Awaitable[bool]]) -> None:
        self.on_changed = messages.on_running_changed
        """See ExtensionResources."""
        self._messages = messages
        self._embed = embed
        self._grants = FrameGrants()
        self._files: WeakKeyDictionary[Extension, tuple[LoadedPackage, PageFiles]] = WeakKeyDictionary()

    @property
    def are_present(self) -> bool:
        """See ExtensionResources."""
        return next(self._extensions(), None) is not None

    @property
    def depend_on_page(self) -> bool:
        """See ExtensionResources."""
        every = (entry for each in self._extensions() for entry in each.manifest.web_accessible_resources)
        return bool(self._grants) or any(_EVERY_PAGE not in entry.matches for entry in every)

    def chromium_url(self, url: str) -> str | None:
        """See ExtensionResources."""
        extension = self._extension_at(url)
        return None if extension is None else _urls(extension).page_url(url)

    def grant_frame(self, owner: FrameOwner, url: str) -> str:
        """The URL that an element of a content script loads to show a page of its extension. Raises ApiError."""
        granted = self._grants.grant(owner, url)
        self.on_changed.emit(None)
        return granted

    def revoke_frames(self, owner: FrameOwner) -> None:
        """The document of the content scripts has ended."""
        if self._grants.revoke(owner):
            self.on_changed.emit(None)

    async def respond(self, request: ResourceRequest) -> ResourceResponse | None:
        """See ExtensionResources."""
        url, frame_id = request.url, request.frame_id
        if frame_id is not None and (target := self._grants.redirect(url, request.page_id, frame_id)):
            return ResourceResponse([], b"", target)
        extension = self._extension_at(request.url)
        if extension is None:
            return None
        name = file_name(_urls(extension).path_of(request.url) or "")
        is_granted = frame_id is not None and self._grants.take_redirected(url, frame_id)
        if not is_granted and not all(self._allows(extension, each, name) for each in request.document_urls):
            return None
        try:
            found = await asyncio.to_thread(self._files_of(extension).response, request.url)
        except (HatboxError, OSError) as error:
            logger.warning("%s: %.200s: %s", extension.id, request.url, error)
            return None
        if found is None or len(found.body) > _MAX_BYTES:
            return None
        if request.frame_id is not None and not await self._embed(extension.id, request.frame_id):
            return None
        return ResourceResponse([*found.headers, *_HEADERS], found.body)

    def _extensions(self) -> Iterator[Extension]:
        """The running extensions with files for pages."""
        for each in self._messages.running.values():
            if not isinstance(each, Extension):
                continue
            if each.manifest.web_accessible_resources or self._grants.has_extension(each.id):
                yield each

    def _extension_at(self, url: str) -> Extension | None:
        return next((each for each in self._extensions() if _urls(each).path_of(url) is not None), None)

    def _allows(self, extension: Extension, document_url: str, name: str) -> bool:
        document = self._extension_at(document_url)
        if document is extension:
            return True
        if document is not None:
            return _is_accessible_to_extension(extension.manifest, name, document.id)
        return is_web_accessible(extension.manifest, name, document_url)

    def _files_of(self, extension: Extension) -> PageFiles:
        loaded, files = self._files.get(extension, (None, None))
        if files is None or loaded is not extension.loaded:
            files = PageFiles(extension.package, extension.manifest)
            self._files[extension] = extension.loaded, files
        return files


def _urls(extension: Extension) -> PageUrls:
    return PageUrls(extension.manifest.uuid)


def is_web_accessible(manifest: Manifest, path: str, page_url: str) -> bool:
    """Whether a web page may load the file at a path of the package."""
    page = parse_url(page_url)
    if page is None:
        return False
    for entry in _entries_of(manifest, path):
        patterns = map(parse_url_pattern, entry.matches)
        if any(pattern is not None and pattern.matches(page) for pattern in patterns):
            return True
    return False


def _is_accessible_to_extension(manifest: Manifest, path: str, extension_id: str) -> bool:
    """Whether a page of another extension may load the file at a path of the package."""
    entries = _entries_of(manifest, path)
    return any(extension_id in entry.extension_ids or "*" in entry.extension_ids for entry in entries)


def _entries_of(manifest: Manifest, path: str) -> Iterator[WebAccessible]:
    name = f"/{path.lstrip('/')}"
    for entry in manifest.web_accessible_resources:
        if any(glob(f"/{each.lstrip('/')}", question=False).matches(name) for each in entry.resources):
            yield entry
