"""What a script must not get hold of, however it looks: the engine's own classes, Hatbox's insides, the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extensions.runtime.lab import Lab, in_lab, needs_deno

pytestmark = needs_deno

FILES = {"module.js": "export default import.meta; export let other = 2;", "data.json": "{}"}
LOOK = """
    const seen = [];
    const note = value => { if (typeof value === "object" && value !== null) seen.push(value); };
    %s
    await import("/module.js");
    await import("/data.json", {with: {type: "json"}});
    await browser.contextualIdentities.query({});
    %s
    const pause = new Promise(done => setTimeout(done, 5));
    for (const each of seen) if (each instanceof Promise) note(await Promise.race([each, pause]));
    return [...new Set(seen.map(each => each.constructor?.name))].filter(name => /Module|Script|Context/.test(name));
"""
THEN = (
    "Object.defineProperty(Object.prototype, 'then', {configurable: true, get() { note(this); }});",
    "delete Object.prototype.then;",
)
CONSTRUCTOR = (
    "const own = Object.getOwnPropertyDescriptor(Promise.prototype, 'constructor'); const {value} = own;"
    "delete own.value; delete own.writable;"
    "Object.defineProperty(Promise.prototype, 'constructor', {...own, get() { note(this); return value; }});",
    "Object.defineProperty(Promise.prototype, 'constructor', {...own, value, writable: true});",
)


@pytest.mark.parametrize("trap", [THEN, CONSTRUCTOR], ids=["then", "constructor"])
def test_the_classes_of_modules_which_make_code_from_text_are_in_no_promise(
    tmp_path: Path, trap: tuple[str, str]
) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(files=FILES)
        assert await runtime.evaluate(LOOK % trap) == []

    in_lab(tmp_path, use)


FAILURES = [
    "structuredClone(() => 1)", "new URL('x')", "new Request('x')", "await fetch('blob:x')",
    "await fetch('file:///etc/passwd')", "await import('/nothing.js')", "await import('node:fs')",
    "await crypto.subtle.digest('x', 1)", "reportError(new Error('x'))", "(function down() { down(); })()",
    "await WebAssembly.compileStreaming(new Response('x'))", "await createImageBitmap(new Blob(['x']))",
    "await browser.contextualIdentities.get('nobody')", "browser.contextualIdentities.get(1)",
]  # fmt: skip


def test_no_error_says_where_hatbox_is_installed(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(files={"meta.js": "export default Reflect.ownKeys(import.meta)"})
        attempts = "".join(f"try {{ {each}; }} catch (error) {{ note(error); }}" for each in FAILURES)
        said = await runtime.evaluate(f"""
            Error.stackTraceLimit = Infinity;
            let said = "";
            const note = error => {{ said += [error.message, error.stack, error.cause, error.fileName].join(); }};
            addEventListener("error", event => {{ said += event.filename; note(event.error); }});
            {attempts}
            return said + performance.getEntries().map(each => each.name);
        """)
        assert "moz-extension://" in said
        assert "file:///" not in said.replace("file:///etc/passwd", "")
        for hidden in ("hatbox", ".mjs", "bridge.js", "site-packages", str(Path.home())):
            assert hidden not in said
        assert await runtime.evaluate("(await import('/meta.js')).default") == ["url"]

    in_lab(tmp_path, use)
