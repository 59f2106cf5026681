"""Records how files of an extension load in pages of Firefox: `python -m tests.conformance.web_resources.record`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from tests.conformance.background_cases import HOST, Case, Recording

HERE = Path(__file__).parent
_LOADS = (HERE / "loads.js").read_text("utf-8")
_SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
_PAGE = '<!doctype html><meta charset="utf-8"><script src="page.js"></script>'
_PAGE_SCRIPT = """
browser.runtime.sendMessage({frame: 1}).then(({echo, sender}) => {
  const api = ["tabs", "cookies", "storage", "webRequest"].map(name => typeof browser[name]);
  const {id, url, origin, frameId, tab, envType} = sender;
  const where = {url, origin, isFrame: frameId > 0, tab: {url: tab?.url}, envType};
  parent.postMessage({echo, where, api, same: id === browser.runtime.id}, "*");
});
"""


def _files(access: str) -> dict[str, str]:
    return {
        f"{access}/image.svg": _SVG,
        f"{access}/style.css": "body {color: rgb(1, 2, 3)}" if access == "open" else "body {color: rgb(9, 9, 9)}",
        f"{access}/script.js": f"document.documentElement.dataset.{access}Script = 'yes';",
        f"{access}/module.js": f"document.documentElement.dataset.{access}Module = 'yes';",
        f"{access}/exports.js": f"export const answer = '{access}';",
        f"{access}/text.txt": f"text of {access}",
        f"{access}/page.html": _PAGE,
        f"{access}/page.js": _PAGE_SCRIPT,
    }


FILES: dict[str, str] = {"loads.js": _LOADS, **_files("open"), **_files("closed")}
_V2: dict[str, Any] = {"web_accessible_resources": ["open/*"]}


class ResourceCase(Case):
    """A case whose script knows the text of loads.js."""

    def body(self, site: Any) -> str:
        return f"const LOADS = {json.dumps(_LOADS)};\n{super().body(site)}"


_PERMISSIONS = ("tabs", "webRequest", "webRequestBlocking", HOST)
CASES = (ResourceCase("version 2", HERE / "resources.js", 2, _PERMISSIONS, _V2),)

RECORDING = Recording(HERE / "recorded.firefox.json", CASES, FILES, 300)

if __name__ == "__main__":
    sys.exit(RECORDING.main())
