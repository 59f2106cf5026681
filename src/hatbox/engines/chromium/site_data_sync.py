"""What the sites of one identity keep beside cookies: local storage and IndexedDB, saved by origin, and given back.

Storage of other sites inside of a page is not saved: it is partitioned, and belongs to no origin alone. sessionStorage,
caches and service workers are not saved either.
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
from hatbox.tabs.site_data import SiteDataRemoval

__all__ = ["OriginEvaluator", "SiteData"]

logger = logging.getLogger("hatbox.engines.chromium")

_SCRIPT: Final = files(__package__).joinpath("site_data.js").read_text("utf-8").strip()
_SAVE_AFTER: Final = 0.1  # seconds in which many changes become one
_MIN_SAVE_INTERVAL: Final = 2.0  # and between two saves of a site that keeps much
_MAX_SAVE_SHARE: Final = 5  # saving may take one part in so many of the time
_MAX_ORIGIN_CHARS: Final = 32 * 2**20  # characters of one origin
_OVERSIZE_PREFIX: Final = b'{"left":'  # so begins what stands for more than that


class OriginEvaluator(Protocol):
    """Somewhere in the browser where scripts of ours can run."""

    @property
    def origins(self) -> list[str]:
        """The origins that it has documents of."""

    async def run_in(self, origin: str, script: str) -> object:
        """Run a script in a document of this origin; raises LookupError if it has none."""


class SiteData:
    """The site data of one identity. `find` gives the pages that are open."""

    def __init__(self, store: Store, number: int, find: Callable[[], list[OriginEvaluator]]) -> None:
        self._store = store
        self._number = number
        self._find = find
        self._saved: dict[str, bytes] = {}  # what is on disk, as digests
        self._changed: set[str] = set()
        self._asking: Counter[str] = Counter()  # of which what they keep is on its way to the disk
        self._too_large: set[str] = set()  # of which that was said
        self._not_restored: set[str] = set()  # origins whose saved data must stay: the browser has none of it
        self._later = Debouncer(self._save_changed, _SAVE_AFTER)
        self._effort = 0.0  # seconds that the largest site took of late

    async def load(self) -> list[tuple[str, str]]:
        """The origins that keep something, and what it is."""
        rows = await self._store.read(lambda each: each.site_data.load(self._number))
        self._saved = {origin: _digest(data) for origin, data in rows}
        return [(origin, data.decode()) for origin, data in rows]

    async def restore(self, place: OriginEvaluator, origin: str, data: str) -> None:
        """Give an origin what it keeps. `place` has a document of it."""
        try:
            await place.run_in(origin, f"{_SCRIPT}.restore({json.dumps(data)})")
        except (LookupError, PlaywrightError, TimeoutError) as error:
            self.not_restored(origin, error)

    def not_restored(self, origin: str, error: Exception) -> None:
        """Stop saving this origin: that would overwrite the data that could not be restored."""
        self._not_restored.add(origin)
        logger.warning("the site data of %s could not be restored, and stays as it was saved: %r", origin, error)

    def changed(self, origin: str) -> None:
        """Something has changed there: save it soon."""
        self._changed.add(origin)
        self._later.schedule()

    def leaving(self) -> None:
        """A document is about to go: what it has changed is to be saved while it can be asked."""
        self._later.flush()

    def forget(self, forgotten: SiteDataRemoval) -> None:
        """What was saved of some origins is no longer on disk, nor in the browser.

        A page may have been asked before that, and be saved after it: what is in use is saved once more.
        """
        in_use = {*self._changed, *self._asking, *(origin for place in self._find() for origin in place.origins)}
        for origin in filter(forgotten.is_about, {*self._saved, *in_use}):
            self._saved[origin] = _UNKNOWN
            self._not_restored.discard(origin)
            if origin in in_use:
                self.changed(origin)

    async def save(self, place: OriginEvaluator, origin: str) -> None:
        """Save what an origin keeps now, if it is not what is on disk. Nothing if `place` has no document of it."""
        self._asking[origin] += 1
        try:
            await self._save(place, origin)
        finally:
            self._asking -= Counter([origin])

    async def _save(self, place: OriginEvaluator, origin: str) -> None:
        self._changed.discard(origin)
        if origin in self._not_restored:
            return
        began = time.monotonic()
        try:
            data = str(await place.run_in(origin, f"{_SCRIPT}.collect({_MAX_ORIGIN_CHARS})")).encode()
        except (LookupError, PlaywrightError, TimeoutError) as error:
            self._changed.add(origin)
            logger.debug("%s could not be asked what it keeps: %r", origin, error)
            return
        if data.startswith(_OVERSIZE_PREFIX) and origin not in self._too_large:
            self._too_large.add(origin)
            logger.warning("%s keeps more than %d MB: its IndexedDB is not saved", origin, _MAX_ORIGIN_CHARS // 2**20)
        digest = _digest(data)
        if digest == self._saved.get(origin, _NOTHING):
            return
        await self._store.write(lambda each: _keep(each, self._number, origin, data))
        self._saved[origin] = digest
        self._effort = max(self._effort, time.monotonic() - began)

    @property
    def unsaved(self) -> set[str]:
        """The origins of which something is not yet on disk."""
        return set(self._changed)

    def stop(self) -> None:
        """Save nothing more by itself."""
        self._later.cancel()

    async def _save_changed(self) -> None:
        self._effort = 0
        for origin in self.unsaved:
            for place in self._find():
                if origin in place.origins:
                    await self.save(place, origin)
                    break
        self._later.delay = min(max(_SAVE_AFTER, _MAX_SAVE_SHARE * self._effort), _MIN_SAVE_INTERVAL)


def _keep(transaction: Transaction, number: int, origin: str, data: bytes) -> None:
    if number and transaction.identities.get(number) is None:
        return  # it was removed meanwhile, with all that it had
    if data:
        transaction.site_data.put(number, origin, data)
    else:
        transaction.site_data.delete(number, origin)


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


_NOTHING: Final = _digest(b"")
_UNKNOWN: Final = b""  # it differs from all digests
