"""Modules that are joined into one script, which is compiled when it is first used."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.extensions.runtime import module_bundle
from hatbox.extensions.runtime.module_bundle import bundle


def test_modules_come_after_those_that_they_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_bundle, "MODULE_FOLDER", tmp_path)
    (tmp_path / "one.js").write_text(
        '// a comment\nimport {\n  two,\n} from "./two.js";\nimport {known} from "./known.js";\nexport const one = 1;\n'
    )
    (tmp_path / "two.js").write_text('import {known} from "./known.js";\nexport const [two, three] = known;\n')
    source = bundle("one", ["known"])
    assert source.startswith('(($known) => {\n"use strict";\nconst $two =')
    assert source.index("return {__proto__: null, two, three};") < source.index("const $one =")
    assert source.endswith("return $one;\n})")
    assert "comment" not in source
    assert "export" not in source


@pytest.mark.parametrize("line", ['import "./x.js";', 'import * as x from "./x.js";', "export default 1;"])
def test_what_it_does_not_support_is_an_error(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_bundle, "MODULE_FOLDER", tmp_path)
    (tmp_path / "one.js").write_text(f"{line}\n")
    with pytest.raises(ValueError, match="does not support"):
        bundle("one", [])
