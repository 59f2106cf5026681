"""Whether the background and the pages of an extension both use IndexedDB."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.extensions.background_place import shares_databases
from hatbox.extensions.package.manifest import read_manifest
from hatbox.extensions.package.package_files import open_package
from tests.extensions.made import make

PAGE = {"ui/popup.html": "<script src=popup.js></script>"}
OPEN = "indexedDB.open('a')"
CASES: dict[str, tuple[dict[str, str], bool]] = {
    "neither": ({"background.js": "1", **PAGE, "ui/popup.js": "1"}, False),
    "the background only": ({"background.js": OPEN, **PAGE, "ui/popup.js": "1"}, False),
    "the page only": ({"background.js": "1", **PAGE, "ui/popup.js": OPEN}, False),
    "both": ({"background.js": OPEN, **PAGE, "ui/popup.js": OPEN}, True),
    "in a file that no page loads": ({"background.js": OPEN, **PAGE, "ui/popup.js": "1", "other.js": OPEN}, False),
    "in an imported file": (
        {
            "background.js": "import {a} from './lib/db.js'",
            **PAGE,
            "ui/popup.js": "await import('../lib/index.js')",
            "lib/index.js": "export * from '/lib/db.js'; import './index.js';",
            "lib/db.js": OPEN,
        },
        True,
    ),
    "a file that is missing": ({"background.js": OPEN, **PAGE}, False),
    "many spaces": ({"background.js": "import" + " " * 10**6, **PAGE, "ui/popup.js": OPEN}, False),
    "a longer name": ({"background.js": OPEN, **PAGE, "ui/popup.js": "indexedDBNames"}, False),
}


@pytest.mark.parametrize("case", CASES)
def test_databases_are_shared_if_scripts_of_both_use_them(case: str, tmp_path: Path) -> None:
    files, expected = CASES[case]
    package = open_package(make(tmp_path, files=files))
    background = read_manifest(package).background
    assert background is not None
    assert shares_databases(package, background) is expected
