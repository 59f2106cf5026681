from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from hatbox.engines.chromium.launch import find_browser
from hatbox.errors import EngineError
from tests.engines.chromium.desktop import Keyboard, WindowManager
from tests.marks import starts


@pytest.fixture(scope="session")
@starts("browser")
def browser() -> str:
    """The path of a Chromium. Without it, the test is skipped, or fails where browsers are required."""
    try:
        return str(find_browser())
    except EngineError as error:
        if os.environ.get("HATBOX_REQUIRE_BROWSERS"):
            raise
        pytest.skip(str(error))


@pytest.fixture
@starts("browser")
def display(monkeypatch: pytest.MonkeyPatch, browser: str) -> Iterator[None]:
    """A virtual display (Xvfb)."""
    if shutil.which("Xvfb") is None:
        if os.environ.get("HATBOX_REQUIRE_BROWSERS"):
            raise FileNotFoundError("Xvfb")
        pytest.skip("Xvfb is not installed")
    read, write = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1200x800x24", "-nolisten", "tcp"],
        pass_fds=[write],
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    with os.fdopen(read) as number, server:
        monkeypatch.setenv("DISPLAY", f":{number.readline().strip()}")
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        yield
        server.terminate()


@pytest.fixture
@starts("browser")
def desktop(display: None) -> Iterator[Keyboard]:
    """A display with a window manager; gives its keyboard."""
    keyboard = Keyboard(os.environ["DISPLAY"])
    with WindowManager(os.environ["DISPLAY"]):
        yield keyboard
    keyboard.close()
