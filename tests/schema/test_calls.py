from __future__ import annotations

from typing import Any

import pytest

from hatbox.errors import ArgumentError
from hatbox.schema.calls import bind, compile_call

OPTIONAL_FIRST = compile_call(
    "tabs.update",
    [{"name": "tabId", "type": "integer", "optional": True}, {"name": "details", "type": "object", "properties": {}}],
)


@pytest.mark.parametrize(
    ("arguments", "normal"), [([5, {}], [5, {}]), ([{}], [None, {}]), ([None, {}], [None, {}]), ([5.0, {}], [5, {}])]
)
def test_an_optional_argument_can_be_left_out_in_front_too(arguments: list[Any], normal: list[Any]) -> None:
    assert OPTIONAL_FIRST(arguments) == normal


@pytest.mark.parametrize("arguments", [[], [5], [{}, 5], ["5", {}], [5, {}, None], [None]])
def test_arguments_that_do_not_fit_are_refused(arguments: list[Any]) -> None:
    with pytest.raises(ArgumentError, match=r"^Incorrect argument types for tabs\.update\.$"):
        OPTIONAL_FIRST(arguments)


def test_a_wrong_property_is_told_with_the_name_of_its_parameter() -> None:
    with pytest.raises(ArgumentError) as caught:
        OPTIONAL_FIRST([{"url": 1}])
    assert str(caught.value) == 'Type error for parameter details (Unexpected property "url") for tabs.update.'


NAMES = ["cookieStoreId", "details"]


def test_arguments_may_be_given_by_name() -> None:
    assert bind("ns.update", NAMES, [], {"details": {}, "cookieStoreId": "a"}) == ["a", {}]
    assert bind("ns.update", NAMES, ["a"], {"details": {}}) == ["a", {}]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [([], {"details": {}}), (["a"], {"cookieStoreId": "a"}), (["a"], {"name": "b"}), (["a", {}], {"details": {}})],
)
def test_a_name_that_is_wrong_or_given_twice_is_refused(arguments: list[Any], named: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match=r"^ns\.update takes these arguments, each once: cookieStoreId, details$"):
        bind("ns.update", NAMES, arguments, named)


def test_an_argument_that_is_left_out_is_its_default_in_normal_form() -> None:
    details = {"type": "object", "properties": {"x": {"type": "integer", "optional": True}}}
    call = compile_call("a.b", [{"name": "details", **details, "optional": True, "default": {}}])
    assert call([]) == [{"x": None}]
    assert call([None]) == [{"x": None}]
    assert call([{"x": 1}]) == [{"x": 1}]
