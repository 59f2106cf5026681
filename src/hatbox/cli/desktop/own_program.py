"""The command that starts this installation of Hatbox, for programs that know neither PATH nor the current folder."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

__all__ = ["own_program"]


def own_program() -> list[str]:
    """The absolute path of the installed script, or this Python with the module."""
    script = Path(sysconfig.get_path("scripts")) / ("hatbox.exe" if sys.platform == "win32" else "hatbox")
    if script.is_absolute() and script.is_file() and os.access(script, os.X_OK):
        return [str(script)]
    return [sys.executable, "-P", "-m", "hatbox"]  # -P: without the modules of the current folder
