"""An engine at work on a profile, to be used with `async with`."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TypeVar

from hatbox.engines.base import Engine
from hatbox.engines.keeper import Keeper
from hatbox.engines.lease import Lease
from hatbox.store.base import Store

__all__ = ["EngineRunner"]

Self = TypeVar("Self", bound="EngineRunner")


class EngineRunner:
    """Makes the tabs of a profile so, for as long as it is entered. A profile has one engine at a time."""

    def __init__(self, engine: Engine, store: Store, profile: Path) -> None:
        self.engine = engine
        """The engine itself."""
        self._keeper = Keeper(engine, store)
        self._lease = Lease(profile)

    async def __aenter__(self: Self) -> Self:
        self._lease.take(self.engine.name)
        try:
            await self._keeper.start()
        except BaseException:
            self._lease.release()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._keeper.stop()
        finally:
            self._lease.release()

    async def settled(self) -> None:
        """Resolves when all that anyone had asked of tabs by now was done, or its loading begun."""
        await self._keeper.settled()
