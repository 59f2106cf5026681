"""Real Playwright with a real Chromium on the other side: it opens what was exported, and its file is imported."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, async_playwright

import hatbox
from hatbox.cookies import Cookie, Partition, SameSite
from hatbox.formats import FORMATS, Bundle, BundleEntry
from hatbox.formats.origin_storage import RECORDS
from hatbox.formats.structured_values import BLOBS, DATES, KEYS, PROTO, VIEWS
from tests.engines.chromium.real import with_browser
from tests.engines.chromium.test_site_data import READ, WRITE
from tests.site import Site

STATE = FORMATS["storage-state"]

# What Playwright writes as empty objects; and cyclic objects, at which the driver of Playwright 1.65 crashes.
FOREIGN = ("blob:", "file:", "key,", "locked:", "data:", "proto:", "cycle,", "never:")
UNREADABLE = ("blob:", "file:", "key:", "data:", "proto:", "never:")
WRITE_TRANSLATABLE = "\n".join(line for line in WRITE.splitlines() if not line.strip().startswith(FOREIGN))


@asynccontextmanager
async def playwright_browser(path: str) -> AsyncIterator[Browser]:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=path, chromium_sandbox=not is_root)
        yield running
        await running.close()


def readable(names: tuple[str, ...]) -> str:
    """The script that reads the database, without what is not in it."""
    return "\n".join(line for line in READ.splitlines() if not line.strip().startswith(names))


@with_browser
async def test_playwright_restores_the_site_data_of_an_identity(browser: str, tmp_path: Path, site: Site) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/page/1"))
            await page.evaluate(WRITE)
            await page.evaluate("document.cookie = 'sid=1; Max-Age=1000'")
            before: dict[str, Any] = await page.evaluate(READ)
        written = STATE.write(await profile.export_bundle(["Work"]))
    assert (written.cookies, written.origins) == (1, 1)
    lost = {BLOBS: 2, KEYS: 1, VIEWS: 1, PROTO: 1, DATES: 1}
    assert {name: count for name, count in written.dropped.items() if "IndexedDB" in name} == {
        RECORDS.format(kind): count for kind, count in lost.items()
    }
    file = tmp_path / "state.json"
    file.write_bytes(written.data)
    async with playwright_browser(browser) as running:
        context = await running.new_context(storage_state=file)
        page = await context.new_page()
        await page.goto(site.url("/page/1"))
        after = await page.evaluate(readable(UNREADABLE))
        assert [each["name"] for each in await context.cookies()] == ["sid"]
    missing = ("blob", "file", "key", "data", "proto", "never")
    expected = {name: value for name, value in before.items() if name not in missing}
    assert after == expected | {
        "keys": before["keys"] - 7,  # with the one that the profile could not save either
        "locked": True,
        "counted": [before["counted"][0] + 1, True],
    }


@with_browser
async def test_a_file_of_playwright_goes_through_a_profile_unchanged(browser: str, tmp_path: Path, site: Site) -> None:
    file = tmp_path / "state.json"
    async with playwright_browser(browser) as running:
        context = await running.new_context()
        page = await context.new_page()
        await page.goto(site.url("/page/1"))
        await page.evaluate(WRITE_TRANSLATABLE)
        await page.evaluate("document.cookie = 'sid=1; Max-Age=1000; SameSite=Lax'")
        # Playwright for Node.js writes lone surrogates escaped, that for Python fails at `path`.
        file.write_text(json.dumps(await context.storage_state(indexed_db=True), indent=2))
        seen = await page.evaluate(readable((*UNREADABLE, "cycle:")))
    given = json.loads(file.read_bytes())
    assert given["origins"][0]["indexedDB"][0]["name"] == "kinds"
    async with hatbox.open(tmp_path / "profile.db") as profile:
        bundle = STATE.read(file.read_bytes(), str(file))
        report = await profile.import_bundle(bundle, "Work")
        assert (report.cookies_new, report.origins_new, report.dropped, report.skipped) == (1, 1, {}, {})
        assert (await profile.import_bundle(bundle, "Work")).origins_unchanged == 1
        written = STATE.write(await profile.export_bundle(["Work"]))
        assert without_ids(json.loads(written.data)["origins"]) == without_ids(given["origins"])
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/page/1"))
            assert await page.evaluate("document.cookie") == "sid=1"
            restored = await page.evaluate(readable((*UNREADABLE, "cycle:")))
    seen["counted"][0] -= 1  # its file was written before "three" was
    assert restored == seen | {"counted": [restored["counted"][0], True]}


def without_ids(value: Any) -> Any:
    """Playwright does not write the numbers of objects in a fixed order."""
    if isinstance(value, list):
        return [without_ids(each) for each in value]
    if isinstance(value, dict):
        return {name: without_ids(each) for name, each in value.items() if name not in ("id", "ref")}
    return value


@with_browser
async def test_playwright_accepts_every_cookie_that_is_not_left_out(browser: str, tmp_path: Path) -> None:
    def cookie(name: str, value: str = "v", **more: Any) -> Cookie:
        return Cookie(name=name, value=value, **{"domain": "site.example", **more})

    secure: dict[str, Any] = {"secure": True, "same_site": SameSite.NONE}
    texts = ["\t", "a\tb", "\x7f", " v", "v ", "a b", '"q"', "a=b,c", "Ã¼", "\xff", "", "v" * 4080]
    cookies = [
        *(cookie(f"value{place}", text) for place, text in enumerate(texts)),
        *(cookie(f"name{text}") for text in ("\tx", " x", "x ", "x\x01", "ü".encode().decode("latin-1"), "#$")),
        *(cookie(f"path{place}", path=f"/{text}") for place, text in enumerate(["\t", "a\\b", "a b", "x" * 1000])),
        cookie("", "nameless"),
        cookie("shared", host_only=False, expires=9e9),
        cookie("late", expires=9e15),
        cookie("none", same_site=SameSite.NONE),
        cookie("__Host-x", secure=True),
        cookie("__Secure-x", secure=True),
        cookie("address", domain="127.0.0.1"),
        cookie("sixth", domain="[::1]"),
        cookie("punycode", domain="xn--bcher-kva.example"),
        cookie("part", partition=Partition("https://top.example", True), **secure),
        cookie("own", partition=Partition("https://site.example"), **secure),
        cookie("port", partition=Partition("https://top.example:8443", True), **secure),
        cookie("plainpart", partition=Partition("https://top.example", True)),
    ]
    written = STATE.write(Bundle([BundleEntry(None, cookies)]))
    left_out = {each.name for names in written.left_out.values() for each in names}
    assert {
        "value0",
        "value1",
        "value2",
        "value3",
        "value4",
        "value9",
        "path0",
        "none",
        "port",
        "plainpart",
    } <= left_out
    file = tmp_path / "state.json"
    file.write_bytes(written.data)
    async with playwright_browser(browser) as running:
        context = await running.new_context(storage_state=file)
        found = await context.cookies()
    assert len(found) == written.cookies == len(cookies) - sum(map(len, written.left_out.values()))
    given = {(each["name"], each["path"]): each["value"] for each in json.loads(written.data)["cookies"]}
    assert {(each["name"], each["path"]): each["value"] for each in found if each["name"] != "path2"} == {
        key: value
        for key, value in given.items()
        if key[0] != "path2"  # Chromium writes %20
    }
