"""The pages of an extension in tabs: what relative URLs mean, and what the HTTP engine shows of them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hatbox import Profile
from hatbox.api.namespaces.tabs.tab_access import TabAccess
from hatbox.api.namespaces.tabs.tab_arguments import resolve_tab_url
from hatbox.errors import ApiError
from hatbox.extensions.extension import Extension
from hatbox.tabs.tab_model import Tab, TabUpdate
from hatbox.urls.match_patterns import host_permissions
from tests.extensions.made import run_made
from tests.extensions.runtime.lab import needs_deno

UUID = "2f1c3d44-0000-4000-8000-000000000001"
BASE = f"moz-extension://{UUID}/"
FILES = {"pages/options.html": "<title>Options of it</title>", "notes.txt": "<title>none</title>"}


def asker(page: str = BASE + "js/background.html") -> TabAccess:
    return TabAccess(
        "made@example.org",
        has_tabs_permission=False,
        hosts=host_permissions(frozenset()),
        has_cookies_permission=False,
        page=page,
    )


@pytest.mark.parametrize(
    "text",
    [
        "//other.example/page.html",
        "moz-extension://2f1c3d44-0000-4000-8000-000000000002/page.html",
        f"moz-extension://{UUID}:81/page.html",
        f"moz-extension://{UUID}.example/page.html",
        "moz-extension:",
        "file:///etc/passwd",
        "javascript:1",
        "about:config",
        "data:text/html,x",
    ],
)
def test_a_page_that_is_not_the_callers_own_is_refused(text: str) -> None:
    with pytest.raises(ApiError, match=r"^Illegal URL: "):
        resolve_tab_url(text, asker())


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("page.html", "js/page.html"),
        ("/page.html?a=1#b", "page.html?a=1#b"),
        ("../page.html", "page.html"),
        ("../../../page.html", "page.html"),
        ("?a", "js/background.html?a"),
        ("", "js/background.html"),
        (" a b.html ", "js/a%20b.html"),
        (f"moz-extension://{UUID}/a/../page.html", "page.html"),
        (f"MOZ-EXTENSION://{UUID}", ""),
    ],
)
def test_a_relative_url_is_seen_from_the_page_that_calls(text: str, path: str) -> None:
    assert resolve_tab_url(text, asker()) == BASE + path


def test_who_has_no_pages_cannot_mean_one() -> None:
    for text in ("page.html", "/page.html", BASE + "page.html"):
        with pytest.raises(ApiError, match=r"^Illegal URL: "):
            resolve_tab_url(text, asker(""))


async def loaded(profile: Profile, tab_id: int) -> Tab:
    """A tab when its load has ended."""
    done = asyncio.Event()

    def tell(_: TabUpdate) -> None:
        done.set()

    profile.tabs.on_updated.add_listener(tell)
    while (tab := await profile.tabs.get(tab_id)).loading:
        await done.wait()
        done.clear()
    profile.tabs.on_updated.remove_listener(tell)
    return tab


@needs_deno
def test_the_http_engine_shows_a_page_from_the_package(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        async with profile.http_engine():
            base = extension.manifest.base_url
            made = await extension.evaluate("browser.tabs.create({url: 'pages/options.html?a=%2f#top'})")
            tab = await loaded(profile, made["id"])
            assert (tab.url, tab.title, tab.error) == (f"{base}pages/options.html?a=%2f#top", "Options of it", "")
            seen = await extension.evaluate(f"browser.tabs.get({made['id']})")
            assert seen["url"] == tab.url  # without the permission: an extension always has that for its own pages
            await extension.evaluate(f"browser.tabs.update({made['id']}, {{url: '/notes.txt'}})")
            tab = await loaded(profile, made["id"])
            assert (tab.url, tab.title, tab.content_type) == (f"{base}notes.txt", "", "text/plain")
            await extension.evaluate(f"browser.tabs.update({made['id']}, {{url: '/missing.html'}})")
            tab = await loaded(profile, made["id"])
            assert "no running extension has this page" in tab.error
            window = await extension.evaluate("browser.windows.create({url: ['/pages/options.html', '/notes.txt']})")
            tabs = [tab for tab in await profile.tabs.query() if tab.window_id == window["id"]]
            assert [(await loaded(profile, tab.id)).url for tab in tabs] == [
                f"{base}pages/options.html",
                f"{base}notes.txt",
            ]

    run_made(tmp_path, use, files=FILES)


@needs_deno
def test_a_page_of_an_extension_that_does_not_run_is_an_error_of_the_tab(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        async with profile.http_engine():
            await profile.extensions.stop(extension)
            tab = await profile.tabs.open("firefox-default", f"{extension.manifest.base_url}pages/options.html")
            assert "no running extension has this page" in (await loaded(profile, tab.id)).error

    run_made(tmp_path, use, files=FILES)
