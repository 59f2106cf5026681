"""Records what popups and tabs of an extension see in a real Firefox.

`python -m tests.conformance.extension_pages.record [--check]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.conformance.background_cases import Case, Recording
from tests.conformance.ui.record import CLICK_ACTION

HERE = Path(__file__).parent
FILES: dict[str, str] = {
    "pages/popup.html": "<!doctype html><title>Popup</title><body><p>text</p>"
    "<script>window.inline = 1;</script><script src=page.js></script>",
    "pages/tab.html": "<!doctype html><title>Tab</title><body><script src=page.js></script>",
    "pages/page.js": (HERE / "page.js").read_text("utf-8"),
    "data.json": '{"a": 1}',
}
_BUTTON = {"default_popup": "pages/popup.html", "default_area": "navbar"}
_OPTIONAL = ["http://elsewhere.example/*"]

CASES = (
    Case(
        "pages",
        HERE / "pages.js",
        2,
        ("tabs", "storage"),
        {"browser_action": _BUTTON, "optional_permissions": _OPTIONAL},
    ),
    Case(
        "pages, version 3",
        HERE / "pages.js",
        3,
        ("tabs", "storage"),
        {"action": _BUTTON, "optional_host_permissions": _OPTIONAL},
    ),
)

RECORDING = Recording(
    HERE / "recorded.firefox.json",
    CASES,
    FILES,
    120,
    lambda firefox: {"action": lambda _: firefox.chrome(CLICK_ACTION)},
)

if __name__ == "__main__":
    sys.exit(RECORDING.main())
