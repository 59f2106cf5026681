"""What the sites of one identity keep beside cookies: local storage and IndexedDB, saved by origin, and given back.

Storage of other sites inside of a page is not saved: it is partitioned, and belongs to no origin alone. sessionStorage,
caches and service workers are not saved either.
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Callable
from importlib.resources import files
from typing import Final, Protocol

from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.work import Later
from hatbox.site_data import Forgotten
from hatbox.store.base import Store, Transaction

__all__ = ["Place", "SiteData"]

logger = logging.getLogger("hatbox.engines.chromium")

_SCRIPT: Final = files(__package__).joinpath("site_data.js").read_text("utf-8").strip()
_SAVE_AFTER: Final = 0.3  # seconds in which many changes become one
_EFFORT: Final = 10  # saving may take one part in so many of the time
_LARGEST: Final = 32 * 2**20  # characters of one origin


class Place(Protocol):
    """Somewhere in the browser where scripts of ours can run."""

    async def run_in(self, origin: str, script: str) -> object:
        """Run a script in a document of this origin; raises LookupError if it has none."""


class SiteData:
    """The site data of one identity. `find` gives the pages that are open."""

    def __init__(self, store: Store, number: int, find: Callable[[], list[Place]]) -> None:
        self._store = store
        self._number = number
        self._find = find
        self._saved: dict[str, bytes] = {}  # what is on disk, as digests
        self._changed: set[str] = set()
        self._seen: set[str] = set()  # all that keep something in the browser, or have kept something
        self._later = Later(self._save_changed, _SAVE_AFTER)

    async def load(self) -> list[tuple[str, str]]:
        """The origins that keep something, and what it is."""
        rows = await self._store.read(lambda each: each.site_data.load(self._number))
        self._saved = {origin: _digest(data) for origin, data in rows}
        self._seen = set(self._saved)
        return [(origin, data.decode()) for origin, data in rows]

    async def restore(self, place: Place, origin: str, data: str) -> None:
        """Give an origin what it keeps. `place` has a document of it."""
        try:
            await place.run_in(origin, f"{_SCRIPT}.restore({json.dumps(data)})")
        except PlaywrightError as error:
            logger.warning("what %s keeps could not be given back: %s", origin, error)

    def changed(self, origin: str) -> None:
        """Something has changed there: save it soon."""
        self._changed.add(origin)
        self._seen.add(origin)
        self._later.soon()

    async def save(self, place: Place, origin: str) -> bool:
        """Save what an origin keeps now, if it is not what is on disk. False if it could not be asked."""
        try:
            data = str(await place.run_in(origin, f"{_SCRIPT}.collect({_LARGEST})")).encode()
        except LookupError:
            return False
        except PlaywrightError as error:
            logger.debug("%s could not be asked what it keeps: %s", origin, error)
            return False
        self._changed.discard(origin)
        digest = _digest(data)
        if digest != self._saved.get(origin, _NOTHING):
            await self._store.write(lambda each: _keep(each, self._number, origin, data))
            self._saved[origin] = digest
        return True

    def known(self, forgotten: Forgotten) -> set[str]:
        """The origins that may keep some of what is to be forgotten. It is no longer on disk."""
        origins = {origin for origin in self._seen if forgotten.is_about(origin)}
        for origin in origins:
            self._saved.pop(origin, None)
        return origins

    async def forget(self, place: Place, origin: str, forgotten: Forgotten) -> None:
        """Remove it in the browser. Raises LookupError if there is no document of the origin in this place."""
        try:
            await place.run_in(origin, f"{_SCRIPT}.forget({json.dumps(list(forgotten.parts))})")
        except PlaywrightError as error:
            logger.warning("what %s keeps could not be removed: %s", origin, error)

    @property
    def unsaved(self) -> set[str]:
        """The origins of which something is not yet on disk."""
        return set(self._changed)

    def stop(self) -> None:
        """Save nothing more by itself."""
        self._later.cancel()

    async def _save_changed(self) -> None:
        began = time.monotonic()
        changed, self._changed = self._changed, set()
        for origin in changed:
            if not any([await self.save(place, origin) for place in self._find()]):
                self._changed.add(origin)  # its pages have gone elsewhere; it is asked when the browser ends
        # Who keeps much is saved less often.
        self._later.delay = max(_SAVE_AFTER, _EFFORT * (time.monotonic() - began))


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
