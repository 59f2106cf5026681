"""Which tests need a browser, and which take longer than a quick run allows. The others are the quick run."""

from __future__ import annotations

from typing import Final

import pytest

__all__ = ["mark"]

_BROWSER_FIXTURES: Final = {"browser", "desktop", "display", "firefox"}
_BROWSER_FILES: Final = ("tests/cli/test_chromium.py", "tests/conformance/test_recording.py")

# Measured with: HATBOX_TESTS=all python -m pytest --durations=0
_SLOW_FILES: Final[tuple[str, ...]] = ()


def mark(item: pytest.Item) -> None:
    """Mark a test `browser` or `slow`, if it is."""
    path = item.nodeid.partition("::")[0]
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    needs_browser = _BROWSER_FIXTURES & set(getattr(item, "fixturenames", ()))
    if needs_browser or path in _BROWSER_FILES or parameters.get("engine") == "chromium":
        item.add_marker("browser")
        item.add_marker(pytest.mark.xdist_group(path))  # one worker, which starts one browser
    elif path in _SLOW_FILES:
        item.add_marker("slow")
