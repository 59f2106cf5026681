"""Copies a profile, and is killed after a number of function calls. Without a number it prints how many it makes.

python -m tests.store.copy_worker SOURCE TARGET [CALLS]
"""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Any

from hatbox.maintenance import copy_profile


def main(source: str, target: str, limit: int | None = None) -> None:
    calls = 0

    def count(_frame: FrameType, _event: str, _argument: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == limit:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(count)  # before and after every function, also those of SQLite and of the system
    copy_profile(source, target)
    sys.setprofile(None)
    sys.stdout.write(f"{calls}\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if sys.argv[3:] else None)
