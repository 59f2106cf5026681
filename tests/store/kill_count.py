"""How often a test kills a process. HATBOX_TEST_KILLS limits the number, for a shorter run."""

from __future__ import annotations

import os

__all__ = ["kill_count"]


def kill_count(count: int) -> int:
    """This number, or the limit if it is lower."""
    return min(count, int(os.environ.get("HATBOX_TEST_KILLS", count)))
