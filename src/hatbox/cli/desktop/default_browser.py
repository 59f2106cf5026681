"""Opens a URL in the default browser of the user."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

from hatbox import child_processes

__all__ = ["open_in_browser"]

_OPEN: Final = "import sys, webbrowser; sys.exit(not webbrowser.open(sys.argv[1]))"


def open_in_browser(url: str) -> bool:
    """Whether a browser was found. In a process of its own: the browser must not have the key of the profile."""
    environment = child_processes.foreign_environment()
    command = [sys.executable, "-I", "-c", _OPEN, url]
    return subprocess.run(command, check=False, env=environment).returncode == 0  # noqa: S603 - this Python
