"""Chooses the running engine to which a program attaches, or says why there is none."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from hatbox.engines.chromium.launch import find_browser
from hatbox.engines.endpoint_records import open_endpoints
from hatbox.engines.endpoint_requests import expect_reachable
from hatbox.engines.running_engines import RunningEngine, running_engines
from hatbox.errors import EngineBusy
from hatbox.store.base import Store, Transaction
from hatbox.tabs.tab_model import all_tabs

__all__ = ["ServingEngine", "WantedOptions", "find_serving_engine", "why_not_attachable"]


class WantedOptions(NamedTuple):
    """The arguments of Profile.chromium. None: any will do."""

    headless: bool = False
    browser: str | os.PathLike[str] | None = None
    indicator: bool | None = None
    downloads: str | os.PathLike[str] | None = None


class ServingEngine(NamedTuple):
    """A running engine that has identities which a program wants."""

    engine: RunningEngine
    has_all: bool
    """Whether it has all of them."""
    releases: bool
    """Whether another engine may be started for them: it releases them, and that closes no windows and no endpoints."""
    has_endpoints: bool = False
    """Whether programs use endpoints of them, or may."""


async def find_serving_engine(store: Store, wanted: Collection[str] | None) -> ServingEngine | None:
    """The running engine that has these identities, or, for None, all that no engine has a list with."""
    found = await running_engines(store)
    rest = next((each for each in found if each.identities is None), None)
    if wanted is None:
        return None if rest is None else ServingEngine(rest, has_all=True, releases=False)
    for each in found:
        if each.identities is not None and not set(wanted).isdisjoint(each.identities):
            return ServingEngine(each, has_all=set(wanted) <= set(each.identities), releases=False)
    if rest is None:
        return None
    is_shown = bool(rest.has_windows) and await store.read(lambda transaction: _has_visible_tabs(transaction, wanted))
    endpoints = await open_endpoints(store)
    is_used = any(each.process == rest.process and each.cookie_store_id in wanted for each in endpoints)
    return ServingEngine(rest, has_all=True, releases=not is_shown and not is_used, has_endpoints=is_used)


def _has_visible_tabs(transaction: Transaction, cookie_store_ids: Collection[str]) -> bool:
    return any(not tab.hidden and tab.cookie_store_id in cookie_store_ids for tab in all_tabs(transaction))


def why_not_attachable(engine: RunningEngine, wanted: WantedOptions) -> str:
    """Why a program with these options cannot attach to an engine; empty if it can. Raises EngineError.

    A program that needs no windows attaches to an engine with windows too: it works there as well, and starting
    another engine would close the windows.
    """
    try:
        expect_reachable(engine)
    except EngineBusy as error:
        return error.reason
    options = engine.options
    if options is None:
        return "its options are not known"
    if not wanted.headless and not engine.has_windows:
        return "it has no windows, and this program asks for headless=False"
    if wanted.browser is not None and os.path.realpath(find_browser(wanted.browser)) != options.browser:
        return f"it runs another browser: {options.browser}"
    if wanted.downloads is not None and str(Path(wanted.downloads).absolute()) != options.downloads:
        return f"its downloads go to {options.downloads}" if options.downloads else "it keeps no downloads"
    if wanted.indicator is not None and wanted.indicator != options.indicator:
        return f"its pages {'show' if options.indicator else 'do not show'} the identity"
    return ""
