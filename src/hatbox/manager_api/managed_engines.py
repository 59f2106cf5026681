"""The namespace hatbox.engines: the engines that are running, and starting and stopping them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.engines.background.engine_starts import EngineStart
from hatbox.engines.background.stopping import refusal, stop_process
from hatbox.engines.registry import ENGINES, registration_of
from hatbox.engines.running_engines import RunningEngine
from hatbox.engines.selection import EngineSelection
from hatbox.errors import ApiError
from hatbox.identity.ids import cookie_store_id_of
from hatbox.manager_api.engine_changes import EnginesChange, EnginesEvent
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.manager_api.page_sentences import sentence
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction

__all__ = ["implement"]

Details: TypeAlias = Mapping[str, Any]

_STOP_SECONDS: Final = 30.0
_MILLISECONDS: Final = 1000


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:
    """Implement the namespace."""
    return _ManagedEngines(schema, services, profile)


class _ListedEngine(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    name: str
    title: str
    status: Literal["running", "starting", "stopping", "stopped", "failed"]
    has_windows: bool | None = None
    machine: str = ""
    is_local: bool = True
    pid: int | None = None
    since: float | None = None
    identities: tuple[str, ...] | None = None
    tabs: int = 0
    identities_with_tabs: int = 0
    can_stop: bool = False
    why_not: str = ""
    error: str = ""
    tab_id: int | None = None


class _ManagedEngines(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> None:
        self._profile = profile
        self._stopping: set[str] = set()
        self._changed = EnginesEvent(services.store, profile)
        super().__init__(schema, services.store, {"onChanged": EventBinding(self._changed, _change_args)})

    def list(self) -> asyncio.Future[Any]:
        return self._run("list", self._engines())

    def start(self, name: str, options: Details | None) -> asyncio.Future[Any]:
        return self._run("start", self._start(name, headless=bool((options or {}).get("headless"))))

    def stop(self, engine_id: str) -> asyncio.Future[Any]:
        return self._run("stop", self._stop(engine_id))

    async def _engines(self) -> Sequence[_ListedEngine]:
        running = await self._profile.running_engines()
        counts = await self._store.read(_tab_counts)
        own = {each for engine in running for each in engine.identities or ()}
        starts = self._profile.engine_starts.current
        listed = [_running(each, counts, own, self._stopping, starts) for each in running]
        served = {each.name for each in listed if each.identities is None}
        # One engine at a time serves all identities: while one does, no other can be started.
        startable = [_startable(name, starts.get(name)) for name in ENGINES if not served]
        return [*listed, *startable]

    async def _start(self, name: str, *, headless: bool) -> _ListedEngine:
        registration_of(name)  # raises for an unknown engine
        engines = await self._engines()
        running = next((each for each in engines if each.pid is not None and each.identities is None), None)
        if running is not None and running.name == name:
            return running
        if running is not None:
            raise ApiError(f"{running.title} is running already. Stop it first, then start another one.")
        start = self._profile.engine_starts.current.get(name)
        if start is None or start.error:
            self._profile.engine_starts.start(EngineSelection(name, headless=headless), until_empty=False)
        return _startable(name, self._profile.engine_starts.current.get(name))

    async def _stop(self, engine_id: str) -> None:
        running = await self._profile.running_engines()
        engine = next((each for each in running if _id_of(each) == engine_id), None)
        if engine is None:
            return  # it has ended meanwhile
        title = _title(_name(engine))
        if why_not := _why_not(engine):
            raise ApiError(f"{title} was not stopped. {why_not}")
        assert engine.process is not None  # noqa: S101 - a refusal otherwise
        self._stopping.add(engine_id)
        self._changed.add(EnginesChange())
        try:
            if not await stop_process(engine.process, _STOP_SECONDS, kill=False):
                raise ApiError(f"{title} is still saving its pages after {_STOP_SECONDS:g} seconds. Try again.")
        except PermissionError:
            raise ApiError(f"{title} was not stopped. Its process belongs to another user.") from None
        finally:
            self._stopping.discard(engine_id)
            self._changed.add(EnginesChange())


def _running(
    engine: RunningEngine,
    counts: Mapping[str, int],
    own: set[str],
    stopping: set[str],
    starts: Mapping[str, EngineStart],
) -> _ListedEngine:
    engine_id, name, why_not = _id_of(engine), _name(engine), _why_not(engine)
    served = [
        number
        for store, number in counts.items()
        if (store in engine.identities if engine.identities is not None else store not in own)
    ]
    return _ListedEngine(
        id=engine_id,
        name=name,
        title=_title(name),
        status="stopping" if engine_id in stopping else "starting" if _is_starting(engine, starts) else "running",
        has_windows=engine.has_windows,
        machine=engine.machine,
        is_local=engine.process is None or engine.process.is_local,
        pid=engine.pid,
        since=None if engine.since is None else engine.since * _MILLISECONDS,
        identities=engine.identities,
        tabs=sum(served),
        identities_with_tabs=len(served),
        can_stop=not why_not,
        why_not=why_not,
    )


def _is_starting(engine: RunningEngine, starts: Mapping[str, EngineStart]) -> bool:
    """Whether an engine has its lease, but not its browser yet, or waits until another engine has closed the pages."""
    start = starts.get(_name(engine))
    is_own = engine.background and start is not None and not start.error
    return is_own or engine.since is None or engine.waiting


def _startable(name: str, start: EngineStart | None) -> _ListedEngine:
    status: Literal["starting", "stopped", "failed"]
    status = "stopped" if start is None else "failed" if start.error else "starting"
    error, tab_id = ("", None) if start is None else (sentence(start.error), start.tab_id)
    return _ListedEngine(id=name, name=name, title=_title(name), status=status, error=error, tab_id=tab_id)


def _tab_counts(transaction: Transaction) -> dict[str, int]:
    """The number of visible tabs of each identity that has some."""
    counts: dict[int, int] = {}
    for row in transaction.tabs.find():
        if not row.hidden:
            counts[row.store] = counts.get(row.store, 0) + 1
    return {cookie_store_id_of(store): number for store, number in counts.items()}


def _id_of(engine: RunningEngine) -> str:
    return f"{engine.engine}-{engine.machine}-{engine.pid or 0}-{engine.since or 0:.3f}"


def _name(engine: RunningEngine) -> str:
    return engine.engine.casefold()


def _title(name: str) -> str:
    """The name at the start of a sentence: Chromium, HTTP engine."""
    return str(registration_of(name).DISPLAY_NAME).removeprefix("the ") if name in ENGINES else name


def _why_not(engine: RunningEngine) -> str:
    """Why an engine cannot be stopped from here, as a sentence; empty if it can."""
    if engine.since is None:
        return "It is still starting. Try again."
    refused = refusal(engine, force=engine.background)
    return "" if refused is None else sentence(f"{refused.reason}.")


def _change_args(_: Caller, change: EnginesChange) -> tuple[EnginesChange]:
    return (change,)
