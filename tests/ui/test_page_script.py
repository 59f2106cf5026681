"""The modules of the page, joined into one script."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.ui.page_script import page_script
from hatbox.ui.static_files import FOLDER, StaticFiles
from tests.in_deno import value_in_deno


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.deno
def test_modules_import_names_namespaces_and_paths_from_each_other_and_run_once(tmp_path: Path) -> None:
    files = {
        "main.js": (
            'import {add as plus} from "./lib/sum.js";\n'
            'import * as sum from "./lib/sum.js";\n'
            "const load = name => import(`./lib/${name}.js`);\n"
            "globalThis.result = load('later').then(({value}) => [plus(1, 2), sum.LIMIT, sum.shared, value, runs]);\n"
        ),
        "lib/sum.js": (
            'import {shared} from "../shared.js";\n'
            "globalThis.runs = (globalThis.runs ?? 0) + 1;\n"
            "export function add(a, b) { return a + b; }\n"
            "export const LIMIT = 7;\n"
            "export {shared};\n"
        ),
        "lib/later.js": 'import {add} from "./sum.js";\nexport const value = add(20, 1);\n',
        "shared.js": 'export const shared = "shared";\n',
    }
    files["early.js"] = 'import {shared} from "./shared.js";\nglobalThis.early = shared;\n'
    early = page_script(write(tmp_path, files), "early.js")
    script = page_script(tmp_path, "main.js", after="early.js")
    assert "sum.js" not in early
    both = f"{early}\n{script}"
    result = "return [...await globalThis.result, globalThis.early];"
    assert value_in_deno(both, result) == [3, 7, "shared", 21, 1, "shared"]


@pytest.mark.parametrize(
    "line", ["export default 1;", 'import x from "./x.js";', "const x = await y();", "export let x = 1;"]
)
def test_what_cannot_be_joined_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(ValueError, match=r"lib/bad\.js: not supported in a module of the page: "):
        page_script(write(tmp_path, {"early.js": "", "lib/bad.js": f"{line}\n"}), "main.js", after="early.js")


def test_the_page_is_one_document_style_sheet_and_script_with_every_style_sheet_and_glyph() -> None:
    files = StaticFiles()
    page, styles, early, script = (files.get(name) for name in ("", "page.css", "early.js", "page.js"))
    assert page is not None
    assert styles is not None
    assert early is not None
    assert script is not None
    assert page.content.count(b'rel="stylesheet"') == 1
    assert b'src="page.js"' in page.content
    assert b'<symbol id="id-fingerprint"' in page.content
    for sheet in FOLDER.rglob("*.css"):
        assert sheet.read_bytes() in styles.content, f"{sheet.name} is not linked in index.html"
    for module in FOLDER.rglob("*.js"):
        name = module.relative_to(FOLDER).as_posix()
        assert (f'"{name}": () => {{'.encode() in script.content) != (f'"{name}": () => {{'.encode() in early.content)
