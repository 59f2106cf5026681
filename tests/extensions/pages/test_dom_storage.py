"""Databases of pages are on disk when their browser context is closed, also if they were being saved."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from playwright.async_api import Error as PlaywrightError

import hatbox
from hatbox.engines.chromium.site_data_sync import SiteDataSync
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extensions.local_storage import LocalStorage
from hatbox.extensions.pages.dom_storage import KIND, DomStorage
from tests.store.in_loop import in_loop
from tests.waiting import until

DATABASES = [{"name": "db", "version": 1, "stores": []}]
RECORD = InstalledExtension(id="x", path="/x", name="X", version="1", area="x", permanent=False)


class HeldPage:
    """A page whose databases are read when `answer` is set."""

    runtimes = (object(),)
    origins = ("https://a.test",)

    def __init__(self, text: str | None) -> None:
        self.text = text
        self.asked = False
        self.answer = asyncio.Event()
        self.session = SimpleNamespace(send=self._send, on=self._on)

    async def evaluate(self, script: str) -> str:
        self.asked = True
        await self.answer.wait()
        if self.text is None:
            raise PlaywrightError("the page was closed")
        return self.text

    async def evaluate_in_origin(self, origin: str, script: str) -> str:
        return await self.evaluate(script)

    async def _send(self, method: str, params: Any = None) -> dict[str, Any]:
        return {}

    def _on(self, event: str, listener: Callable[[Any], None]) -> None:
        pass


@in_loop
async def test_databases_that_are_being_saved_are_stored_when_the_context_closes(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        store = profile._store
        await store.write(lambda each: installed.install(each, RECORD))
        storage = DomStorage(store, "x", LocalStorage(store, "x"))
        context: Any = SimpleNamespace(urls=SimpleNamespace(origin="https://x.test"))
        await storage.restore(context)
        page: Any = HeldPage(json.dumps({"local": [], "databases": DATABASES}))
        await storage.attach(page)
        storage.databases_changed()
        await until(lambda: page.asked)
        saving = asyncio.create_task(storage.save(context))
        await asyncio.sleep(0)
        page.answer.set()
        await saving
        storage.detach()
        stored = await store.read(lambda each: each.extensions.get("x", KIND, ""))
        assert json.loads(stored or b"{}") == {"local": [], "databases": DATABASES}


@in_loop
async def test_site_data_whose_page_closes_while_it_is_read_is_unsaved(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        page: Any = HeldPage(None)
        site_data = SiteDataSync(profile._store, 0, lambda: [page])
        site_data.changed(page.origins[0])
        await until(lambda: page.asked)
        finishing = asyncio.create_task(site_data.finish())
        await asyncio.sleep(0)
        assert not finishing.done()
        page.answer.set()
        await finishing
        assert site_data.unsaved == {page.origins[0]}
