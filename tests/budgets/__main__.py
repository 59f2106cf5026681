"""Counts all work again, and writes the numbers to budgets.md: `python -m tests.budgets`."""

from __future__ import annotations

import sys

from tests.budgets.budgets import TABLE, counted, differences, with_counts
from tests.budgets.measures import MEASURES

for section in MEASURES:
    counts = counted(section)
    sys.stdout.writelines(f"{line}\n" for line in differences(section, counts))
    TABLE.write_text(with_counts(section, counts), "utf-8")
