"""Installs the programs of tests/node once, outside of the repository, for all test processes of this machine."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import platformdirs
import pytest

__all__ = ["installed_modules"]

_FOLDER: Final = Path(__file__).parent
_FILES: Final = ("package.json", "package-lock.json")
_SECONDS: Final = 300


def installed_modules() -> Path:
    """The folder node_modules. Without Node.js or network the test is skipped, or fails where browsers are required."""
    try:
        return _installed()
    except (OSError, subprocess.SubprocessError) as error:
        if os.environ.get("HATBOX_REQUIRE_BROWSERS"):
            raise
        output = getattr(error, "stderr", None) or ""
        pytest.skip(f"the clients of tests/node are not installed: {error} {output[-300:]}")


def _installed() -> Path:
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise FileNotFoundError(f"{program} is not installed")
    content = hashlib.sha256(b"".join((_FOLDER / each).read_bytes() for each in _FILES)).hexdigest()[:16]
    cache = platformdirs.user_cache_path("hatbox-tests", appauthor=False, ensure_exists=True)
    folder = cache / f"node-{content}"
    with (cache / "node.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # other test processes wait until it is installed
        if not folder.exists():
            with tempfile.TemporaryDirectory(dir=cache) as made:
                _install(Path(made))
                Path(made).rename(folder)  # complete or absent
                Path(made).mkdir()
    return folder / "node_modules"


def _install(folder: Path) -> None:
    for each in _FILES:
        shutil.copy(_FOLDER / each, folder)
    command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    environment = {**os.environ, "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1", "NODE_COMPILE_CACHE": ""}
    subprocess.run(
        command, cwd=folder, env=environment, check=True, timeout=_SECONDS, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
