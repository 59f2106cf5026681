"""Work that grows is noticed: every number of budgets.md is counted again."""

from __future__ import annotations

import shutil
import sys

import pytest

from tests.budgets.budgets import counted, differences
from tests.budgets.measures import MEASURES


@pytest.mark.parametrize(
    "section",
    [pytest.param(section, marks=getattr(pytest.mark, marker)) for section, (marker, _) in MEASURES.items()],
)
def test_work_is_within_its_budget(section: str) -> None:
    if sys.version_info[:2] != (3, 11):
        pytest.skip("other versions of Python import and call other functions")
    if section == "Disk" and not shutil.which("strace"):
        pytest.skip("strace is not installed")
    found = differences(section, counted(section))
    assert not found, "\n".join([*found, "If it is meant: python -m tests.budgets"])
