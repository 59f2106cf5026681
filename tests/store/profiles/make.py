"""Writes a profile of the latest version, as SQL, and what is in it, as JSON. Run once, when a version is released:

python -m tests.store.profiles.make
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import tempfile
from pathlib import Path

import msgspec

import hatbox
from hatbox.store.base import Transaction
from hatbox.store.grant_tables import ActivityRow, GrantRow
from hatbox.store.record_tables import BookmarkRow, PageRow, VisitRow
from hatbox.store.sqlite.schema import APPLICATION_ID, FORMAT
from hatbox.store.tables.bookmark_tree import UNFILED, root_rows
from hatbox.tabs.pages import PageState, save_page_snapshot, update_page
from tests.store.sealing import edited


async def make(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "profile.db"
        await fill(path)
        with edited(path) as connection:
            unknown_values(connection)
        with contextlib.closing(sqlite3.connect(path)) as connection:
            sql = "\n".join(connection.iterdump())
        async with hatbox.open(path) as profile:
            identities = msgspec.to_builtins(await profile.identities.query())
            tabs = msgspec.to_builtins({"windows": await profile.tabs.windows(), "tabs": await profile.tabs.query()})
    header = f"PRAGMA auto_vacuum = 2;\nPRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {FORMAT};\n"
    (folder / f"v{FORMAT}.sql").write_text(f"{header}{sql}\n", "utf-8")
    (folder / f"v{FORMAT}.json").write_text(json.dumps(identities, indent=1, ensure_ascii=False) + "\n", "utf-8")
    (folder / f"v{FORMAT}.tabs.json").write_text(json.dumps(tabs, indent=1, ensure_ascii=False) + "\n", "utf-8")


async def fill(path: Path) -> None:
    async with hatbox.open(path) as profile:
        made = [
            await profile.identities.create(name, color="purple", icon="tree")
            for name in ("Hüte \U0001f3a9", "Work", "'quoted'", " blanks ", "of the future", "the newest, removed")
        ]
        await profile.identities.update("firefox-container-1", name="Renamed")
        await profile.identities.remove("firefox-container-3")
        await profile.identities.move([made[2], "firefox-container-4"], 0)
        await profile.identities.hide("firefox-container-2")
        await profile.identities.hide(made[1])
        await profile.identities.remove(made[-1])
        await fill_stores(profile, made[0].cookie_store_id)
        await fill_tabs(profile, made[0].cookie_store_id)
        await profile.tabs.write(fill_records)


async def fill_stores(profile: hatbox.Profile, cookie_store_id: str) -> None:
    store = await profile.cookie_store(cookie_store_id)
    await store.receive(["kept=1; Secure; Path=/"], "https://site.example/")
    await profile.tabs.write(lambda each: each.site_data.put(6, "https://site.example", b"what it keeps"))


async def fill_tabs(profile: hatbox.Profile, cookie_store_id: str) -> None:
    """Two windows: pinned, hidden and muted tabs, one opened from another, one that was never loaded, a popup."""
    browser = profile.browser(["tabs", "tabHide", "cookies"], "make")
    first = await browser.tabs.create({"url": "https://site.example/", "cookieStoreId": cookie_store_id})
    page = PageState("https://site.example/home", "Hüte \U0001f3a9", "https://site.example/icon", 200, "text/html")
    await profile.tabs.write(lambda each: update_page(each, first["id"], 1, page))
    await profile.tabs.write(lambda each: save_page_snapshot(each, first["id"], b"where it was"))
    await browser.tabs.create({"url": "https://other.example/", "openerTabId": first["id"], "active": False})
    await browser.tabs.create({"pinned": True, "muted": True, "active": False})
    hidden = await browser.tabs.create({"active": False})
    await browser.tabs.hide(hidden["id"])
    await browser.tabs.create({"cookieStoreId": "firefox-container-1", "active": False})
    await profile.identities.hide("firefox-container-1")
    await browser.windows.create({"type": "popup", "left": 10, "top": 20, "titlePreface": "Pre "})
    await browser.tabs.update(first["id"], {"successorTabId": hidden["id"]})
    await browser.tabs.update(first["id"], {"url": "https://site.example/next"})


def fill_records(transaction: Transaction) -> None:
    """A visited page, a bookmark in a folder, a closed tab, a grant and what it did."""
    transaction.history.put(PageRow(1, 6, "https://site.example/", "H\xfcte", 1, 1, 1700000000.5))
    transaction.history.put_visits([VisitRow(2, 6, 1, 1700000000.5, "typed", 0)])
    transaction.bookmarks.put(root_rows(1700000000.0))
    folder = BookmarkRow("folder______", UNFILED, 0, "folder", "", "Folder", 1700000001.0, 1700000001.0)
    site = BookmarkRow("bookmark____", folder.id, 0, "bookmark", "https://site.example/", "Site", 1700000002.0, 1.0)
    transaction.bookmarks.put([folder, site])
    transaction.closed_tabs.insert(None, 6, 1700000003.0, b"a tab")
    data = b'{"purpose":"H\xc3\xbcte","identities":["firefox-container-6"],"hosts":null,"actions":["fetch"]}'
    transaction.grants.put(GrantRow("grant000", b"\x01" * 32, 1700000004.0, None, None, "make", "machine", data))
    entry = ActivityRow(0, 4102444800.5, "grant000", "make", "machine", 6, "fetch", "site.example", "ok", 2)
    transaction.activity.insert([entry])


def unknown_values(connection: sqlite3.Connection) -> None:
    """As a version with more colors and icons would leave them."""
    connection.execute("UPDATE identities SET color = 'mauve', icon = 'top-hat' WHERE name = 'of the future'")


if __name__ == "__main__":
    asyncio.run(make(Path(__file__).parent))
