"""For all tests: nothing of the machine's user is read or written."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from hatbox.store import sqlite
from tests.store.delayed_store import delayed_store_at


@pytest.fixture(scope="session", autouse=True)
def delayed_reads() -> Iterator[None]:
    """With HATBOX_TEST_STORE=delayed, reads of the store answer later than they return."""
    with pytest.MonkeyPatch.context() as patch:
        if os.environ.get("HATBOX_TEST_STORE") == "delayed":
            patch.setattr(sqlite, "store_at", delayed_store_at)
        yield


@pytest.fixture(scope="session", autouse=True)
def package_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache of packages for these tests alone, also in processes that they start."""
    before = os.environ.get("HATBOX_CACHE")
    os.environ["HATBOX_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["HATBOX_CACHE"]
    else:
        os.environ["HATBOX_CACHE"] = before
