"""For all tests: the quick run and the whole, where temporary files go, and nothing of the machine's user is touched.

`python -m pytest` runs the quick tests. `HATBOX_TESTS=all` adds those marked `browser` (Chromium, Firefox) and `slow`.
Naming files or folders runs everything in them.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from hatbox.store import sqlite
from hatbox.store.registry import store_at
from tests.engines.chromium import shared_driver
from tests.groups import mark, slow_first
from tests.postgres import address_for
from tests.store.delayed_store import delayed_store_at
from tests.time_limit import TimeLimit

_MEMORY: Final = Path("/dev/shm")  # a new profile costs an fsync of a real disk
_MIN_FREE_BYTES: Final = 2 * 10**9
_QUICK: Final = "HATBOX_QUICK_TESTS"  # set for the worker processes of pytest-xdist

# Tests do not depend on the speed of the machine.
settings.register_profile(
    "any speed",
    deadline=None,
    max_examples=int(os.environ.get("HATBOX_TEST_EXAMPLES", "100")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any speed")

if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _MIN_FREE_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))
    # Also for the profiles of browsers and for servers, which write them again and again.
    os.environ.setdefault("TMPDIR", str(_MEMORY))
    tempfile.tempdir = None  # it may have been read before


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Use all cores, and only the quick tests, unless the command line says otherwise."""
    if "PYTEST_XDIST_WORKER" in os.environ or config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return
    if os.environ.get("HATBOX_TESTS") != "all":
        os.environ[_QUICK] = "1"
    if getattr(config.option, "numprocesses", 0) is None and not config.option.usepdb:
        config.option.numprocesses = int(os.environ.get("HATBOX_TEST_PROCESSES", "0")) or "logical"


def pytest_configure(config: pytest.Config) -> None:
    """Limit the time of each test, where a limit is set."""
    if seconds := os.environ.get("HATBOX_TEST_SECONDS"):
        config.pluginmanager.register(TimeLimit(float(seconds)))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collected tests are never garbage: without this, each full collection of a test run visits all of them."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the groups of tests. In a quick run, deselect all that are not quick."""
    for item in items:
        mark(item)
    slow_first(items)
    if os.environ.get(_QUICK):
        slow = {item for item in items if item.get_closest_marker("browser") or item.get_closest_marker("slow")}
        items[:] = [item for item in items if item not in slow]
        config.hook.pytest_deselected(items=list(slow))


@pytest.fixture(scope="session", autouse=True)
def other_stores() -> Iterator[None]:
    """With HATBOX_TEST_STORE=delayed, reads of the store answer later than they return.

    With HATBOX_TEST_STORE=postgres, a profile that a test opens by a path is in PostgreSQL.
    """
    with pytest.MonkeyPatch.context() as patch:
        store = os.environ.get("HATBOX_TEST_STORE")
        if store == "delayed":
            patch.setattr(sqlite, "store_at", delayed_store_at)
        elif store == "postgres":
            patch.setattr(sqlite, "store_at", lambda address: store_at(address_for(Path(address))))
        yield


@pytest.fixture(scope="session", autouse=True)
def driver_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Node.js compiles the driver of Playwright once, not in each test that starts one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NODE_COMPILE_CACHE", str(tmp_path_factory.mktemp("node")))
        yield
        shared_driver.stop()


@pytest.fixture(scope="session", autouse=True)
def package_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A package cache for these tests alone, also in processes that they start."""
    before = os.environ.get("HATBOX_CACHE")
    os.environ["HATBOX_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["HATBOX_CACHE"]
    else:
        os.environ["HATBOX_CACHE"] = before
