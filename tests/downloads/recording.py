"""An extension that downloads files, in a real Firefox: `python -m tests.downloads.recording` records it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from tests.downloads.test_downloads import file_site
from tests.firefox import Firefox, save_log

HERE = Path(__file__).parent
RECORDING = HERE / "downloads.firefox.json"
PERMISSIONS = ("downloads", "cookies", "contextualIdentities")


def probe(site: str) -> str:
    """The body of the function that the extension runs."""
    return f"const SITE = {json.dumps(site)};\n" + (HERE / "downloads_probe.js").read_text("utf-8")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, file_site() as site:
        prefs: dict[str, bool | int | str] = {"browser.download.dir": folder, "browser.download.folderList": 2}
        with Firefox(prefs=prefs) as firefox:
            log = firefox.run(probe(site.origin), permissions=PERMISSIONS, timeout=60)
            save_log(RECORDING, firefox, log)


def recorded() -> dict[str, Any]:
    """What Firefox did, by the name of the case."""
    return dict(json.loads(RECORDING.read_text("ascii"))["log"])


if __name__ == "__main__":
    main()
