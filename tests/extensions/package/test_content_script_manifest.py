from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hatbox.extension_data.content_script import ContentScript, ScriptSource
from hatbox.extensions.package.manifest import Manifest, read_manifest
from hatbox.extensions.package.package_files import open_package
from tests.extensions.made import make

HOST = "https://site.example/*"


def read(folder: Path, *entries: dict[str, Any], version: int = 2) -> Manifest:
    made = make(folder, files={"js/a.js": "", "a.css": ""}, manifest_version=version, content_scripts=list(entries))
    return read_manifest(open_package(made))


def test_an_entry_with_all_keys(tmp_path: Path) -> None:
    entry = {
        "matches": [HOST, "<all_urls>"],
        "exclude_matches": ["*://*/private"],
        "include_globs": ["*a*"],
        "exclude_globs": ["*b*"],
        "js": ["/js/a.js"],
        "css": ["a.css"],
        "css_origin": "user",
        "run_at": "document_end",
        "world": "MAIN",
        "all_frames": True,
        "match_about_blank": True,
    }
    (script,) = read(tmp_path, entry).content_scripts
    assert script == ContentScript(
        matches=(HOST, "<all_urls>"),
        exclude_matches=("*://*/private",),
        include_globs=("*a*",),
        exclude_globs=("*b*",),
        js=(ScriptSource(file="js/a.js"),),
        css=(ScriptSource(file="a.css"),),
        css_origin="user",
        run_at="document_end",
        world="MAIN",
        all_frames=True,
        match_about_blank=True,
    )


def test_an_entry_with_the_fewest_keys(tmp_path: Path) -> None:
    (script,) = read(tmp_path, {"matches": [HOST]}).content_scripts
    assert script == ContentScript(matches=(HOST,))
    assert (script.run_at, script.world, script.include_globs) == ("document_idle", "ISOLATED", None)


def test_version_3_checks_the_host_permission_of_each_document(tmp_path: Path) -> None:
    (script,) = read(tmp_path, {"matches": [HOST]}, version=3).content_scripts
    assert script.check_permissions


@pytest.mark.parametrize("fallback", [True, False])
def test_match_origin_as_fallback_replaces_match_about_blank(tmp_path: Path, fallback: bool) -> None:
    entry = {"matches": [HOST], "match_about_blank": True, "match_origin_as_fallback": fallback}
    (script,) = read(tmp_path, entry).content_scripts
    assert (script.match_about_blank, script.match_origin_as_fallback) == (False, fallback)


def test_a_file_that_is_missing_is_a_warning_with_its_place(tmp_path: Path) -> None:
    manifest = read(tmp_path, {"matches": [HOST]}, {"matches": [HOST], "js": ["js/a.js", "b.js"], "css": ["b.css"]})
    assert [warning for warning in manifest.warnings if "content_scripts" in warning] == [
        'manifest.json: content_scripts[1].js[1]: "b.js" is not in the extension.',
        'manifest.json: content_scripts[1].css[0]: "b.css" is not in the extension.',
    ]
