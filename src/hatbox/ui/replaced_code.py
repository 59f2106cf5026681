"""Whether the files of Hatbox were replaced while this process runs, as an update does.

Modules are imported when they are first used, so such a process mixes two versions. The version number is not compared:
a clone of the repository that is pulled has the same one.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

__all__ = ["UPDATED", "was_replaced"]

UPDATED: Final = "Hatbox was updated. Stop hatbox ui with Ctrl-C, start it again, and reload this page."
"""What to do then."""

_PACKAGE: Final = Path(__file__).parents[1]
_STARTED: Final = time.time()


def was_replaced(folder: Path = _PACKAGE, since: float = _STARTED) -> bool:
    """Whether a module of the package is newer than this process. Looks at all of them: use it after an error only."""
    try:
        modules = [path.stat() for path in folder.rglob("*.py")]
    except OSError:  # it is being replaced
        return True
    return not modules or any(max(each.st_mtime, each.st_ctime) > since for each in modules)
