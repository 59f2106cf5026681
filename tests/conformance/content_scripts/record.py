"""Records what content scripts see in Firefox: `python -m tests.conformance.content_scripts.record [--check]`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tests.conformance.background_cases import HOST, Case, Recording

HERE = Path(__file__).parent

FILES: dict[str, str] = {
    "result.js": "document.title + typeof globalThis.wasSet",
    "set.js": "globalThis.wasSet = 1;",
    "throws.js": "throw new RangeError('in a file');",
    "broken.js": "let let = 1;",
    "style.css": "body {color: rgb(7, 8, 9)}",
    "mark.js": "document.documentElement.dataset.marks = (document.documentElement.dataset.marks ?? '') + 'x';",
    "messages_page.js": (HERE / "messages_page.js").read_text("utf-8"),
    "about.js": (HERE / "about.js").read_text("utf-8"),
}


def _reporting(name: str, **keys: Any) -> dict[str, Any]:
    return {"matches": [HOST], "js": [f"{name}.js"], **keys}


_REPORTS: dict[str, dict[str, Any]] = {
    "start": {"run_at": "document_start"},
    "end": {"run_at": "document_end"},
    "idle": {},
    "all": {"all_frames": True},
    "blank": {"all_frames": True, "match_about_blank": True},
    "fallback": {"all_frames": True, "match_origin_as_fallback": True},
    "excluded": {"exclude_matches": [HOST]},
    "globs": {"include_globs": ["*/frames"]},
    "other_globs": {"include_globs": ["*/elsewhere"]},
}
for _name in _REPORTS:
    FILES[f"{_name}.js"] = f"browser.runtime.sendMessage({{report: {_name!r}, url: location.href}});"

_MANIFEST = {
    "content_scripts": [
        *(_reporting(name, **{"exclude_globs": ["*/excluded", "*/about"], **keys}) for name, keys in _REPORTS.items()),
        _reporting("about", include_globs=["*/about"]),
    ]
}
_MESSAGES = {"content_scripts": [_reporting("messages_page", all_frames=True)]}


CASES = (
    Case("tabs", HERE / "tabs.js", 2, ("tabs", HOST)),
    Case("scripting, version 2", HERE / "scripting.js", 2, ("scripting", "tabs", HOST)),
    Case("scripting", HERE / "scripting.js", 3, ("scripting", "tabs")),
    Case("contentScripts", HERE / "register.js", 2, ("tabs", HOST)),
    Case("manifest", HERE / "manifest.js", 2, ("storage",), _MANIFEST),
    Case("manifest, version 3", HERE / "manifest.js", 3, ("storage",), _MANIFEST),
    Case("messages", HERE / "messages.js", 2, ("webNavigation", "tabs"), _MESSAGES),
)

RECORDING = Recording(HERE / "recorded.firefox.json", CASES, FILES, 300)

if __name__ == "__main__":
    sys.exit(RECORDING.main())
