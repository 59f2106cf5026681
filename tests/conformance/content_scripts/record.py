"""Records what content scripts see in a real Firefox: `python -m tests.conformance.content_scripts.record [--check]`.

Each script beside this file runs as the background of an extension, in Firefox and in Hatbox with Chromium, and
returns what it saw as [name, how, value].
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tests.conformance.content_scripts.site import FrameSite
from tests.firefox import Firefox, firefox_version

HERE = Path(__file__).parent
RECORDING = HERE / "recorded.firefox.json"
HOST = "http://localhost/*"
LOOPBACK = "http://127.0.0.1/*"  # tests/firefox.py gives it to every extension of version 2

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


class Case(NamedTuple):
    """A script, and the manifest of the extension that it is the background of."""

    name: str
    script: str
    version: int
    permissions: tuple[str, ...]
    manifest: Mapping[str, Any] = {}
    folder: Path = HERE

    def body(self, site: FrameSite) -> str:
        """The body of an async function that runs it."""
        frame = (HERE / "frame.js").read_text("utf-8")
        script = (self.folder / f"{self.script}.js").read_text("utf-8")
        origins = f"const SITE = {site.origin!r}, OTHER = {site.other!r}, EXPECTED_REPORTS = 15;\n"
        return f"{origins}{frame}\n{script}"

    def keys(self) -> dict[str, Any]:
        """The keys of the manifest beside the permissions."""
        hosts = {"host_permissions": [LOOPBACK, HOST]} if self.version > 2 else {}
        return {**hosts, **self.manifest}


CASES = (
    Case("tabs", "tabs", 2, ("tabs", HOST)),
    Case("scripting, version 2", "scripting", 2, ("scripting", "tabs", HOST)),
    Case("scripting", "scripting", 3, ("scripting", "tabs")),
    Case("contentScripts", "register", 2, ("tabs", HOST)),
    Case("manifest", "manifest", 2, ("storage",), _MANIFEST),
    Case("manifest, version 3", "manifest", 3, ("storage",), _MANIFEST),
    Case("messages", "messages", 2, ("webNavigation", "tabs"), _MESSAGES),
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
                timeout=300,
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


def compare(before: dict[str, Any], after: dict[str, Any]) -> str | None:
    """The names of the cases with other answers, in words; None without any."""
    changed = [
        name for name, log in after["answers"].items() if json.dumps(log) != json.dumps(before["answers"].get(name))
    ]
    return "\n".join(f"Firefox answers otherwise: {name}" for name in changed) or None


def format_answers(found: dict[str, Any]) -> str:
    """JSON with one answer on each line."""
    blocks = ",\n".join(
        f"  {json.dumps(name)}: [" + ",".join(f"\n   {json.dumps(entry)}" for entry in log) + "\n  ]"
        for name, log in found["answers"].items()
    )
    return f'{{\n "firefox": {json.dumps(found["firefox"])},\n "answers": {{\n{blocks}\n }}\n}}\n'


if __name__ == "__main__":
    sys.exit(main())
