"""Modules and scripts: everything comes from the package, and nothing from anywhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extensions.runtime.lab import BASE, Lab, in_lab, needs_deno

pytestmark = needs_deno


def test_modules_import_each_other_and_await_at_the_top(tmp_path: Path) -> None:
    files = {
        "js/main.js": """
            import count, {name} from "./lib.js";
            import * as lib from "/js/lib.js";
            import settings from "../settings.json" with {type: "json"};
            const identities = await browser.contextualIdentities.query({});
            globalThis.result = [name, count, lib.name === name, settings.deep, identities.length, import.meta.url];
        """,
        "js/lib.js": "import {late} from './other.js'; export const name = 'lib'; export default late() + 1;",
        "js/other.js": "import {name} from './lib.js'; export const late = () => 41; export const lazy = () => name;",
        "settings.json": '{"deep": [1]}',
    }

    async def use(lab: Lab) -> None:
        runtime = await lab.start(files=files)
        await runtime.run_module("js/main.js")
        assert await runtime.evaluate("result") == ["lib", 42, True, [1], 4, f"{BASE}js/main.js"]
        again = "(await import('/js/lib.js')).default"
        assert await runtime.evaluate(again) == 42
        assert lab.host.entries == []

    in_lab(tmp_path, use)


def test_a_module_runs_once_whoever_imports_it(tmp_path: Path) -> None:
    files = {
        "once.js": "globalThis.runs = (globalThis.runs ?? 0) + 1; export default runs;"
        "await new Promise(done => setTimeout(done, 5));",
        "a.js": "import once from './once.js'; export default once;",
        "b.js": "import once from './once.js'; import './a.js'; export default once;",
    }

    async def use(lab: Lab) -> None:
        runtime = await lab.start(files=files)
        assert await runtime.evaluate(
            "const all = await Promise.all(['/a.js', '/b.js', '/once.js', '/a.js'].map(each => import(each)));"
            "return [all.map(each => each.default), all[0] === all[3], runs]"
        ) == [[1, 1, 1, 1], True, 1]

    in_lab(tmp_path, use)


OUTSIDE = [
    "node:fs", "node:process", "fs", "file:///etc/passwd", "https://example.org/a.js", "http://127.0.0.1/", "npm:x", "",
    "jsr:@std/fs", "data:text/javascript,export default 1", "blob:null/1", "//example.org/a.js", "ext:core/mod.js",
    "moz-extension://other/a.js", "/missing.js", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
]  # fmt: skip


def test_nothing_outside_the_package_is_imported(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        files = {f"{index}/main.js": f"import {specifier!r};" for index, specifier in enumerate(OUTSIDE)}
        runtime = await lab.start(files=files)
        for index, specifier in enumerate(OUTSIDE):
            caught = f"import({specifier!r}).then(module => Object.keys(module), error => error instanceof TypeError)"
            assert await runtime.evaluate(caught) is True, specifier
            await runtime.run_module(f"{index}/main.js")
            assert len(lab.host.entries) == index + 1, specifier
        assert all(entry.kind == "error" and entry.text.startswith("TypeError") for entry in lab.host.entries)

    in_lab(tmp_path, use)


FORMS = {
    "eval": "eval(code)",
    "indirect": "(0, eval)(code)",
    "Function": "Function('return ' + code)()",
    "AsyncFunction": "(async () => {}).constructor('return ' + code)()",
    "then": "Promise.resolve(code).then(eval)",
    "timer": "new Promise((...both) => { [done, fail] = both; setTimeout(eval, 0, settle); })",
    "microtask": "new Promise((...both) => { [done, fail] = both; queueMicrotask(eval.bind(null, settle)); })",
    "stream": "new Promise((...both) => { [done, fail] = both;"
    " new ReadableStream({pull: eval.bind(null, settle)}).getReader().read(); })",
}


def test_code_from_strings_imports_nothing_either_where_it_is_allowed(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start("var done, fail;", unsafe_eval=True)
        assert await runtime.evaluate("eval('1 + 1')") == 2
        for specifier in ("node:process", "file:///etc/passwd", "data:text/javascript,import 'node:fs'"):
            for form, source in FORMS.items():
                outcome = await runtime.evaluate(
                    f"""const code = `import({specifier!r})`, settle = code + ".then(done, fail)";
                    return await ({source}).then(module => "imported", error => "refused");"""
                )
                assert outcome == "refused", (form, specifier)

    in_lab(tmp_path, use)


def test_a_missing_script_is_told_and_the_next_one_runs(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start("var ran = true;")
        await runtime.run_scripts(["missing.js"])
        assert lab.host.entries[-1].text == f"Loading failed for the <script> with source “{BASE}missing.js”."
        assert await runtime.evaluate("ran") is True

    in_lab(tmp_path, use)


def test_errors_of_modules_name_file_and_line(tmp_path: Path) -> None:
    files = {
        "syntax.js": "\nconst = 1;",
        "throws.js": "\n\nthrow new Error('at the top');",
        "needs.js": "import {absent} from './good.js';",
        "good.js": "export const there = 1;",
        "bad.json": "{",
        "json.js": "import './bad.json' with {type: 'json'};",
    }

    async def use(lab: Lab) -> None:
        runtime = await lab.start(files=files)
        for path in ("syntax.js", "throws.js", "needs.js", "json.js"):
            await runtime.run_module(path)
        texts = [entry.text for entry in lab.host.entries]
        assert texts[0].startswith("SyntaxError")
        assert lab.host.entries[0].file == f"{BASE}syntax.js"
        assert (texts[1], lab.host.entries[1].line) == ("Error: at the top", 3)
        assert "absent" in texts[2]
        assert texts[3].startswith("SyntaxError")

    in_lab(tmp_path, use)


def test_a_graph_of_many_modules_loads(tmp_path: Path) -> None:
    def module(n: int) -> str:
        count = "globalThis.n = (globalThis.n ?? 0) + 1;"
        return f"import './m{(n + 1) % 300}.js'; import './m{(n * 7) % 300}.js'; {count}"

    files = {f"m{n}.js": module(n) for n in range(300)}

    async def use(lab: Lab) -> None:
        runtime = await lab.start(files=files)
        await runtime.run_module("m0.js")
        assert await runtime.evaluate("n") == 300

    in_lab(tmp_path, use)


@pytest.mark.parametrize(
    "script",
    [
        "const browser = globalThis.browser ?? globalThis.chrome;",
        "let chrome = globalThis.browser;",
        "var browser = browser || chrome;",
        "'use strict'; globalThis.browser = chrome; self.chrome = browser;",
        "'use strict'; if (typeof browser === 'undefined') { var browser = chrome; }",
    ],
)
def test_a_script_may_have_names_of_its_own_for_browser_and_chrome(tmp_path: Path, script: str) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(script, "var next = typeof browser.contextualIdentities + typeof chrome.runtime;")
        assert lab.host.entries == []
        assert await runtime.evaluate("next") == "objectobject"

    in_lab(tmp_path, use)
