"""Tests of the manager page are coroutines. `manager` is a server and its profile, `manager_page` its page in Chromium.

A test with `manager_page` is in the group `browser`.
"""

from __future__ import annotations

import asyncio
import inspect
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.engines.chromium import shared_driver
from tests.engines.chromium.conftest import browser
from tests.ui.manager import Manager, open_manager, run_with

__all__ = ["browser"]


class _PageOf(NamedTuple):
    manager: AbstractAsyncContextManager[Manager]
    browser: str


@pytest.fixture
def manager(tmp_path: Path) -> AbstractAsyncContextManager[Manager]:
    """A server of the manager page: `manager.url`, `manager.profile`, `manager.browser`."""
    return open_manager(tmp_path / "profile.db")


@pytest.fixture
def manager_page(manager: AbstractAsyncContextManager[Manager], browser: str) -> _PageOf:
    """The page in a headless Chromium, opened through a link: a Page of Playwright."""
    return _PageOf(manager, browser)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine."""
    test = pyfuncitem.obj
    if not inspect.iscoroutinefunction(test):
        return None
    names = inspect.signature(test).parameters
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    run = shared_driver.run if "manager_page" in arguments else asyncio.run
    run(run_with(arguments, test))
    return True
