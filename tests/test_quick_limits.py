"""A test that starts a process or takes long fails until it is marked; failed tests are written to a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]

CONFTEST = """
from pathlib import Path

from tests.failed_tests import FailedTests
from tests.marks import add_markers
from tests.quick_limits import QuickLimits


def pytest_configure(config):
    for name in ("browser", "server", "deno", "process", "slow", "smoke"):
        config.addinivalue_line("markers", name)
    config.pluginmanager.register(QuickLimits(limits_cpu=True))
    config.pluginmanager.register(FailedTests(Path(__file__).with_name("failed")))


def pytest_collection_modifyitems(items):
    for item in items:
        add_markers(item)
"""
TESTS = """
import subprocess, time
import pytest
from tests.marks import starts

turns = []


def use(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


@pytest.fixture
@starts("process")
def program():
    subprocess.run("true")


def test_process():
    subprocess.run("true")


def test_slow():
    use(2)  # far more than half a second: a busy machine is allowed more


def test_wrong():
    use(0.6)
    raise ValueError("a defect")


def test_slow_once():
    turns.append(1)
    use(0.6 if len(turns) == 1 else 0)


def test_fixture(program):
    pass


@pytest.mark.slow
def test_marked():
    use(0.6)


@pytest.mark.smoke
def test_smoke():
    subprocess.run("true")
"""


@pytest.mark.process
def test_what_a_test_needs_without_a_marker_fails_it_and_failed_tests_are_listed(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_needs.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:randomly", str(tmp_path)]
    result = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=120, check=False)
    failed = ["test_process", "test_slow", "test_wrong"]
    assert (tmp_path / "failed").read_text().split() == [f"test_needs.py::{name}" for name in failed]
    assert "mark it: it starts a process (true)" in result.stdout
    assert "mark it: it takes 2.0 s of CPU time" in result.stdout
    assert "ValueError: a defect" in result.stdout
    assert " 3 failed, 4 passed in " in result.stdout
