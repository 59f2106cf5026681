"""What users do, the same on every engine. The profile says what the tabs are; the site says who was signed in.

A scenario is given an adapter (adapters.py), a path for a profile and a site, and knows no engine by name.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

import hatbox
from hatbox.engines.runner import EngineRunner
from tests.engines.adapters import Adapter
from tests.engines.program import Program
from tests.marks import starts
from tests.site import Site

Scenario: TypeAlias = Callable[[Adapter, Path, Site], Awaitable[None]]

WORK, PERSONAL = "firefox-container-2", "firefox-container-1"


async def visit(profile: hatbox.Profile, engine: EngineRunner, identity: str, url: str) -> hatbox.Tab:
    tab = await profile.tabs.open(identity, url)
    return await engine.wait_until_loaded(tab.id)


async def sign_in(profile: hatbox.Profile, engine: EngineRunner, site: Site, name: str) -> hatbox.Tab:
    tab = await visit(profile, engine, name, site.url("/login", user=name, as_=name))
    assert (tab.title, tab.url) == (f"Signed in as {name}", site.url("/me", as_=name))
    return tab


async def two_identities_at_once(adapter: Adapter, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, adapter.run(profile) as engine:
        for name in ("Work", "Personal"):
            await sign_in(profile, engine, site, name)
        assert (await visit(profile, engine, "Banking", site.url("/me"))).title == "Nobody is signed in"
        for name in ("Work", "Personal"):
            assert (await visit(profile, engine, name, site.url("/me", as_=name))).title == f"Signed in as {name}"
        await adapter.synced(engine)
    async with hatbox.open(path) as profile, profile.httpx("Work") as client:
        assert "Signed in as Work" in (await client.get(site.url("/me", as_="Work"))).text
    assert not site.mixed


async def discarded_tabs_load_when_they_are_used(adapter: Adapter, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, adapter.run(profile) as engine:
        browser: Any = profile.browser({"tabs", "cookies"})
        first = await visit(profile, engine, "Work", site.url("/page/1"))
        details = {"url": site.url("/page/2"), "discarded": True, "title": "Later", "cookieStoreId": WORK}
        lazy = (await browser.tabs.create(details))["id"]
        await engine.wait_until_settled()
        pages = adapter.pages(engine)
        assert pages is None or pages == {first.id}
        await profile.tabs.activate(lazy)
        loaded = await engine.wait_until_loaded(lazy)
        assert (loaded.url, loaded.title != "Later", loaded.error) == (site.url("/page/2"), True, "")
        await browser.tabs.discard(first.id)
        await engine.wait_until_settled()
        pages = adapter.pages(engine)
        assert pages is None or pages == {lazy}
    async with hatbox.open(path) as profile, adapter.run(profile) as engine:
        await engine.wait_until_settled()
        pages = adapter.pages(engine)
        assert pages is None or pages == {lazy}
        await profile.tabs.reload(first.id)
        again = await engine.wait_until_loaded(first.id)
        assert (again.discarded, again.url, again.title) == (False, first.url, first.title)


@starts("process")
async def hide_restart_show(adapter: Adapter, path: Path, site: Site) -> None:
    await _hide_restart_show(adapter, path, site, kill=False)


@starts("process")
async def hide_kill_show(adapter: Adapter, path: Path, site: Site) -> None:
    await _hide_restart_show(adapter, path, site, kill=True)


async def _hide_restart_show(adapter: Adapter, path: Path, site: Site, *, kill: bool) -> None:
    def first_host() -> None:
        with Program(path, adapter.name) as host:
            for name, url in (
                ("Work", site.url("/login", user="Work", as_="Work")),
                ("Personal", site.url("/login", user="Personal", as_="Personal")),
                ("Work", site.url("/page/1")),
            ):
                host.engine("wait_until_loaded", host.tabs("open", name, url)["id"])
            host.identities("hide", WORK)
            host.engine("wait_until_settled")
            if kill:
                host.kill()

    await asyncio.to_thread(first_host)
    async with hatbox.open(path) as profile:
        before = await profile.tabs.query()
        assert [tab.hidden for tab in before] == [True, False, True]
        async with adapter.run(profile) as engine:
            await engine.wait_until_settled()
            pages = adapter.pages(engine)
            assert pages is None or pages == {before[1].id}
            await profile.identities.show(WORK)
            await engine.wait_until_settled()
            for tab in before:
                await engine.wait_until_loaded(tab.id)
            after = await profile.tabs.query()
            assert [(tab.id, tab.url, tab.title) for tab in after] == [(tab.id, tab.url, tab.title) for tab in before]
            assert not any(tab.hidden for tab in after)
            again = await visit(profile, engine, "Work", site.url("/me", as_="Work"))
            assert again.title == "Signed in as Work"
    assert not site.mixed


async def rotation(adapter: Adapter, path: Path, site: Site) -> None:
    """Each side must use what the other was given last."""
    async with hatbox.open(path) as profile, adapter.run(profile) as engine, profile.httpx("Work") as client:
        await sign_in(profile, engine, site, "Work")
        for _ in range(3):
            assert (await visit(profile, engine, "Work", site.url("/rotate"))).title == "Still Work"
            await adapter.synced(engine)
            assert (await client.get(site.url("/rotate"))).status_code == 200
            await adapter.synced(engine)
    assert not site.stale
    assert len(site.requests("/rotate")) == 6


async def removal_while_pages_are_open(adapter: Adapter, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, adapter.run(profile) as engine:
        for name in ("Work", "Personal"):
            await sign_in(profile, engine, site, name)
        await profile.tabs.open("Work", site.url("/slow"))
        await asyncio.to_thread(site.wait_for, "/slow")
        await profile.identities.remove(WORK)
        await engine.wait_until_settled()
        site.released.set()
        left = await profile.tabs.query()
        assert [tab.cookie_store_id for tab in left] == [PERSONAL]
        assert adapter.pages(engine) in (None, {left[0].id})
        seen = len(site.users("/me"))
        new = await profile.identities.create("Work", color="red", icon="briefcase")
        tab = await profile.tabs.open(new, site.url("/me"))
        assert (await engine.wait_until_loaded(tab.id)).title == "Nobody is signed in"
        assert (await visit(profile, engine, "Personal", site.url("/me"))).title == "Signed in as Personal"
        assert site.users("/me")[seen:] == ["", "Personal"]
    assert not site.mixed


@starts("process")
async def hide_from_another_process(adapter: Adapter, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, adapter.run(profile) as engine:
        work, personal = [await sign_in(profile, engine, site, name) for name in ("Work", "Personal")]
        with await asyncio.to_thread(Program, path) as other:
            await asyncio.to_thread(other.identities, "hide", WORK)
            await engine.wait_until_settled()
            assert (await profile.tabs.get(work.id)).hidden
            assert adapter.pages(engine) in (None, {personal.id})
            await asyncio.to_thread(other.identities, "show", WORK)
            await engine.wait_until_settled()
            shown = await engine.wait_until_loaded(work.id)
            assert (shown.hidden, shown.title) == (False, "Signed in as Work")
            assert adapter.pages(engine) in (None, {work.id, personal.id})
    assert not site.mixed


SCENARIOS: Final[dict[str, Scenario]] = {
    scenario.__name__: scenario
    for scenario in (
        two_identities_at_once,
        discarded_tabs_load_when_they_are_used,
        hide_restart_show,
        hide_kill_show,
        rotation,
        removal_while_pages_are_open,
        hide_from_another_process,
    )
}
