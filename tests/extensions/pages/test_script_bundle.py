"""The classic script for documents, made of the modules of the runtime."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hatbox.extensions.pages.script_bundle import bundle_function, page_script, page_settings
from hatbox.extensions.runtime import Boot, RuntimeLimits, module_bundle

BOOT = Boot(uuid="u", extension_id="a@x", manifest={"name": "</script>\u2028"}, description={})


def test_the_bundle_has_no_module_syntax_and_each_module_once() -> None:
    source = bundle_function()
    assert re.findall(r"^\s*(?:import|export)\b.*", source, re.MULTILINE) == []
    names = re.findall(r"^const \$(\w+) = \(\(\) => \{$", source, re.MULTILINE)
    assert names.index("primordials") < names.index("values") < names.index("bridge") < names.index("page_main")
    assert len(names) == len(set(names))
    assert "boot" not in names


@pytest.mark.parametrize(
    "line",
    ['import vm from "node:vm";', "export default 1;", "export let counter = 0;", 'export {a} from "./b.js";'],
)
def test_module_syntax_that_the_bundler_does_not_know_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(module_bundle, "MODULE_FOLDER", tmp_path)
    (tmp_path / "page_main.js").write_text(f"{line}\nexport function start() {{}}\n")
    with pytest.raises(ValueError, match=r"page_main\.js: the bundler does not support"):
        bundle_function.__wrapped__()


def test_the_settings_are_those_of_the_document_and_nothing_of_the_process() -> None:
    settings = page_settings(BOOT, RuntimeLimits(), context="page", origin="https://u/")
    assert settings["data"]["context"] == "page"
    assert settings["data"]["id"] == "a@x"
    assert not {"members", "navigator", "localStorage", "polyfills"} & settings.keys()
    assert "context" not in page_settings(BOOT, RuntimeLimits(), context=None)["data"]


def test_names_and_settings_are_quoted() -> None:
    settings = page_settings(BOOT, RuntimeLimits(), context="page")
    source = page_script(settings, binding='b"', receiver="r", own_origin="https://u")
    assert json.dumps(['b"', "r", "https://u"]) in source
    assert "\u2028" not in source
