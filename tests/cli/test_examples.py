from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli

EXAMPLES = Path(__file__).parents[2] / "examples"
EXPECTED = """\
Top hat is purple and lives in firefox-container-6.
Straw hat is yellow and lives in firefox-container-7.
A day in the sun: Straw hat is orange now.
Top hat is in its box: all that belongs to it is hidden.
Top hat is out again.
You own 6 hats.
Top hat goes back to the shop.
Straw hat goes back to the shop.
"""


def test_the_script_runs_and_leaves_everything_as_it_was(cli: Cli) -> None:
    before = cli("list").out
    assert cli("run", str(EXAMPLES / "two_hats.py")) == (0, EXPECTED, "")
    assert cli("list").out == before


def test_the_script_keeps_hats_that_were_there_before(cli: Cli) -> None:
    cli("create", "Top hat")
    assert cli("run", str(EXAMPLES / "two_hats.py")).status == 0
    assert cli("list", "--json").json[-1]["name"] == "Top hat"


@pytest.mark.process
def test_the_program_does_the_same() -> None:
    command = [sys.executable, str(EXAMPLES / "two_hats_python.py")]
    result = subprocess.run(command, capture_output=True, text=True, check=True, encoding="utf-8")
    assert (result.stdout, result.stderr) == (EXPECTED, "")
