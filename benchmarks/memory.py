"""What processes occupy: their proportional set size, which counts what several share only once. Linux only."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["memory_of", "with_children"]

_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)


def memory_of(pids: Iterable[int]) -> int:
    """The bytes that these processes occupy together."""
    return sum(_pss(pid) for pid in pids)


def with_children(pid: int) -> list[int]:
    """A process and all that it has started, and so on."""
    found = [pid]
    with contextlib.suppress(OSError):  # it has just ended
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += with_children(int(child))
    return found


def _pss(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    found = _PSS.search(text)
    return int(found[1]) << 10 if found else 0
