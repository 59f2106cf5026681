"""An extension that shows something, without any of its scripts, and a tab to click in."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import hatbox
from hatbox import Profile
from hatbox.api.browser import Browser
from hatbox.api.caller import ExtensionCaller
from hatbox.extension_data.extension_permissions import ExtensionPermissions, Permissions
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.tabs.pages import PageState, update_page
from hatbox.tabs.tab_model import Tab
from tests.api.caller import UUID

ID: Final = "pressed@example.org"
PAGE: Final = "https://site.example/page"
PERSISTENT: Final[dict[str, Any]] = {"manifest_version": 2, "name": "Pressed", "background": {"persistent": True}}
EVENT_PAGE: Final[dict[str, Any]] = {"manifest_version": 2, "name": "Pressed", "background": {"persistent": False}}


def caller_of(manifest: dict[str, Any], *permissions: str, extension_id: str = ID) -> ExtensionCaller:
    grants = ExtensionPermissions(Permissions(permissions), Permissions())
    return ExtensionCaller(extension_id, UUID, manifest, grants)


def browser_of(profile: Profile, manifest: dict[str, Any], *permissions: str, extension_id: str = ID) -> Browser:
    return Browser(profile._dispatcher, caller_of(manifest, *permissions, extension_id=extension_id))


def in_profile(tmp_path: Path, use: Callable[[Profile], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(60), hatbox.open(tmp_path / "profile.db") as profile:
            await use(profile)

    asyncio.run(main())


async def tab_at(profile: Profile, url: str = PAGE) -> Tab:
    """A tab that shows this page; the first one is active."""
    tab = await profile.tabs.open(DEFAULT_COOKIE_STORE_ID, url)
    return await arrive(profile, tab)


async def go(profile: Profile, tab: Tab, url: str) -> Tab:
    """A tab that shows another page, or the same once more."""
    return await arrive(profile, await profile.tabs.navigate(tab.id, url))


async def arrive(profile: Profile, tab: Tab) -> Tab:
    """A tab whose page has come, as an engine tells it."""
    await profile.tabs.write(
        lambda each: update_page(each, tab.id, tab.navigation_id, PageState(tab.pending_url or tab.url))
    )
    return await profile.tabs.get(tab.id)
