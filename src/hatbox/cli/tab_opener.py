"""Opening tabs: they are written to the profile, and an engine makes them so, one that runs or one that is started.

If none can be had, all is as it was before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

from hatbox.cli.background_engine import BackgroundEngine
from hatbox.cli.engine_choice import EngineSelection
from hatbox.cli.replacement import Followed
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.spinner import spinner
from hatbox.engines.lease import Lease
from hatbox.errors import EngineAlreadyRunning
from hatbox.identities.changes import hide
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.identities.model import ContextualIdentity
from hatbox.profile import Profile
from hatbox.store.base import Transaction
from hatbox.tabs.strip import close_rows
from hatbox.tabs.visibility import show_and_activate

__all__ = ["WAIT_SECONDS", "TabOpener"]

WAIT_SECONDS: Final = 60.0
_PAUSE: Final = 0.03  # seconds between two looks at the profile
_STARTS: Final = 3  # how often an engine is started that finds another one, which then is gone


class TabOpener:
    """Tabs of one identity, or of none, on their way to be open."""

    def __init__(self, profile: Profile, identity: ContextualIdentity | None, choice: EngineSelection) -> None:
        self._profile = profile
        self._identity = identity
        self._choice = choice
        self._lease = Lease(profile.path)
        self._background = BackgroundEngine(profile.path, choice)
        self._starts = 0
        self._had_engine = False

    async def open(self, urls: Sequence[str], max_time: float = WAIT_SECONDS) -> Followed:
        """Open pages and wait until they are loaded, also if an extension replaces their tabs; returns the tabs."""
        self._check_engine()
        store = self._identity.cookie_store_id if self._identity else DEFAULT_STORE
        active = [tab.id for tab in await self._profile.tabs.query() if tab.active]
        opened = Followed(await asyncio.gather(*(self._profile.tabs.open(store, url) for url in urls)))
        made = [tab.id for tab in opened.tabs]
        loading = f"Loading {urls[0] if len(urls) == 1 else f'{len(urls)} pages'}"
        try:
            with spinner(loading) as say:
                async with asyncio.timeout(max_time):
                    await self._complete(opened, lambda ready: say(loading if ready else self._starting))
                    return opened
        except BaseException as error:
            if not self._had_engine:
                await asyncio.shield(self._roll_back(made, active))
            if isinstance(error, TimeoutError):
                raise self._timeout_error(made, max_time) from None
            raise
        finally:
            self._background.detach()

    async def _complete(self, opened: Followed, say: Callable[[bool], None]) -> None:
        """Wait until an engine has the tabs and none of them loads any more."""
        while True:
            ready = self._is_engine_ready()
            self._had_engine |= ready
            opened.update(await self._profile.tabs.read(opened.read))
            loading = any(tab.loading and not tab.hidden for tab in opened.open)
            if ready and not loading and not opened.may_be_replaced:
                return
            say(ready)
            await asyncio.sleep(_PAUSE)

    def _is_engine_ready(self) -> bool:
        """Whether an engine has the tabs. Starts one where there is none, and fails where that has failed."""
        # While ours is starting nobody asks for the holder: asking takes the lease for a moment, and ours might not
        # get it.
        if self._background.is_running:
            return self._background.is_ready
        if self._lease.holder() is not None:
            return True
        if self._starts:
            failure = self._background.failure()
            if failure.kind != EngineAlreadyRunning.__name__ or self._starts == _STARTS:
                raise failure
        self._starts += 1
        self._background.start()
        return False

    def _check_engine(self) -> None:
        holder = self._lease.holder()
        if holder is not None and self._choice.requested not in (None, holder.engine.casefold()):
            raise CommandError(
                EngineAlreadyRunning.__name__,
                f"the {holder.engine} engine in process {holder.process} has the tabs of this profile. "
                "Leave out --engine, or stop it first.",
                details={"engine": holder.engine, "process": holder.process},
            )

    async def _roll_back(self, tab_ids: Sequence[int], active: Sequence[int]) -> None:
        """Leave all as it was before the tabs were written."""
        await asyncio.to_thread(self._background.stop)

        def taken_back(transaction: Transaction) -> None:
            rows = [transaction.tabs.get(tab_id) for tab_id in tab_ids]
            close_rows(transaction, [row for row in rows if row is not None])
            for tab_id in active:
                row = transaction.tabs.get(tab_id)
                if row is not None and not row.hidden:
                    show_and_activate(transaction, row)
            if self._identity is not None and self._identity.hidden:
                hide(transaction, self._identity.cookie_store_id)

        await self._profile.tabs.write(taken_back)

    @property
    def _starting(self) -> str:
        return f"Starting {self._choice.shown_name}"

    def _timeout_error(self, tab_ids: Sequence[int], max_time: float) -> CommandError:
        waited = f"{max_time:g} seconds"
        if not self._had_engine:
            return CommandError(
                "TimeoutError", f"{self._choice.shown_name} did not start in {waited}. Nothing was opened."
            )
        which = f"tab {tab_ids[0]}" if len(tab_ids) == 1 else f"tabs {', '.join(map(str, tab_ids))}"
        return CommandError("TimeoutError", f"{which}: still loading after {waited}, and left open")
