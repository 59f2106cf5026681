"""localStorage and IndexedDB of the pages of one extension: restored in a new browser context, saved in the profile.

localStorage is the one of the background: each change is written at once, and passed to the other side. Databases are
saved as a whole some time after a change. Keys of crypto.subtle that are not extractable are not saved.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Callable, Sequence
from importlib.resources import files
from typing import Any, Final, Protocol

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.closing import close_page
from hatbox.engines.chromium.debounce import Debouncer
from hatbox.engines.chromium.sessions import within
from hatbox.errors import HatboxError
from hatbox.extension_data import installed_extensions as installed
from hatbox.extensions.local_storage import LocalStorage
from hatbox.extensions.pages.page_context import PageContext
from hatbox.extensions.pages.page_files import BLANK_PAGE
from hatbox.extensions.pages.storage_events import ObservedSession, StorageEvents
from hatbox.extensions.runtime import Runtime
from hatbox.store.base import Store, Transaction
from hatbox.tasks import Tasks

__all__ = ["KIND", "DomStorage", "StoragePage"]

logger = logging.getLogger("hatbox.extensions")

KIND: Final = "pageDatabases"
"""The kind of the row with the databases of pages."""

_SITE_DATA: Final = files("hatbox.engines.chromium").joinpath("site_data.js").read_text("utf-8").strip()
_MAX_CHARACTERS: Final = 32 << 20
_SAVE_DELAY: Final = 0.1
_LOAD: Final = """([entries, databases]) => {
  for (const [key, value] of entries) value === null ? localStorage.removeItem(key) : localStorage.setItem(key, value);
  return databases === null ? null : SITE_DATA.restore(databases);
}""".replace("SITE_DATA", _SITE_DATA)
_APPLY: Final = """((key, value) => {
  const oldValue = key === null ? null : localStorage.getItem(key);
  if (key === null) localStorage.clear();
  else if (value === null) localStorage.removeItem(key);
  else localStorage.setItem(key, value);
  const storageArea = localStorage; // Chromium notifies only other documents
  dispatchEvent(new StorageEvent("storage", {key, oldValue, newValue: value, url: location.href, storageArea}));
})"""


class StoragePage(Protocol):
    """A page whose storage is observed: a window (PageDocuments), or the background."""

    @property
    def session(self) -> ObservedSession:
        """A CDP session of the page."""

    @property
    def runtimes(self) -> Sequence[Runtime]:
        """The scripts of its documents; empty while it has none."""

    async def evaluate(self, script: str) -> object:
        """Evaluate a script in an isolated world of the main document. Raises LookupError without a document."""


class DomStorage:
    """The storage of one extension in one browser. `on_change` gets each change that a page makes in localStorage."""

    def __init__(
        self,
        store: Store,
        area: str,
        local_storage: LocalStorage,
        on_change: Callable[[str | None, str | None], None] = lambda _, __: None,
    ) -> None:
        self._store = store
        self._area = area
        self._local_storage = local_storage
        self._on_change = on_change
        self._entries: dict[str, str] = {}
        """localStorage as the pages have it, or will have it."""
        self._unapplied: dict[str, str | None] = {}
        """Changes of the background while no page was open."""
        self._documents: dict[StoragePage, StorageEvents] = {}
        self._context: PageContext | None = None
        self._has_unsaved_databases = False
        self._saver = Debouncer(self._save_databases, _SAVE_DELAY)
        self._tasks = Tasks(_log_failure)

    async def restore(self, context: PageContext) -> None:
        """Write what is stored to a new context, and save its changes from now on."""
        self._entries = dict(await self._local_storage.load())
        self._unapplied = {}
        databases = await self._store.read(lambda transaction: transaction.extensions.get(self._area, KIND, ""))
        self._context = context
        if self._entries or databases is not None:
            await self._write(list(self._entries.items()), None if databases is None else databases.decode())

    async def attach(self, documents: StoragePage) -> None:
        """Observe a new page, and write what has changed since the last page was closed."""
        session = documents.session
        if self._unapplied:
            unapplied, self._unapplied = self._unapplied, {}
            await self._write(list(unapplied.items()), None)
        events = StorageEvents(session, self._origin, self, lambda: self._read_again(documents), self._tasks)
        self._documents[documents] = events
        await events.start()

    def remove(self, documents: StoragePage) -> None:
        """A page was closed."""
        events = self._documents.pop(documents, None)
        if events is not None and events.is_paused and self._context is not None:
            self._tasks.spawn(self._read_again(None))

    def background_changed(self, key: str | None, value: str | None) -> None:
        """The background has changed localStorage: apply the change in the pages."""
        if self._context is None:
            return
        before = list(self._entries)
        if key is None:
            self._entries.clear()
        elif value is None:
            self._entries.pop(key, None)
        else:
            self._entries[key] = value
        if (page := self._open_page()) is not None:
            self._tasks.spawn(page.evaluate(f"{_APPLY}({json.dumps(key)}, {json.dumps(value)})"))
        elif key is None:
            self._unapplied = dict.fromkeys([*before, *self._unapplied])
        else:
            self._unapplied[key] = value

    async def save(self, context: PageContext) -> None:
        """Save what is not saved yet: the context is about to be closed."""
        if context is self._context:
            await self._saver.finish()
            if self._has_unsaved_databases:
                await self._save_databases()
        await self._local_storage.flush()

    def detach(self) -> None:
        """Stop all work: the context is closed."""
        self._context = None
        self._saver.cancel()
        self._tasks.cancel()
        self._documents.clear()

    @property
    def _origin(self) -> str:
        return "" if self._context is None else self._context.urls.origin

    def _open_page(self) -> StoragePage | None:
        return next((each for each in self._documents if each.runtimes), None)

    # --------------------------------------------------------------------------------------------------- localStorage

    def item_changed(self, key: str, value: str | None) -> None:
        """See StorageObserver. The change may be one that was applied to the page."""
        if self._entries.get(key) != value:
            if value is None:
                del self._entries[key]
            else:
                self._entries[key] = value
            self._changed(key, value)

    def items_cleared(self) -> None:
        """See StorageObserver."""
        if self._entries:
            self._entries.clear()
            self._changed(None, None)

    async def _read_again(self, page: StoragePage | None) -> None:
        """Compare localStorage with what is known: changes were not reported."""
        script = "JSON.stringify(Object.entries(localStorage))"
        text = await self._in_blank_page(script) if page is None else await page.evaluate(script)
        found: dict[str, str] = dict(json.loads(str(text)))
        for key in self._entries.keys() - found.keys():
            self.item_changed(key, None)
        for key, value in found.items():
            self.item_changed(key, value)
        self.databases_changed()

    def _changed(self, key: str | None, value: str | None) -> None:
        if not self._local_storage.change(key, value):
            logger.warning("%s: localStorage exceeds its quota; a change of a page is not saved", self._area)
        self._on_change(key, value)

    # ------------------------------------------------------------------------------------------------------ databases

    def databases_changed(self) -> None:
        """See StorageObserver."""
        self._has_unsaved_databases = True
        self._saver.schedule()

    async def _save_databases(self) -> None:
        self._has_unsaved_databases, is_saved = False, False
        try:
            is_saved = await self._write_databases(await self._collect())
        finally:
            self._has_unsaved_databases |= not is_saved

    async def _write_databases(self, data: bytes | None) -> bool:
        if data is None:
            return False

        def write(transaction: Transaction) -> None:
            if installed.get(transaction, self._area) is not None:  # else it was removed while running
                transaction.extensions.put(self._area, KIND, "", data)

        try:
            await self._store.write(write)
        except HatboxError as error:
            logger.error("databases of pages of %s: write failed: %s", self._area, error)
            return False
        return True

    async def _collect(self) -> bytes | None:
        script = f"{_SITE_DATA}.collect({_MAX_CHARACTERS})"
        text: object = None
        with contextlib.suppress(PlaywrightError, LookupError):
            if (page := self._open_page()) is not None:
                text = await page.evaluate(script)
        if text is None and self._context is not None:
            text = await self._in_blank_page(script)
        if text is None:
            return None
        collected = json.loads(str(text) or "{}")
        if "left" in collected:
            logger.warning("%s: databases of pages exceed %d MB; not saved", self._area, _MAX_CHARACTERS >> 20)
            return None
        return json.dumps({"local": [], "databases": collected.get("databases", [])}).encode()

    # ------------------------------------------------------------------------------------------------------ documents

    async def _write(self, entries: list[tuple[str, str | None]], databases: str | None) -> None:
        await self._in_blank_page(_LOAD, [entries, databases])

    async def _in_blank_page(self, script: str, argument: Any = None) -> object:
        """Evaluate a script in a document of the extension that has no other script."""
        if self._context is None:
            raise LookupError("the browser context is closed")
        page = await within(self._context.new_page(), "Target.createTarget")
        try:
            await within(page.goto(f"{self._origin}/{BLANK_PAGE}"))
            return await within(page.evaluate(script, argument))
        finally:
            await close_page(page)


def _log_failure(error: BaseException) -> None:
    level = logging.DEBUG if isinstance(error, (PlaywrightError, LookupError)) else logging.ERROR
    logger.log(level, "storage of extension pages: background task failed", exc_info=error)
