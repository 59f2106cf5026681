"""Scripts in a real child, against the real dispatcher."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from hatbox.extensions.runtime import DenoProcess, ExtensionTerminated, RuntimeLimits, ScriptError, describe
from tests.extensions.runtime.lab import BASE, CAMEL, Lab, in_lab, needs_deno

pytestmark = needs_deno


def test_a_script_creates_reads_changes_and_removes_an_identity(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        names = await runtime.evaluate("""
            const api = browser.contextualIdentities;
            const made = await api.create({name: "Sport", color: "red", icon: "circle"});
            await api.update(made.cookieStoreId, {name: "Games"});
            const got = await api.get(made.cookieStoreId);
            const removed = await api.remove(made.cookieStoreId);
            const nothing = await api.hide("firefox-container-1");
            return [made.name, got.name, removed.name, (await api.query({})).length, nothing === undefined];
        """)
        assert names == ["Sport", "Games", "Games", 4, True]

    in_lab(tmp_path, use)


def test_an_error_of_the_api_is_an_error_of_the_script_with_its_own_line(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(
            "var caught;\n\nasync function fail() {\n"
            "  await browser.contextualIdentities.get('firefox-container-999');\n}\n"
            "fail().catch(error => { caught = error; });"
        )
        kind, message, stack = await runtime.evaluate(
            "while (!caught) await new Promise(done => setTimeout(done, 1));"
            "return [caught.constructor === Error && caught instanceof Error, caught.message, caught.stack]"
        )
        assert kind is True
        assert message == "Invalid contextual identity: firefox-container-999"
        assert f"{BASE}0.js:4:" in stack
        assert "file:" not in stack  # nothing of where Hatbox is installed
        assert "ext:" not in stack

    in_lab(tmp_path, use)


def test_wrong_arguments_are_thrown_by_the_call_itself(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        message, stack = await runtime.evaluate("""
            try { browser.contextualIdentities.create({name: 1, color: "red", icon: "circle"}); }
            catch (error) { return [error.message, error.stack]; }
        """)
        assert message == (
            "Type error for parameter details (Error processing name: Expected string instead of 1)"
            " for contextualIdentities.create."
        )
        assert f"{BASE}evaluated:2:" in stack

    in_lab(tmp_path, use)


def test_events_reach_the_script_before_the_call_that_caused_them_resolves(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start("""
            const seen = [];
            const listener = ({contextualIdentity}) => seen.push(contextualIdentity.name);
            const {onCreated} = browser.contextualIdentities;
            onCreated.addListener(listener);
            onCreated.addListener(listener);
            const create = name => browser.contextualIdentities.create({name, color: "red", icon: "circle"});
        """)
        await runtime.evaluate("create('A').then(() => seen.push('resolved'))")
        assert await runtime.evaluate("seen") == ["A", "resolved"]
        # Added after the call, so it is not called, as in Firefox.
        await runtime.evaluate("const made = create('B'); onCreated.addListener(() => seen.push('late')); return made")
        assert await runtime.evaluate("seen") == ["A", "resolved", "B"]
        assert await runtime.evaluate("onCreated.hasListener(listener)") is True
        await runtime.evaluate("onCreated.removeListener(listener); return create('C')")
        assert await runtime.evaluate("seen.slice(3)") == ["late"]
        other = lab.profile.browser([CAMEL])
        await other.contextualIdentities.create({"name": "D", "color": "red", "icon": "circle"})
        assert await runtime.evaluate("seen.slice(4)") == ["late"]

    in_lab(tmp_path, use)


def test_what_a_listener_throws_is_told_with_its_line_and_the_next_one_is_called(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(
            "const {onCreated} = browser.contextualIdentities; let called = 0;\n"
            "onCreated.addListener(() => {\n  throw new RangeError('on purpose');\n});\n"
            "onCreated.addListener(() => { called++; });"
        )
        await runtime.evaluate("browser.contextualIdentities.create({name: 'A', color: 'red', icon: 'circle'})")
        entry = await lab.host.said("on purpose")
        assert (entry.kind, entry.text, entry.file, entry.line) == (
            "listener",
            "RangeError: on purpose",
            f"{BASE}0.js",
            3,
        )
        assert await runtime.evaluate("called") == 1

    in_lab(tmp_path, use)


def test_what_nobody_catches_is_logged_with_file_and_line(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        await lab.start(
            "\nsetTimeout(() => { throw new Error('in a timer'); }, 0);\nPromise.reject(new TypeError('lost'));",
            "undefined.property;",
            "console.log('the next script runs all the same');",
        )
        entries = [await lab.host.said(text) for text in ("in a timer", "lost", "reading 'property'")]
        assert [(entry.kind, entry.file.removeprefix(BASE), entry.line) for entry in entries] == [
            ("error", "0.js", 2),
            ("rejection", "0.js", 3),
            ("error", "1.js", 1),
        ]
        assert lab.host.lines == ["the next script runs all the same"]

    in_lab(tmp_path, use)


def test_the_console_goes_to_the_log(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(
            "console.log('a', {b: [1, undefined]}, 2n);\nconsole.error('%s is %d%%', 'it', 7.5, null);"
        )
        first, second = lab.host.entries
        assert (first.level, first.text, first.file, first.line) == (
            "log",
            "a { b: [ 1, undefined ] } 2n",
            f"{BASE}0.js",
            1,
        )
        assert (second.level, second.text, second.line) == ("error", "it is 7% null", 2)
        await runtime.evaluate(
            "console.group('G'); console.warn('in'); console.groupEnd(); console.assert(0, 'no'); console.count()"
        )
        assert lab.host.lines[2:] == ["G", "  in", "Assertion failed: no", "default: 1"]

    in_lab(tmp_path, use)


def test_scripts_share_a_scope_and_a_page(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(
            "const shared = 1; let other = 2; function both() { return shared + other; }", "var sum = both();"
        )
        assert await runtime.evaluate("[sum, window === globalThis, self === window, window.sum, this === window]") == [
            3, True, True, 3, True,
        ]  # fmt: skip
        assert await runtime.evaluate("[location.href, location.origin, String(location), origin]") == [
            f"{BASE}_generated_background_page.html", BASE[:-1], f"{BASE}_generated_background_page.html", BASE[:-1],
        ]  # fmt: skip
        assert "Firefox/" in await runtime.evaluate("navigator.userAgent")
        assert await runtime.evaluate("[typeof setTimeout(() => {}, 0), typeof setInterval, browser.runtime.id]") == [
            "number", "function", "lab@example.org",
        ]  # fmt: skip
        assert await runtime.evaluate("browser.runtime.getURL('a/b.html')") == f"{BASE}a/b.html"
        assert await runtime.evaluate("browser.runtime.getManifest()") == {"name": "Lab", "version": "1"}
        assert await runtime.evaluate("const id = setTimeout(() => { sum = 0 }, 5); clearTimeout(id);"
                                      "await new Promise(done => setTimeout(done, 20)); return sum") == 3  # fmt: skip

    in_lab(tmp_path, use)


def test_what_is_of_deno_is_out_of_reach(tmp_path: Path) -> None:
    gone = "Deno process Buffer global require Worker localStorage sessionStorage Storage caches alert"
    gone += " prompt confirm close WebSocketStream EventSource SharedArrayBuffer setImmediate GPU nodeBootstrap"

    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        assert await runtime.evaluate(f"'{gone}'.split(' ').filter(name => name in globalThis)") == []
        assert (
            await runtime.evaluate(
                "Object.getOwnPropertyNames(globalThis).filter(name => /^GPU|deno|hatbox/i.test(name))"
            )
            == []
        )
        for source in ("eval('1')", "Function('return 1')()", "(async () => {}).constructor('return 1')()"):
            with pytest.raises(ScriptError, match="EvalError"):
                await runtime.evaluate(source)

    in_lab(tmp_path, use)


def test_a_script_can_extend_and_replace_its_namespaces_as_in_firefox(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=["contextualIdentities"])
        assert await runtime.evaluate("Object.keys(browser.contextualIdentities.onCreated)") == [
            "addListener",
            "removeListener",
            "hasListener",
        ]
        assert await runtime.evaluate("""{
            const {contextualIdentities} = browser;
            const {get, onCreated} = contextualIdentities;
            browser.mine = 1;
            contextualIdentities.mine = 2;
            onCreated.mine = 3;
            contextualIdentities.get = () => 4;
            const seen = [browser.mine, contextualIdentities.mine, onCreated.mine, contextualIdentities.get()];
            seen.push(delete contextualIdentities.get, typeof contextualIdentities.get);
            contextualIdentities.get = get;
            browser.tabs = 5;
            return [...seen, browser.tabs, browser === chrome];
        }""") == [1, 2, 3, 4, True, "undefined", 5, True]
        runtime.update_namespaces(describe(lab.host.caller))  # what has not changed is left as the script made it
        assert await runtime.evaluate("[browser.mine, browser.contextualIdentities.mine, browser.tabs]") == [1, 2, 5]

    in_lab(tmp_path, use)


def test_functions_work_without_their_namespace(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        with pytest.raises(ScriptError, match="not a constructor"):
            await runtime.evaluate("new browser.contextualIdentities.get('x')")
        detached = "const {get} = browser.contextualIdentities; (await get('firefox-container-1')).name"
        assert await runtime.evaluate(f"{{ {detached.replace('(await', 'return (await')} }}") == "Personal"

    in_lab(tmp_path, use)


def test_functions_look_as_in_firefox(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=["contextualIdentities"])
        for name in (
            "contextualIdentities.get",
            "contextualIdentities.getSupportedColors",
            "tabs.create",
            "tabs.connect",
        ):
            assert await runtime.evaluate(f"[browser.{name}.name, browser.{name}.length]") == ["", 1]

    in_lab(tmp_path, use)


def test_callbacks_get_the_result_or_the_last_error(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=[CAMEL, "cookies"])
        assert await runtime.evaluate("""
            const {cookies: {set}, contextualIdentities: {getSupportedColors}} = chrome;
            const returned = [];
            const colors = await new Promise(done => { returned.push(getSupportedColors(done)); });
            const error = await new Promise(done => set({url: "https://a.example/"}, (...args) => {
                done([args.length, chrome.runtime.lastError.message, chrome.runtime.lastError instanceof Error]);
            }));
            return [returned, colors.length > 5, error[0], typeof error[1], error[2], chrome.runtime.lastError];
        """) == [[None], True, 0, "string", True, None]  # fmt: skip
        assert not lab.host.entries
        await runtime.evaluate("chrome.cookies.set({url: 'https://a.example/'}, () => {})")
        unchecked = await lab.host.said("Unchecked lastError value")
        assert unchecked.file == f"{BASE}evaluated"
        # In Firefox's words: the error as text, so with its name.
        assert re.search(r"Unchecked lastError value: Error: \w", unchecked.text)

    in_lab(tmp_path, use)


def test_namespaces_come_and_go_with_permissions_while_it_runs(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(
            "const kept = browser.contextualIdentities; const seen = [];kept.onCreated.addListener(() => seen.push(1));"
        )
        caller = lab.host.caller
        caller.permissions.add("cookies")
        runtime.update_namespaces(describe(caller))
        assert await runtime.evaluate("['cookies' in browser, browser.cookies.SameSiteStatus.LAX]") == [True, "lax"]
        assert await runtime.evaluate("browser.contextualIdentities === kept") is True
        caller.permissions.clear()
        runtime.update_namespaces(describe(caller))
        assert await runtime.evaluate("[Object.keys(browser).sort(), browser.contextualIdentities === undefined]") == [
            ["runtime", "tabs", "windows"],
            True,
        ]
        # What a script kept is of no use: the dispatcher refuses, and events do not come.
        with pytest.raises(ScriptError, match="Permission denied"):
            await runtime.evaluate("kept.query({})")
        await lab.profile.identities.create("New", color="red", icon="circle")
        assert await runtime.evaluate("seen.length") == 0
        caller.permissions.add(CAMEL)
        runtime.update_namespaces(describe(caller))
        assert await runtime.evaluate("browser.contextualIdentities.onCreated === kept.onCreated") is True

    in_lab(tmp_path, use)


def test_the_surfaces_are_those_of_the_permissions(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(permissions=["contextualidentities"])
        assert await runtime.evaluate("Object.keys(browser.contextualidentities).sort()") == [
            "create",
            "get",
            "query",
            "remove",
            "update",
        ]
        got = "await browser.contextualIdentities.get('firefox-container-1')"
        assert await runtime.evaluate(f"Object.keys({got}).sort()") == ["color", "cookieStoreId", "icon", "name"]

    in_lab(tmp_path, use)


def test_the_host_can_wait_for_what_listeners_return(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start("""
            const {onCreated} = browser.contextualIdentities;
            onCreated.addListener(value => ({...value, seen: true}));
            onCreated.addListener(async value => { await null; return [value, undefined, new Date(5), NaN]; });
            onCreated.addListener(() => { throw new Error("not me"); });
            onCreated.addListener(() => new Promise(() => {}));
        """)
        path = f"{CAMEL}.onCreated"
        for seconds in (0.3, 3, 30):  # one listener never answers; on a busy machine the others answer late
            answers = await runtime.listeners.dispatch(path, [{"a": 1}], timeout=seconds) or []
            if len(answers) == 2:
                break
        first, second = answers
        assert first == {"a": 1, "seen": True}
        assert second[0] == {"a": 1}
        assert type(second[2]).__name__ == "Date"
        assert second[3] != second[3]
        assert await runtime.listeners.dispatch(path, [{}], wait=False) == []
        assert await runtime.listeners.dispatch("tabs.onCreated", [{}]) is None

    in_lab(tmp_path, use)


def test_values_that_json_has_no_word_for_go_to_the_host_and_come_back(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start("""
            const value = {
                u: undefined, n: [NaN, -Infinity, -0, 3n], d: new Date(7), m: new Map([[1, new Set(["x"])]]),
                "\\0k": 1, r: /a+/gi, b: new Uint8Array([1, 2, 255]), e: new RangeError("no"),
            };
            const back = [];
            browser.contextualIdentities.onCreated.addListener((...args) => { back.push(...args); return value; });
        """)
        path = f"{CAMEL}.onCreated"
        (value,) = await runtime.listeners.dispatch(path, [None]) or []
        await runtime.listeners.dispatch(path, [value])
        assert await runtime.evaluate("""(() => {
            const {u, n, d, m, r, b, e, ...rest} = back[1];
            const numbers = n.map(each => Object.is(each, -0) ? "-0" : String(each));
            return ["u" in back[1] && u === undefined, ...numbers, d.getTime(), [...m.get(1)], rest, String(r)];
        })()""") == [True, "NaN", "-Infinity", "-0", "3", 7, ["x"], {"\0k": 1}, "/a+/gi"]
        assert await runtime.evaluate("""(() => {
            const {b, e} = back[1];
            return [[...b], b instanceof Uint8Array, e instanceof RangeError, e.message];
        })()""") == [[1, 2, 255], True, True, "no"]

    in_lab(tmp_path, use)


EVALUATED: list[tuple[str, Any]] = [
    ("1 + 1", 2),
    ("undefined", None),
    ("() => 1", None),
    ("({a: [new Date(0), NaN]})", {"a": ["1970-01-01T00:00:00.000Z", None]}),
    ("Promise.resolve(3)", 3),
    ("await Promise.resolve(4)", 4),
    ("const a = await 5; return a", 5),
    ("'\\ud800'", "\ud800"),
    ("for (var i = 0; i < 3; i++); i", 3),
]


def test_code_can_be_evaluated_in_the_scope_of_the_extension(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        for source, result in EVALUATED:
            assert await runtime.evaluate(source) == result, source

    in_lab(tmp_path, use)


def test_what_evaluated_code_throws_is_raised(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start("let runs = 0;")
        with pytest.raises(ScriptError) as caught:
            await runtime.evaluate("1;\nnull.x")
        assert (caught.value.name, caught.value.line) == ("TypeError", 2)
        with pytest.raises(ScriptError, match="SyntaxError"):
            await runtime.evaluate("runs++; JSON.parse('{')")
        assert await runtime.evaluate("runs") == 1
        with pytest.raises(ScriptError, match="SyntaxError"):
            await runtime.evaluate("if (")
        with pytest.raises(ScriptError, match="text"):
            await runtime.evaluate("throw 'text'")
        assert await runtime.evaluate("new Map([[1, {a: 2}]])", inspect=True) == "Map(1) { 1 => { a: 2 } }"

    in_lab(tmp_path, use)


def test_a_process_that_is_not_ready_in_time_has_ended_with_the_error(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        child = await DenoProcess.start(RuntimeLimits())
        with pytest.raises(ExtensionTerminated, match="not ready after 0 s"):
            await lab.start(limits=RuntimeLimits(start_timeout=0), child=child)
        assert child.exited.done()  # else a program that ends now leaves its sockets open

    in_lab(tmp_path, use)


def test_an_extension_that_has_ended_says_so(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        waiting = asyncio.ensure_future(runtime.evaluate("new Promise(() => {})"))
        await runtime.evaluate("1")
        assert (await runtime.stop()).reason == "stopped"
        with pytest.raises(ExtensionTerminated, match="stopped"):
            await waiting
        with pytest.raises(ExtensionTerminated):
            await runtime.evaluate("1")

    in_lab(tmp_path, use)


def test_scripts_of_the_host_run_before_those_of_the_extension(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(
            "var seen = document.title;", polyfills=[("document.js", "globalThis.document = {title: 'T'};")]
        )
        assert await runtime.evaluate("seen") == "T"

    in_lab(tmp_path, use)


def test_what_an_answer_sets_going_is_done_before_the_next_event_also_where_both_come_with_one_read(
    tmp_path: Path,
) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(
            "const seen = []; browser.contextualIdentities.onCreated.addListener(() => { seen.push('event'); });"
        )
        busy = asyncio.create_task(runtime.evaluate("for (const end = Date.now() + 200; Date.now() < end;);"))
        after = asyncio.create_task(
            runtime.evaluate("Promise.resolve().then(() => {}).then(() => seen.push('answer'))")
        )
        await asyncio.sleep(0)  # both are on their way
        await runtime.listeners.dispatch("contextualIdentities.onCreated", [{}], wait=False)
        await asyncio.gather(busy, after)
        assert await runtime.evaluate("seen") == ["answer", "event"]

    in_lab(tmp_path, use)


def test_listeners_hear_in_their_order_also_where_nobody_waits_for_the_first(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start(
            "const seen = [], {onCreated} = browser.contextualIdentities;"
            "for (const name of ['one', 'two']) onCreated.addListener(() => { seen.push(name); });"
        )
        one, two = runtime.listeners._listeners.values()
        first, second = one.call({}), two.call({})
        await second
        await first
        assert await runtime.evaluate("seen") == ["one", "two"]

    in_lab(tmp_path, use)


def test_text_given_to_a_timer_is_code_and_so_is_not_run(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        source = "globalThis.ran = 0; typeof setTimeout('ran = 1')"
        runtime = await lab.start()
        assert await runtime.evaluate(source) == "number"
        assert (await lab.host.said("EvalError")).kind == "error"
        assert await runtime.evaluate("ran") == 0
        runtime = await lab.start(unsafe_eval=True)
        await runtime.evaluate(source)
        assert await runtime.evaluate("await new Promise(resolve => { setTimeout(resolve, 2); }); return ran") == 1

    in_lab(tmp_path, use)


def test_proto_is_there_as_on_the_web(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        assert await runtime.evaluate("""
          class A { get made() { return this.__proto__ === A.prototype; } }
          const one = {};
          one.__proto__ = A.prototype;
          one.__proto__ = 5;
          const bare = Object.create(null);
          bare.__proto__ = 5;
          let thrown;
          try { Object.preventExtensions({}).__proto__ = {}; } catch (error) { thrown = error.name; }
          return [new A().made, one instanceof A, Object.keys(bare), (5).__proto__ === Number.prototype, thrown,
                  Object.keys(one), Object.getOwnPropertyDescriptor(Object.prototype, "__proto__").enumerable];
        """) == [True, True, ["__proto__"], True, "TypeError", [], False]

    in_lab(tmp_path, use)
