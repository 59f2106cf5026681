"""Which files of an extension web pages may load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hatbox.extensions.content_scripts.web_resources import is_web_accessible
from hatbox.extensions.package.manifest import read_manifest
from hatbox.extensions.package.package_files import open_package
from tests.extensions.made import make

PAGE = "https://site.example/page"
V3: dict[str, Any] = {
    "manifest_version": 3,
    "web_accessible_resources": [{"resources": ["/img/*.svg"], "matches": ["https://site.example/*"]}],
}


@pytest.mark.parametrize(
    ("keys", "path", "page", "expected"),
    [
        ({}, "a.txt", PAGE, False),
        ({"web_accessible_resources": ["a.txt"]}, "a.txt", PAGE, True),
        ({"web_accessible_resources": ["/a.txt"]}, "/a.txt", PAGE, True),
        ({"web_accessible_resources": ["img/*"]}, "img/x/y.png", PAGE, True),
        ({"web_accessible_resources": ["img/*"]}, "other/img/x.png", PAGE, False),
        (V3, "img/a.svg", PAGE, True),
        (V3, "img/a.svg", "https://other.example/", False),
        (V3, "img/a.png", PAGE, False),
        (V3, "img/a.svg", "no url", False),
    ],
)
def test_files_are_accessible_as_the_manifest_says(
    tmp_path: Path, keys: dict[str, Any], path: str, page: str, expected: bool
) -> None:
    manifest = read_manifest(open_package(make(tmp_path, **keys)))
    assert is_web_accessible(manifest, path, page) == expected
