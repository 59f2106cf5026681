"""Starts background engines without waiting for them. The state of each start can be read, and is an event.

For programs with a user interface, which must not wait a minute for a browser.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from hatbox.engines.background.background_engine import BackgroundEngine, BackgroundEngineError
from hatbox.engines.background.opened_tabs import OpenedTabs
from hatbox.engines.running_engines import engine_for
from hatbox.engines.selection import EngineSelection
from hatbox.errors import EngineAlreadyRunning, EngineError, HatboxError
from hatbox.events import Event
from hatbox.identity.model import IdentityLike
from hatbox.store.base import Store
from hatbox.tabs import Tab
from hatbox.tasks import Tasks

__all__ = ["EngineStart", "EngineStarts"]

_POLL_SECONDS: Final = 0.05
_MAX_START_SECONDS: Final = 60.0
_CLOSE_SECONDS: Final = 20.0  # how long the end of this program waits for an engine that starts


class EngineStart(msgspec.Struct, frozen=True):
    """A background engine that is starting, or that did not start."""

    name: str
    tab_id: int | None = None
    """The tab for which it is started. If it does not start, the tab is closed again."""
    error: str = ""
    """Why it did not start, and what to do, for a user who can click; empty while it starts."""


class _OpenTabs(Protocol):
    async def __call__(
        self,
        identity: IdentityLike,
        urls: str | Sequence[str],
        *,
        engine: str | EngineSelection | None,
        max_time: float,
        on_progress: Callable[[bool], None],
        on_opened: Callable[[Sequence[Tab]], None],
    ) -> OpenedTabs: ...


class EngineStarts:
    """The starts of one profile: at most one of each engine is remembered, until it has succeeded."""

    def __init__(
        self, store: Store, open_tabs: _OpenTabs, create: Callable[[EngineSelection, bool], BackgroundEngine]
    ) -> None:
        self.on_changed: Event[None] = Event("engine_starts.on_changed")
        """Emitted after a change of `current`."""
        self._store = store
        self._open_tabs = open_tabs
        self._create = create
        self._current: dict[str, EngineStart] = {}
        self._tasks = Tasks()
        self._settled = asyncio.Condition()

    @property
    def current(self) -> Mapping[str, EngineStart]:
        """The engines that are starting, or that did not start, by name."""
        return self._current

    @property
    def _is_starting(self) -> bool:
        """Whether an engine is starting. It has its lease before it is ready for tabs."""
        return any(not each.error for each in self._current.values())

    async def open_tab(self, cookie_store_id: str, url: str, selection: EngineSelection) -> tuple[Tab, bool]:
        """Open a tab. Returns it before its page is loaded, and whether an engine is running for it.

        Without one, the selected engine is started. If that fails, the tab is closed again, and `current` has the
        error. Raises HatboxError if the tab cannot be opened.
        """
        is_running = not self._is_starting and await engine_for(self._store, cookie_store_id) is not None
        used = EngineSelection() if is_running else selection
        opened: asyncio.Future[Tab] = asyncio.get_running_loop().create_future()
        if not is_running:
            self._set(EngineStart(selection.name))
        task = self._tasks.spawn(self._open(cookie_store_id, url, used, opened, is_running=is_running))
        try:
            return await asyncio.shield(opened), is_running
        except asyncio.CancelledError:
            if not opened.done():  # the caller may call again, and would get two tabs
                task.cancel()
            raise

    async def ensure(self, cookie_store_id: str, selection: EngineSelection) -> bool:
        """Whether an engine is running for the tabs of an identity. Without one, the selected engine is started."""
        if self._is_starting:
            return False
        if await engine_for(self._store, cookie_store_id) is not None:
            return True
        self.start(selection)
        return False

    def start(self, selection: EngineSelection, *, until_empty: bool = True) -> None:
        """Start an engine. With `until_empty` it exits when no tab is open."""
        self._set(EngineStart(selection.name))
        self._tasks.spawn(self._start(selection, until_empty=until_empty))

    async def close(self) -> None:
        """Wait a while for the engines that are starting, then stop them. Engines that are running continue."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS), self._settled:
                await self._settled.wait_for(lambda: not self._is_starting)
        self._tasks.cancel()
        await self._tasks.wait()

    async def _open(
        self,
        cookie_store_id: str,
        url: str,
        selection: EngineSelection,
        opened: asyncio.Future[Tab],
        *,
        is_running: bool,
    ) -> None:
        was_ready = is_running

        def on_opened(tabs: Sequence[Tab]) -> None:
            opened.set_result(tabs[0])
            if not is_running:
                self._set(EngineStart(selection.name, tabs[0].id))

        def on_progress(ready: bool) -> None:
            nonlocal was_ready
            if ready and not was_ready:
                was_ready = True
                self._remove(selection.name)

        try:
            await self._open_tabs(
                cookie_store_id,
                [url],
                engine=selection,
                max_time=_MAX_START_SECONDS,
                on_progress=on_progress,
                on_opened=on_opened,
            )
            on_progress(ready=True)
        except (HatboxError, OSError) as error:  # TimeoutError is an OSError
            if not opened.done():
                if not is_running:
                    self._remove(selection.name)
                opened.set_exception(error if isinstance(error, HatboxError) else EngineError(str(error)))
            elif not was_ready:
                self._fail(selection.name, _text(error), opened.result().id)
        except BaseException:
            if not is_running:
                self._remove(selection.name)
            opened.cancel()
            raise

    async def _start(self, selection: EngineSelection, *, until_empty: bool) -> None:
        background = self._create(selection, until_empty)
        try:
            async with asyncio.timeout(_MAX_START_SECONDS):
                background.start()
                while not background.is_ready:
                    if not background.is_running:
                        raise background.failure()
                    await asyncio.sleep(_POLL_SECONDS)
            self._remove(selection.name)
        except TimeoutError:
            await asyncio.to_thread(background.stop)
            self._fail(selection.name, f"It did not start within {_MAX_START_SECONDS:g} seconds.")
        except BackgroundEngineError as error:
            if error.kind == EngineAlreadyRunning.__name__:  # another program was faster
                self._remove(selection.name)
            else:
                self._fail(selection.name, _text(error))
        except (HatboxError, OSError) as error:
            self._fail(selection.name, _text(error))
        except BaseException:
            self._remove(selection.name)
            await asyncio.shield(asyncio.to_thread(background.stop))
            raise
        finally:
            background.detach()

    def _fail(self, name: str, error: str, tab_id: int | None = None) -> None:
        self._set(EngineStart(name, tab_id, error or "It did not start."))

    def _set(self, start: EngineStart) -> None:
        self._current[start.name] = start
        self._notify()

    def _remove(self, name: str) -> None:
        if self._current.pop(name, None) is not None:
            self._notify()

    def _notify(self) -> None:
        self.on_changed.emit(None)
        self._tasks.spawn(self._wake())

    async def _wake(self) -> None:
        async with self._settled:
            self._settled.notify_all()


def _text(error: HatboxError | OSError) -> str:
    return error.page_message if isinstance(error, HatboxError) else str(error)
