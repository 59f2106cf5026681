"""Records what popups and tabs of an extension see in a real Firefox.

`python -m tests.conformance.extension_pages.record [--check]`. The format is that of content_scripts/record.py.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.conformance.content_scripts.record import Case, compare, format_answers
from tests.conformance.content_scripts.site import FrameSite
from tests.conformance.ui.record import CLICK_ACTION
from tests.firefox import Firefox, firefox_version

HERE = Path(__file__).parent
RECORDING = HERE / "recorded.firefox.json"
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
        "pages", "pages", 2, ("tabs", "storage"), {"browser_action": _BUTTON, "optional_permissions": _OPTIONAL}, HERE
    ),
    Case(
        "pages, version 3",
        "pages",
        3,
        ("tabs", "storage"),
        {"action": _BUTTON, "optional_host_permissions": _OPTIONAL},
        HERE,
    ),
)


def record() -> dict[str, Any]:
    """What Firefox answers now."""
    with Firefox() as firefox, FrameSite() as site:
        answers = {}
        for case in CASES:
            firefox.reset_windows()
            answers[case.name] = firefox.run(
                case.body(site),
                permissions=case.permissions,
                manifest_version=case.version,
                manifest=case.keys(),
                files=FILES,
                timeout=120,
                host={"action": lambda _: firefox.chrome(CLICK_ACTION)},
            )
        return {"firefox": firefox_version(firefox.binary), "answers": answers}


def recorded() -> dict[str, Any]:
    """What was recorded."""
    found: dict[str, Any] = json.loads(RECORDING.read_text("ascii"))
    return found


def main() -> str | None:
    """Write the recording, or compare with it."""
    found = record()
    if "--check" in sys.argv:
        return compare(recorded(), found)
    RECORDING.write_text(format_answers(found), "ascii")
    return None


if __name__ == "__main__":
    sys.exit(main())
