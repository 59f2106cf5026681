"""For all tests: the quick run and the whole, where temporary files go, and nothing of the machine's user is touched.

`python -m pytest` runs the quick tests, `HATBOX_TESTS=all` all of them. Naming files or folders runs all tests in them.
"""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Final

import certifi
import pytest
from hypothesis import HealthCheck, settings

from hatbox.store import sqlite
from hatbox.store.registry import store_at
from tests.engines.chromium import shared_driver
from tests.failed_tests import FailedTests
from tests.marks import add_markers, is_left_out, is_quick
from tests.postgres import address_for
from tests.quick_limits import QuickLimits
from tests.store.delayed_store import delayed_store_at
from tests.time_limit import TimeLimit

_MEMORY: Final = Path("/dev/shm")  # a new profile costs an fsync of a real disk
_MIN_FREE_BYTES: Final = 2 * 10**9
_QUICK: Final = "HATBOX_QUICK_TESTS"  # set for the worker processes of pytest-xdist

_EXAMPLES: Final = "HATBOX_TEST_EXAMPLES"  # of property tests; modules of tests read it, too
_QUICK_EXAMPLES: Final = "20"
_SECONDS: Final = 120.0  # of a quick test
_WHOLE_SECONDS: Final = 300.0

if os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _MIN_FREE_BYTES:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))
    # Also for the profiles of browsers and for servers, which write them again and again.
    os.environ.setdefault("TMPDIR", str(_MEMORY))
    tempfile.tempdir = None  # it may have been read before

# The collector of garbage visits what the tests of a process have in common again and again.
gc.set_threshold(20_000, 20, 20)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the option of CI."""
    parser.addoption("--write-failed", type=Path, metavar="FILE", help="write the tests that fail to a file")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Use all cores, and only the quick tests, unless the command line says otherwise."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    options = config.option
    if config.args_source is pytest.Config.ArgsSource.TESTPATHS:
        if os.environ.get("HATBOX_TESTS") != "all":
            os.environ[_QUICK] = "1"
            if options.capture == "fd":
                options.capture = "sys"  # what C code prints: the quick tests run none, and each of them would pay
            os.environ.setdefault(_EXAMPLES, _QUICK_EXAMPLES)
        if getattr(options, "numprocesses", 0) is None and not options.usepdb:
            cores = os.cpu_count() or 1  # one process more, because some tests mostly wait
            options.numprocesses = int(os.environ.get("HATBOX_TEST_PROCESSES", "0")) or cores + 1
    if getattr(options, "numprocesses", None):  # not in addopts: there, users without pytest-xdist could run no test
        options.dist = "worksteal"  # by groups, the process that distributes the tests needs a tenth of all CPU time
        options.maxworkerrestart = options.maxworkerrestart or "0"  # with another process, a run can wait forever


def pytest_configure(config: pytest.Config) -> None:
    """Set the limits of tests, and the number of examples of property tests."""
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores it, and so would the commands that tests start
    quick = bool(os.environ.get(_QUICK))
    # Tests do not depend on the speed of the machine.
    settings.register_profile(
        "any speed",
        deadline=None,
        max_examples=int(os.environ.get(_EXAMPLES, "100")),
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("any speed")
    # A debugger would be ended, too.
    if not config.option.usepdb:
        limit = os.environ.get("HATBOX_TEST_SECONDS", _SECONDS if quick else _WHOLE_SECONDS)
        config.pluginmanager.register(TimeLimit(float(limit)))
    if quick or os.environ.get("HATBOX_TESTS") == "all":
        config.pluginmanager.register(QuickLimits(limits_cpu=quick))
    if (file := config.option.write_failed) and "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(FailedTests(file))


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """In a quick run, import no module whose tests all need more than their process."""
    is_module = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    return True if os.environ.get(_QUICK) and is_module and is_left_out(collection_path) else None


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
    """Mark tests by their fixtures. In a quick run, deselect all that are not quick."""
    for item in items:
        add_markers(item)
    # Those that take long first: at the end of a run, no worker is alone with one.
    items.sort(key=is_quick)
    if os.environ.get(_QUICK):
        others = [item for item in items if not is_quick(item)]
        items[:] = [item for item in items if is_quick(item)]
        config.hook.pytest_deselected(items=others)


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
            # On a busy machine a server takes longer. Then subscribers get a resync in place of the first changes.
            patch.setattr("hatbox.store.postgres.store._SUBSCRIBE_SECONDS", 30.0)
        yield


@pytest.fixture(scope="session", autouse=True)
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One certificate of an authority, where each client would read hundreds. Tests connect to this machine only."""
    end = "-----END CERTIFICATE-----\n"
    file = tmp_path_factory.mktemp("certificates") / "one.pem"
    file.write_text(certifi.contents().partition(end)[0] + end, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(file))
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
