"""A test that never ends fails a run, which says where it waits."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]

CONFTEST = """
from tests.time_limit import TimeLimit


def pytest_configure(config):
    config.pluginmanager.register(TimeLimit(1, seconds_to_fail=5))
"""
TESTS = {
    "a_coroutine": """
import asyncio


async def a_coroutine():
    await asyncio.sleep(600)


def test_that_waits():
    asyncio.run(a_coroutine())
""",
    "a_fixture": """
import pytest
import time


@pytest.fixture
def a_fixture():
    yield
    time.sleep(600)


def test_that_waits(a_fixture):
    raise RuntimeError("its fixture waits although it has failed")
""",
    "a_regular_expression": """
import re


def a_regular_expression():
    re.match("(a|a)*b", 60 * "a")


def test_that_waits():
    a_regular_expression()
""",
}
STUBBORN = """
import time


def test_that_waits():
    while True:
        try:
            time.sleep(600)
        except BaseException:
            pass
"""


def run(folder: Path, tests: dict[str, str]) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST)
    for name, test in tests.items():
        (folder / f"test_{name}.py").write_text("def test_others():\n    pass\n" + test)
    command = [sys.executable, "-m", "pytest", "-n", "2", "--max-worker-restart=0", os.fspath(folder)]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.process
def test_a_test_that_does_not_end_fails_with_what_it_waits_for_and_the_others_run(tmp_path: Path) -> None:
    result = run(tmp_path, TESTS)
    assert result.returncode == 1
    for waits_in in TESTS:
        assert f"Failed: test_{waits_in}.py::test_that_waits has not ended within 1 seconds." in result.stdout
        assert f"in {waits_in}" in result.stderr
    assert f"{len(TESTS)} passed" in result.stdout


@pytest.mark.process
def test_a_test_that_does_not_even_fail_ends_with_its_process(tmp_path: Path) -> None:
    result = run(tmp_path, {"waits": STUBBORN})
    assert result.returncode == 1
    assert "crashed while running 'test_waits.py::test_that_waits'" in result.stdout
