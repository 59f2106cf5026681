"""The checks in JavaScript say what the checks in Python say, of every argument, in the same words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatbox.api.caller import Caller
from hatbox.errors import ArgumentError
from hatbox.extensions.runtime import Runtime, describe
from hatbox.schema import load
from hatbox.schema.calls import compile_call
from tests.extensions.runtime.lab import Lab, in_lab, needs_deno, opened
from tests.marks import starts

pytestmark = needs_deno


class Js:
    """A value as the text of JavaScript that makes it, and as Python has it."""

    def __init__(self, source: str, value: Any) -> None:
        self.source = source
        self.value = value

    def __repr__(self) -> str:
        return self.source


class Date:
    pass


class Map:
    pass


class String:
    pass


class Proxy:
    pass


SPECIAL = st.sampled_from([
    Js("NaN", float("nan")), Js("Infinity", float("inf")), Js("-0", -0.0), Js("1e300", 1e300), Js("2**53", 2**53),
    Js("1.0", 1.0), Js("() => {}", lambda: None), Js("class {}", lambda: None), Js("new Date(0)", Date()),
    Js("new Map()", Map()), Js("new String('a')", String()), Js("new Proxy({}, {})", Proxy()),
    Js("Object.create(null)", {}), Js("new (class A {})()", {}), Js("Object.freeze({name: 'f'})", {"name": "f"}),
    Js("({[Symbol('s')]: 1})", {}), Js("({get name() { throw 1; }})", {}), Js("Object.create({name: 'n'})", {}),
])  # fmt: skip

NAMES = st.sampled_from(["name", "color", "icon", "url", "storeId", "ids", "deep", "x", "é", "\U0001f600"])
PLAIN = st.one_of(
    st.none(), st.booleans(), st.integers(-10, 10), st.floats(-5, 5), st.sampled_from(["", "a", "lax", "é\u2028"])
)


def javascript(value: Any) -> str:
    if isinstance(value, Js):
        return value.source
    if isinstance(value, list):
        return f"[{','.join(map(javascript, value))}]"
    if isinstance(value, dict):
        return f"({{{','.join(f'{json.dumps(key)}:{javascript(item)}' for key, item in value.items())}}})"
    return json.dumps(value)


def python(value: Any) -> Any:
    if isinstance(value, Js):
        return value.value
    if isinstance(value, list):
        return [python(item) for item in value]
    if isinstance(value, dict):
        return {key: python(item) for key, item in value.items()}
    return value


values = st.recursive(
    PLAIN | SPECIAL,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=6,
)

SIMPLE = st.one_of(
    st.sampled_from([{"type": kind} for kind in ("string", "boolean", "number", "integer", "function")]),
    st.just({"type": "string", "enum": ["lax", "strict"]}),
)
TYPES = st.recursive(
    SIMPLE,
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(lambda choices: {"choices": choices}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(
            lambda members: {
                "type": "object",
                "properties": {name: {**schema, "optional": optional} for name, (schema, optional) in members.items()},
            },
            st.dictionaries(NAMES, st.tuples(inner, st.booleans()), max_size=3),
        ),
    ),
    max_leaves=5,
)
PARAMETERS = st.lists(st.tuples(TYPES, st.booleans()), max_size=3).map(
    lambda each: [
        {**schema, "name": f"p{index}", "optional": optional} for index, (schema, optional) in enumerate(each)
    ]
)


def outcome(parameters: list[dict[str, Any]], arguments: list[Any]) -> Any:
    try:
        return compile_call("test.call", parameters)(arguments)
    except ArgumentError as error:
        return str(error)


class Checker:
    """One child for all examples: shows it a function with some parameters, calls it, and tells what came of it."""

    def __init__(self, runner: asyncio.Runner, lab: Lab, runtime: Runtime) -> None:
        self._runner = runner
        self._runtime = runtime
        self._arrived: list[list[Any]] = []
        lab.host.call = self._call  # type: ignore[method-assign,assignment]

    def _call(self, _: str, __: str, arguments: list[Any]) -> None:
        self._arrived.append(arguments)

    def call(self, parameters: list[dict[str, Any]], source: str) -> Any:
        """What was thrown, or the arguments that arrived."""
        function = {"async": True, "callback": False, "returns": True, "parameters": parameters, "shown": "test.call"}
        self._runtime.update_namespaces({"test": {"functions": {"call": function}, "events": {}, "constants": {}}})
        call = f"try {{ await browser.test.call({source}); return null; }} catch (e) {{ return e.message; }}"
        thrown = self._runner.run(self._runtime.evaluate(call))
        return self._arrived.pop() if thrown is None else thrown


@pytest.fixture(scope="module")
@starts("deno")
def checker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checker]:
    with asyncio.Runner() as runner:
        context = opened(tmp_path_factory.mktemp("lab"))
        lab = runner.run(context.__aenter__())
        yield Checker(runner, lab, runner.run(lab.start(permissions=[])))
        runner.run(context.__aexit__(None, None, None))


@settings(max_examples=400, deadline=None)
@given(parameters=PARAMETERS, arguments=st.lists(values, max_size=3))
def test_both_sides_say_the_same(checker: Checker, parameters: list[dict[str, Any]], arguments: list[Any]) -> None:
    expected = outcome(parameters, python(arguments))
    said = checker.call(parameters, ",".join(map(javascript, arguments)))
    if isinstance(said, str):
        assert said == expected
    else:  # what Python makes of what was sent is what it would have made of the arguments themselves
        assert _comparable(outcome(parameters, said)) == _comparable(expected)


def _comparable(value: Any) -> Any:
    if isinstance(value, list):
        return [_comparable(item) for item in value]
    if isinstance(value, dict):
        return {key: _comparable(item) for key, item in value.items()}
    return "function" if callable(value) else value


ONLY_IN_JAVASCRIPT = [
    ("get()", "Incorrect argument types for contextualIdentities.get."),
    ("get('a', undefined)", "Incorrect argument types for contextualIdentities.get."),
    ("get(Symbol())", "Incorrect argument types for contextualIdentities.get."),
    ("get(1n)", "Incorrect argument types for contextualIdentities.get."),
    ("get(new String('a'))", "Incorrect argument types for contextualIdentities.get."),
    ("get('a', () => {})", "Incorrect argument types for contextualIdentities.get."),
    ("query(undefined)", "Incorrect argument types for contextualIdentities.query."),
    (
        "create({name: undefined, color: 'red', icon: 'circle'})",
        "Type error for parameter details (Error processing name: Expected string instead of undefined)"
        " for contextualIdentities.create.",
    ),
    (
        "create({get name() { return 'a' }, color: 'red', icon: 'circle'})",
        'Type error for parameter details (Property "name" is required) for contextualIdentities.create.',
    ),
    (
        "query({foo: undefined, bar: 1})",
        "Type error for parameter details (Unexpected properties: bar, foo) for contextualIdentities.query.",
    ),
    (
        "query(new URL('https://a.example/'))",
        "Type error for parameter details (Expected a plain JavaScript object, got a URL)"
        " for contextualIdentities.query.",
    ),
    (
        "query(new Uint8Array(2))",
        "Type error for parameter details (Expected a plain JavaScript object, got a Uint8Array)"
        " for contextualIdentities.query.",
    ),
    ("getSupportedColors(1)", "Incorrect argument types for contextualIdentities.getSupportedColors."),
    ("onCreated.addListener({})", "Invalid listener for contextualIdentities.onCreated."),
    ("onCreated.addListener(() => {}, undefined)", "Incorrect argument types for contextualIdentities.onCreated."),
    ("onCreated.hasListener()", "Invalid listener for contextualIdentities.onCreated."),
    ("query({name: undefined})", None),
    ("query({name: null})", None),
    ("getSupportedColors(undefined)", None),
]


def test_what_only_javascript_can_pass_is_answered_as_firefox_answers_it(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        runtime = await lab.start()
        for call, message in ONLY_IN_JAVASCRIPT:
            source = f"browser.contextualIdentities.{call}; return null;"
            said = await runtime.evaluate(f"try {{ {source} }} catch (error) {{ return error.message; }}")
            assert said == message, call

    in_lab(tmp_path, use)


def test_a_schema_with_words_unknown_to_javascript_is_checked_by_python(tmp_path: Path) -> None:
    async def use(lab: Lab) -> None:
        seen: list[Any] = []
        runtime = await lab.start(permissions=[])
        lab.host.call = lambda _, __, arguments: seen.append(arguments)  # type: ignore[method-assign,assignment]
        parameters = [
            {"name": "a", "type": "string", "wordOfTomorrow": "^x"},
            {"name": "callback", "type": "function", "optional": True},
        ]
        function = {"async": True, "callback": True, "returns": False, "parameters": parameters}
        runtime.update_namespaces({"later": {"functions": {"call": function}, "events": {}, "constants": {}}})
        assert await runtime.evaluate(
            "new Promise(done => browser.later.call(5, {d: new Date(3)}, (...args) => done(args)))"
        ) == [None]
        ((number, details),) = seen
        assert number == 5
        assert (type(details["d"]).__name__, details["d"].clone) == ("Date", 3)

    in_lab(tmp_path, use)


def test_every_schema_there_is_can_be_checked_in_javascript() -> None:
    known = Path(__file__).parents[3].joinpath("src/hatbox/extensions/runtime/js/arguments.js").read_text("utf-8")
    words = set(known[known.index("const KNOWN") : known.index("};")].replace(":", " ").replace(",", " ").split())
    everything = Caller("all", {name for surface in load() for name in surface.permissions})

    def check(schema: dict[str, Any], where: str) -> None:
        assert set(schema) <= words, (
            f"{where}: arguments.js does not know {set(schema) - words}, so Python alone checks it"
        )
        for choice in schema.get("choices", ()):
            check(choice, where)
        for member in schema.get("properties", {}).values():
            check(member, where)
        if "items" in schema:
            check(schema["items"], where)

    for namespace, members in describe(everything).items():
        for name, function in members["functions"].items():
            for parameter in function["parameters"]:
                check(parameter, f"{namespace}.{name}")
