"""The open pages of one extension that are scripted in Python."""

from __future__ import annotations

from urllib.parse import urlsplit

from hatbox.api.caller import ExtensionCaller
from hatbox.api.dispatcher import Dispatcher
from hatbox.extension_data.extension_permissions import ExtensionPermissions
from hatbox.extensions.extension_page import ExtensionPage
from hatbox.extensions.package.manifest import Manifest
from hatbox.messaging.context import ExtensionContext
from hatbox.messaging.message_router import MessageRouter

__all__ = ["ExtensionPages"]

_PYTHON_PAGE = "_generated_hatbox_page.html"


class ExtensionPages:
    """Opens pages with the permissions of the extension, and closes them with it."""

    def __init__(
        self, dispatcher: Dispatcher, messages: MessageRouter, background: ExtensionCaller, base_url: str
    ) -> None:
        self._dispatcher = dispatcher
        self._messages = messages
        self._background = background
        self._open: list[ExtensionPage] = []
        self.python_page = self._create(
            ExtensionContext(background.extension_id, base_url + _PYTHON_PAGE, base_url[:-1], kind="TAB")
        )
        """The page of `Extension.browser`. It stays open when the extension restarts."""

    def open_page(self, url: str, *, tab_id: int | None, frame_id: int, kind: str | None) -> ExtensionPage:
        """Open a page or, with `kind` None, a content script. It receives messages until it is closed."""
        parts = urlsplit(url)
        context = ExtensionContext(
            self._background.extension_id,
            url,
            f"{parts.scheme}://{parts.netloc}",
            kind=kind,
            tab_id=tab_id,
            frame_id=frame_id,
        )
        self._messages.add_context(context)
        page = self._create(context)
        self._open.append(page)
        return page

    def update(self, manifest: Manifest, grants: ExtensionPermissions) -> None:
        """Use the manifest and permissions of a reloaded extension."""
        for caller in (self._background, self.python_page.caller):
            caller.manifest, caller.grants, caller.texts = manifest.for_scripts(), grants, manifest.locales

    def close(self) -> None:
        """Close all pages except that of `Extension.browser`."""
        for page in self._open:
            page.close()
        self._open.clear()

    def _create(self, context: ExtensionContext) -> ExtensionPage:
        return ExtensionPage(self._dispatcher, self._messages, self._background.in_context(context))
