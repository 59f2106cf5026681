from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.errors import ManifestError
from hatbox.extensions.package.background import GENERATED_PAGE, Background, Script, page_scripts, read_background
from hatbox.extensions.package.package_files import Package, open_package


def scripts(html: str, page: str = "page.html") -> tuple[list[Script], list[str]]:
    warnings: list[str] = []
    return list(page_scripts(html, page, warnings.append)), warnings


def read(folder: Path, keys: dict[str, Any]) -> tuple[Background | None, list[str]]:
    warnings: list[str] = []
    empty = {"page": None, "scripts": None, "service_worker": None, "type": None}
    return read_background(empty | keys, open_package(folder), warnings.append), warnings


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "manifest.json": "{}",
        "a.js": "",
        "js/b.js": "",
        "js/page.html": "<script src=b.js></script><script src=no.js></script>",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("keys", "key", "name"),
    [
        ({"scripts": ["a.js", "x.js"]}, "background.scripts[1]", "x.js"),
        ({"scripts": ["A.js"]}, "background.scripts[0]", "A.js"),
        ({"scripts": ["../../etc/passwd"]}, "background.scripts[0]", "etc/passwd"),
        ({"scripts": ["x.js"], "type": "module"}, "background.scripts[0]", "x.js"),
        ({"page": "js"}, "background.page", "js"),
    ],
)
def test_a_missing_file_is_named_with_its_place_and_the_others_run(
    folder: Path, keys: dict[str, Any], key: str, name: str
) -> None:
    background, warnings = read(folder, keys)
    remedy = "Add the file or remove the entry."
    assert warnings == [f'manifest.json: {key}: "{name}" is not in the extension. {remedy}']
    assert background is not None
    assert [script.file for script in background.scripts] == [
        each for each in keys.get("scripts", ()) if each == "a.js"
    ]


def test_a_service_worker_that_is_missing_is_an_error(folder: Path) -> None:
    with pytest.raises(ManifestError) as refused:
        read(folder, {"service_worker": "sw.js"})
    problem = 'background.service_worker: "sw.js" is not in the extension'
    assert str(refused.value) == f"manifest.json: {problem}. Add the file or remove the entry."


def test_scripts_run_in_the_order_of_the_manifest(folder: Path) -> None:
    background, _ = read(folder, {"scripts": ["/js/b.js", "a.js"], "persistent": True})
    assert background == Background((Script("js/b.js"), Script("a.js")), GENERATED_PAGE, persistent=True)


def test_scripts_can_be_modules(folder: Path) -> None:
    background, _ = read(folder, {"scripts": ["a.js"], "type": "module"})
    assert background == Background((Script("a.js", module=True),))


def test_scripts_go_before_a_service_worker_and_a_page_before_both(folder: Path) -> None:
    every = {"service_worker": "a.js", "scripts": ["js/b.js"], "page": "js/page.html"}
    assert read(folder, every)[0] == Background((Script("js/b.js"),), "js/page.html")
    assert read(folder, every | {"page": None})[0] == Background((Script("js/b.js"),))
    assert read(folder, {"service_worker": "a.js"})[0] == Background((Script("a.js"),), service_worker=True)


def test_a_script_that_a_page_lacks_is_left_out_with_a_warning(folder: Path) -> None:
    background, warnings = read(folder, {"page": "js/page.html"})
    assert background is not None
    assert background.scripts == (Script("js/b.js"),)
    assert warnings == [
        'js/page.html: the script "js/no.js" is not in the extension. Add the file or remove the entry.'
    ]


def test_no_background() -> None:
    package: Package = None  # type: ignore[assignment]  # nothing is read
    assert read_background(None, package, lambda _: None) is None


def test_the_scripts_of_a_page_run_in_the_order_of_a_browser() -> None:
    html = """<!DOCTYPE html><html><head><meta charset=utf-8>
    <script type="module" src="main.mjs"></script>
    <SCRIPT DEFER SRC='late.js'></SCRIPT>
    <script src="/lib/first.js"></script>
    <script async src="second.js" src="ignored.js"></script>
    <script type="text/javascript" src="../third.js"/><script src="inside.js"></script>
    </head><body>"""
    found, warnings = scripts(html, "bg/page.html")
    assert found == [
        Script("lib/first.js"),
        Script("bg/second.js"),
        Script("third.js"),
        Script("bg/main.mjs", module=True),
        Script("bg/late.js"),
    ]
    assert warnings == []


def test_what_a_browser_does_not_run_is_not_run() -> None:
    html = """<!-- <script src="comment.js"></script> -->
    <template><script src="template.js"></script></template><noscript><script src="noscript.js"></script></noscript>
    <script type="application/json">{"a": "<script src='json.js'>"}</script><script type="importmap">{}</script>
    <script nomodule src="old.js"></script><script type="text/template" src="t.js"></script>
    <p><script src="also-runs.js"></script></p>
    <script src="runs.js">alert("never")</script><script> </script><script src="without-end.js">"""
    found, warnings = scripts(html)
    assert found == [Script("also-runs.js"), Script("runs.js")]
    assert warnings == []


def test_scripts_inside_a_page_are_blocked_with_a_warning() -> None:
    found, warnings = scripts("<p>\n<script>\nstart()\n</script><script src=a.js></script><script>end()</script>")
    assert found == [Script("a.js")]
    assert [warning.partition(":")[0] for warning in warnings] == ["page.html, line 4", "page.html, line 4"]
    assert warnings[0].endswith("because the content security policy forbids it. Put it into a file.")


def test_scripts_from_elsewhere_are_blocked_with_a_warning() -> None:
    found, warnings = scripts(
        "<script src=https://cdn.example/x.js></script><script src='//x'></script><script src></script>"
    )
    assert found == []
    assert warnings[0] == 'page.html: the script "https://cdn.example/x.js" is not in the extension. It is not run.'
    assert len(warnings) == 3


@given(st.text(), st.text())
def test_any_page_is_read(before: str, after: str) -> None:
    scripts(before + "<script src='" + after)


@given(st.lists(st.from_regex(r"[a-z]{1,5}\.js", fullmatch=True)), st.sampled_from(["", " ", "<p>x</p>", "<!-- c -->"]))
def test_every_script_of_a_page_is_found_in_order(names: list[str], between: str) -> None:
    html = between.join(f'<script src="{name}"></script>' for name in names)
    assert scripts(html)[0] == [Script(name) for name in names]
