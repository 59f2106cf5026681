"""Site data of one identity: localStorage and IndexedDB, saved by origin and restored in a new browser context.

Partitioned storage (of cross-site frames), sessionStorage, caches and service workers are not saved.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from typing import Final, Protocol

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import Debouncer
from hatbox.store.base import Store, Transaction
from hatbox.tabs.site_data import SiteDataRemoval, record_saved

__all__ = ["OriginEvaluator", "SiteDataSync"]

logger = logging.getLogger("hatbox.engines.chromium")

_SCRIPT: Final = files(__package__).joinpath("site_data.js").read_text("utf-8").strip()
_SAVE_DELAY: Final = 0.1
_MAX_SAVE_DELAY: Final = 2.0  # for origins with much data
_MAX_SAVE_SHARE: Final = 5  # saving takes at most one part in so many of the time
_MAX_ORIGIN_CHARS: Final = 32 * 2**20
_OVERSIZE_PREFIX: Final = b'{"left":'  # site_data.js puts it before data that leaves out IndexedDB


class OriginEvaluator(Protocol):
    """Evaluates scripts in the documents of a page, by origin."""

    @property
    def origins(self) -> list[str]:
        """The origins of the documents."""

    async def evaluate_in_origin(self, origin: str, script: str) -> object:
        """Evaluate a script in a document of this origin. Raises LookupError if the page has none."""


class SiteDataSync:
    """The site data of one identity. `evaluators` returns those of the open pages."""

    def __init__(self, store: Store, user_context_id: int, evaluators: Callable[[], list[OriginEvaluator]]) -> None:
        self._store = store
        self._user_context_id = user_context_id
        self._evaluators = evaluators
        self._saved: dict[str, bytes] = {}  # digests of what is on disk
        self._changed: set[str] = set()
        self._saving: Counter[str] = Counter()
        self._oversize: set[str] = set()  # origins with a logged warning
        self._not_restored: set[str] = set()  # origins whose saved data must stay: the browser has none of it
        self._debouncer = Debouncer(self._save_changed, _SAVE_DELAY)
        self._longest_save = 0.0  # seconds
        self._is_abandoned = False

    async def load(self) -> list[tuple[str, str]]:
        """The saved data of each origin."""
        rows = await self._store.read(lambda each: each.site_data.load(self._user_context_id))
        self._saved = {origin: _digest(data) for origin, data in rows}
        return [(origin, data.decode()) for origin, data in rows]

    async def restore(self, evaluator: OriginEvaluator, origin: str, data: str) -> None:
        """Write saved data to an origin, in a document of that origin."""
        try:
            await evaluator.evaluate_in_origin(origin, f"{_SCRIPT}.restore({json.dumps(data)})")
        except (LookupError, PlaywrightError, TimeoutError) as error:
            self.restore_failed(origin, error)

    def restore_failed(self, origin: str, error: Exception) -> None:
        """Stop saving this origin: that would overwrite the data that could not be restored."""
        self._not_restored.add(origin)
        logger.warning("site data: restoring %s failed; the saved data is unchanged: %r", origin, error)

    def changed(self, origin: str) -> None:
        """An origin has changed its data: save it after a delay."""
        self._changed.add(origin)
        self._debouncer.schedule()

    def flush(self) -> None:
        """Save now what is scheduled: a document is about to be unloaded."""
        self._debouncer.flush()

    def cleared(self, removal: SiteDataRemoval) -> None:
        """Data of some origins was cleared on disk and in the browser.

        Data read before the clearing may be saved after it, so origins in use are saved once more.
        """
        in_use = {*self._changed, *self._saving, *(origin for each in self._evaluators() for origin in each.origins)}
        for origin in filter(removal.is_about, {*self._saved, *in_use}):
            self._saved[origin] = _UNKNOWN
            self._not_restored.discard(origin)
            if origin in in_use:
                self.changed(origin)

    async def save(self, evaluator: OriginEvaluator, origin: str) -> None:
        """Save the data of an origin if it differs from the saved data, and if the page has a document of it."""
        self._saving[origin] += 1
        try:
            await self._save(evaluator, origin)
        finally:
            self._saving -= Counter([origin])

    async def _save(self, evaluator: OriginEvaluator, origin: str) -> None:
        self._changed.discard(origin)
        if origin in self._not_restored:
            return
        started = time.monotonic()
        try:
            script = f"{_SCRIPT}.collect({_MAX_ORIGIN_CHARS})"
            data = str(await evaluator.evaluate_in_origin(origin, script)).encode()
        except (LookupError, PlaywrightError, TimeoutError) as error:
            self._changed.add(origin)
            logger.debug("site data: reading %s failed: %r", origin, error)
            return
        if data.startswith(_OVERSIZE_PREFIX) and origin not in self._oversize:
            self._oversize.add(origin)
            logger.warning("site data: %s exceeds %d MB; IndexedDB not saved", origin, _MAX_ORIGIN_CHARS // 2**20)
        digest = _digest(data)
        if self._is_abandoned or digest == self._saved.get(origin, _EMPTY):
            return
        await self._store.write(lambda each: _write(each, self._user_context_id, origin, data))
        self._saved[origin] = digest
        self._longest_save = max(self._longest_save, time.monotonic() - started)

    @property
    def unsaved(self) -> set[str]:
        """The origins with changes that are not yet on disk."""
        return set(self._changed)

    def stop(self) -> None:
        """Cancel scheduled saves."""
        self._debouncer.cancel()

    async def finish(self) -> None:
        """Cancel scheduled saves, and wait for the current one. What it could not save is unsaved then."""
        await self._debouncer.finish()

    def abandon(self) -> None:
        """Save nothing any more, also not what is being read from the browser."""
        self._is_abandoned = True
        self.stop()

    async def _save_changed(self) -> None:
        self._longest_save = 0
        for origin in self.unsaved:
            for evaluator in self._evaluators():
                if origin in evaluator.origins:
                    await self.save(evaluator, origin)
                    break
        self._debouncer.delay = min(max(_SAVE_DELAY, _MAX_SAVE_SHARE * self._longest_save), _MAX_SAVE_DELAY)


def _write(transaction: Transaction, user_context_id: int, origin: str, data: bytes) -> None:
    if user_context_id and transaction.identities.get(user_context_id) is None:
        return  # the identity was removed meanwhile
    if data:
        transaction.site_data.put(user_context_id, origin, data)
    else:
        transaction.site_data.delete(user_context_id, origin)
    record_saved(transaction, user_context_id)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


_EMPTY: Final = _digest(b"")
_UNKNOWN: Final = b""  # differs from all digests
