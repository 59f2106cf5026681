"""The content scripts of the extensions that run in this process, and the engines that inject them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Final, TypeAlias

from hatbox.api.content_script_host import ContentScriptHost
from hatbox.errors import ApiError
from hatbox.extension_data.content_script import ContentScript

__all__ = ["MAX_SCRIPTS", "NO_ENGINE", "ContentScriptRegistry", "ScriptKey"]

ScriptKey: TypeAlias = tuple[str, object]
"""Who registered a script, such as `manifest`, and its name there."""

MAX_SCRIPTS: Final = 1000
"""The maximum number of content scripts of an extension."""
NO_ENGINE: Final = (
    "Content scripts need a page in the Chromium engine of this process, and the tab has none. "
    "Run the extension with --engine chromium"
)


class ContentScriptRegistry:
    """Passes the scripts of each extension to every attached engine, also to engines that are attached later."""

    def __init__(self) -> None:
        self._hosts: list[ContentScriptHost] = []
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._scripts: dict[str, dict[ScriptKey, ContentScript]] = {}

    async def attach(self, host: ContentScriptHost) -> None:
        """Add an engine. It gets the scripts of all running extensions."""
        self._hosts.append(host)
        for extension_id in list(self._scripts):
            await host.set_scripts(extension_id, self.of(extension_id))

    def detach(self, host: ContentScriptHost) -> None:
        """Remove an engine that has stopped."""
        if host in self._hosts:
            self._hosts.remove(host)

    @property
    def has_engine(self) -> bool:
        """Whether an engine with a DOM runs in this process."""
        return bool(self._hosts)

    def host_of(self, tab_id: int) -> ContentScriptHost:
        """The engine that shows a tab. Raises ApiError if none does."""
        host = self.find_host(tab_id)
        if host is None:
            raise ApiError(NO_ENGINE)
        return host

    def find_host(self, tab_id: int) -> ContentScriptHost | None:
        """The engine that shows a tab; None if none does."""
        return next((host for host in self._hosts if host.has_tab(tab_id)), None)

    def of(self, extension_id: str) -> list[ContentScript]:
        """The scripts of an extension, in the order of injection."""
        return list(self._scripts.get(extension_id, {}).values())

    def registered(self, extension_id: str) -> dict[ScriptKey, ContentScript]:
        """The scripts of an extension by key, for `change`. A copy."""
        return dict(self._scripts.get(extension_id, {}))

    def changing(self, extension_id: str) -> asyncio.Lock:
        """A lock for reading and changing the scripts of an extension."""
        return self._locks[extension_id]

    def check(self, scripts: dict[ScriptKey, ContentScript]) -> None:
        """Raise ApiError if these are too many for one extension."""
        if len(scripts) > MAX_SCRIPTS:
            raise ApiError(f"Too many content scripts: {len(scripts)}. An extension can have {MAX_SCRIPTS}")

    async def change(self, extension_id: str, scripts: dict[ScriptKey, ContentScript]) -> None:
        """Replace the scripts of an extension. Returns when documents that load from now on get them."""
        if scripts:
            self._scripts[extension_id] = dict(scripts)
        else:
            self._scripts.pop(extension_id, None)
        for host in list(self._hosts):
            # The current ones, because another call may have changed them while an engine was awaited.
            await host.set_scripts(extension_id, self.of(extension_id))
