"""How many examples a test with a number of its own tries. HATBOX_TEST_EXAMPLES is a percentage, for a shorter run."""

from __future__ import annotations

import os

__all__ = ["examples"]


def examples(usual: int) -> int:
    """The number of examples, of which there are usually so many."""
    return max(1, usual * min(100, int(os.environ.get("HATBOX_TEST_EXAMPLES", "100"))) // 100)
