"""The rows of a new profile: Firefox's four identities, and the counters."""

from __future__ import annotations

from typing import Final

__all__ = ["NEW_HEAD", "NEW_IDENTITIES"]

NEW_IDENTITIES: Final = (
    (1, "Personal", "fingerprint", "blue", 0, 1048576),
    (2, "Work", "briefcase", "orange", 0, 2097152),
    (3, "Banking", "dollar", "green", 0, 3145728),
    (4, "Shopping", "cart", "pink", 0, 4194304),
)

# Firefox keeps 5 for itself, so the first identity that a user creates is 6, there and here.
NEW_HEAD: Final = (1, 5, 0, 0, 0, 0, 0, NEW_IDENTITIES[-1][-1])
