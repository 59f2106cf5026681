"""What an extension keeps, as its scripts find it: values that JSON has no word for, and what ends with a session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import hatbox
from hatbox import Profile
from hatbox.extensions.extension import Extension
from tests.extensions.made import make, run_made
from tests.extensions.runtime.lab import needs_deno

# What Firefox 153 gives back of each, and its class.
KEPT = {
    "new Date(5)": ["[object Date]", "1970-01-01T00:00:00.005Z"],
    "/a\\/b/g": ["[object RegExp]", "/a\\/b/g"],
    "new Map([[1, {a: undefined}]])": ["[object Map]", '[[1,{"a":"undefined"}]]'],
    "new Set([1, 'x'])": ["[object Set]", '[1,"x"]'],
    "NaN": ["[object Number]", "NaN"],
    "-0": ["[object Number]", "-0"],
    "-Infinity": ["[object Number]", "-Infinity"],
    "5n": ["[object BigInt]", "5"],
    "2n ** 70n": ["[object BigInt]", "1180591620717411303424"],
    "new Uint8Array([1, 2])": ["[object Uint8Array]", "1,2"],
    "new Float64Array([0.5])": ["[object Float64Array]", "0.5"],
    "new Uint8Array([1, 2]).buffer": ["[object ArrayBuffer]", "1,2"],
    "new TypeError('x')": ["[object Error]", "TypeError: x"],
    "'\\ud800'": ["[object String]", "\\ud800"],
    "'a\\0b'": ["[object String]", "a\\u0000b"],
    "1e300": ["[object Number]", "1e+300"],
    "2 ** 64": ["[object Number]", "18446744073709552000"],
    "1e21": ["[object Number]", "1e+21"],
    "({'\\0': ['undefined'], '\\0x': 1})": ["[object Object]", '{"\\u0000":["undefined"],"\\u0000x":1}'],
    "({a: undefined, b: [undefined]})": ["[object Object]", '{"a":"undefined","b":["undefined"]}'],
}
SHOW = """
globalThis.shown = value => {
  const kind = Object.prototype.toString.call(value);
  const json = inner => JSON.stringify(inner, (_, each) => each === undefined ? "undefined" : each);
  switch (kind) {
    case "[object Date]": return [kind, value.toISOString()];
    case "[object Map]": case "[object Set]": return [kind, json([...value])];
    case "[object ArrayBuffer]": return [kind, `${new Uint8Array(value)}`];
    case "[object Number]": return [kind, Object.is(value, -0) ? "-0" : `${value}`];
    case "[object String]": return [kind, JSON.stringify(value).slice(1, -1)];
    case "[object Object]": return [kind, json(value)];
  }
  return [kind, `${value}`];
};
"""


@needs_deno
def test_local_and_session_give_back_what_they_were_given(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        for area in ("local", "session"):
            for value, expected in KEPT.items():
                await extension.evaluate(f"browser.storage.{area}.set({{key: {value}}})")
                got = await extension.evaluate(f"shown((await browser.storage.{area}.get('key')).key)")
                assert got == expected, value

    run_made(tmp_path, use, SHOW, permissions=["storage"])


@needs_deno
def test_sync_gives_back_what_json_makes_of_it(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        cases = {
            "new Date(5)": "1970-01-01T00:00:00.005Z",
            "({toJSON() { return 'own'; }})": "own",
            "new URL('https://a.b')": "https://a.b/",
            "new Map([[1, 2]])": {},
            "[undefined, NaN, -0, () => {}]": [None, None, 0, None],
            "({'\\0': ['undefined']})": {"\0": ["undefined"]},
            "new String('x')": "x",
        }
        for value, expected in cases.items():
            await extension.evaluate(f"browser.storage.sync.set({{key: {value}}})")
            assert await extension.evaluate("(await browser.storage.sync.get('key')).key") == expected, value

    run_made(tmp_path, use, permissions=["storage"])


@needs_deno
def test_what_cannot_be_kept_rejects_in_firefoxs_words(tmp_path: Path) -> None:
    async def use(_: Profile, extension: Extension) -> None:
        cases = {
            ("local", "() => {}"): "DataCloneError: Function object could not be cloned.",
            ("local", "Promise.resolve()"): "DataCloneError: Promise object could not be cloned.",
            ("local", "new URL('https://a.b')"): "DataCloneError: URL object could not be cloned.",
            ("local", "new String('x')"): "DataCloneError: String object could not be cloned.",
            ("local", "Symbol()"): "DataCloneError: The object could not be cloned.",
            ("local", "({toJSON() {}})"): "DataCloneError: Function object could not be cloned.",
            ("sync", "() => {}"): "DataCloneError: The object could not be cloned.",
            ("sync", "Symbol()"): "DataCloneError: The object could not be cloned.",
            ("sync", "[5n]"): "BigInt value can't be serialized in JSON",
            ("sync", "globalThis"): "cyclic object value",
        }
        for (area, value), words in cases.items():
            script = (
                f"try {{ await browser.storage.{area}.set({{key: {value}}}) }} catch (error) {{ return error.message }}"
            )
            assert await extension.evaluate(script) == words, value
            assert await extension.evaluate(f"browser.storage.{area}.getKeys()") == []

    run_made(tmp_path, use, permissions=["storage"])


@needs_deno
def test_a_session_ends_with_the_extension_but_not_when_it_sleeps(tmp_path: Path) -> None:
    async def main() -> None:
        folder = make(tmp_path, persistent=False, permissions=["storage"])
        async with asyncio.timeout(60), hatbox.open(tmp_path / "profile.db") as profile:
            extension = await profile.extensions.start(folder)
            await extension.evaluate("browser.storage.session.set({a: 1})")
            await extension.evaluate("browser.storage.local.set({a: 1})")
            await extension.suspend()
            assert await extension.evaluate("browser.storage.session.get()") == {"a": 1}
            await profile.extensions.stop(extension)
            extension = await profile.extensions.start(folder)
            assert await extension.evaluate("browser.storage.session.get()") == {}
            assert await extension.evaluate("browser.storage.local.get()") == {"a": 1}

    asyncio.run(main())


@needs_deno
def test_values_of_tabs_and_windows_go_with_them(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        sessions = extension.browser.sessions
        window = await extension.browser.windows.create({})
        tab = await extension.browser.tabs.create({"windowId": window["id"]})
        await sessions.setTabValue(tab["id"], "k", {"a": 1})
        await sessions.setWindowValue(window["id"], "k", 1)
        copy = await extension.browser.tabs.duplicate(tab["id"])
        assert await sessions.getTabValue(copy["id"], "k") == {"a": 1}
        assert await sessions.getTabValue(copy["id"], "nope") is None
        await extension.browser.tabs.remove(tab["id"])
        await extension.browser.windows.remove(window["id"])

        kinds = (f"session.tab:{tab['id']}", f"session.tab:{copy['id']}", f"session.window:{window['id']}")
        left = await profile.store.read(lambda each: [each.extensions.find(kind) for kind in kinds])
        assert left == [[], [], []]

    run_made(tmp_path, use, permissions=["sessions", "tabs"])
