from __future__ import annotations

import math
from collections import OrderedDict
from datetime import datetime
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.schema.types import Mismatch, Type, compile_type

STRING = {"type": "string"}
DETAILS = compile_type({"type": "object", "properties": {"name": STRING, "color": {**STRING, "optional": True}}})

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def problem_of(schema: dict[str, Any], value: Any) -> str:
    with pytest.raises(Mismatch) as caught:
        compile_type(schema).normalise(value)
    return str(caught.value)


def test_a_value_of_another_kind_is_named_in_the_message() -> None:
    assert problem_of(STRING, 1) == "Expected string instead of 1"
    assert problem_of({"type": "array", "items": STRING}, "a") == 'Expected array instead of "a"'
    assert problem_of({"type": "integer"}, 1.5) == "Expected integer instead of 1.5"
    assert problem_of({"type": "function"}, {}) == "Expected function instead of {}"


def test_the_place_of_a_wrong_value_is_told() -> None:
    inner = {"type": "object", "properties": {"ids": {"type": "array", "items": STRING}}}
    outer = {"type": "object", "properties": {"inner": inner}}
    assert problem_of(outer, {"inner": {"ids": ["a", 1]}}) == (
        "Error processing inner.ids.1: Expected string instead of 1"
    )


@pytest.mark.parametrize("value", [1, 1.0, -0.0, 2**53 - 1])
def test_a_number_without_a_fraction_is_an_integer(value: float) -> None:
    normal = compile_type({"type": "integer"}).normalise(value)
    assert normal == value
    assert type(normal) is int


@pytest.mark.parametrize("value", [True, 1.5, math.nan, math.inf, "1", None])
def test_anything_else_is_not(value: Any) -> None:
    assert not compile_type({"type": "integer"}).fits(value)


@pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType])
def test_any_mapping_is_an_object(kind: Any) -> None:
    assert DETAILS.fits(kind({"name": "Work"}))
    assert DETAILS.normalise(kind({"name": "Work"})) == {"color": None, "name": "Work"}


def test_another_kind_of_object_is_refused_by_its_type() -> None:
    value = datetime(2026, 11, 15)
    assert DETAILS.fits(value)
    with pytest.raises(Mismatch, match=r"^Expected a plain JavaScript object, got a datetime$"):
        DETAILS.normalise(value)


@given(json_values)
def test_no_value_gets_through_that_is_not_of_its_type(value: Any) -> None:
    try:
        normal = DETAILS.normalise(value)
    except Mismatch:
        good = isinstance(value, dict) and isinstance(value.get("name"), str) and set(value) <= {"name", "color"}
        assert not (good and isinstance(value.get("color"), str | None))
    else:
        assert isinstance(normal["name"], str)
        assert normal["color"] is None or isinstance(normal["color"], str)
        assert set(normal) == {"name", "color"}


@given(json_values)
def test_the_kind_of_a_value_that_normalises_always_fits(value: Any) -> None:
    for schema in (STRING, {"type": "integer"}, {"type": "array", "items": STRING}):
        compiled = compile_type(schema)
        try:
            compiled.normalise(value)
        except Mismatch:
            continue
        assert compiled.fits(value)


def test_of_several_choices_all_are_told() -> None:
    choices = {"choices": [STRING, {"type": "array", "items": STRING}]}
    assert problem_of(choices, 1) == "Value 1 must either: be a string value, or be an array value"
    assert problem_of(choices, [1]) == "Value must either: be a string value, or .0 must be a string value"
    assert problem_of(choices, None) == "Value must either: be a string value, or be an array value"


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_true_or_false(value: bool) -> None:
    assert compile_type({"type": "boolean"}).normalise(value) is value


@pytest.mark.parametrize(("value", "shown"), [(1, "1"), (0, "0"), ("true", '"true"'), (None, "null"), ([], "[]")])
def test_nothing_else_is_a_boolean(value: Any, shown: str) -> None:
    assert problem_of({"type": "boolean"}, value) == f"Expected boolean instead of {shown}"


@pytest.mark.parametrize("value", [0, -1, 1.5, 2**70, 1e300])
def test_a_number_is_any_that_is_finite(value: float) -> None:
    assert compile_type({"type": "number"}).normalise(value) == value


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_refused_in_words_of_its_own(value: float) -> None:
    assert compile_type({"type": "number"}).fits(value)
    assert problem_of({"type": "number"}, value) == "NaN and infinity are not valid"


@pytest.mark.parametrize(("value", "shown"), [(True, "true"), ("1", '"1"'), (None, "null"), ({}, "{}")])
def test_nothing_else_is_a_number(value: Any, shown: str) -> None:
    assert problem_of({"type": "number"}, value) == f"Expected number instead of {shown}"


def test_an_enumeration_takes_its_values_and_no_others() -> None:
    schema = {"type": "string", "enum": ["lax", "strict"]}
    assert compile_type(schema).normalise("lax") == "lax"
    assert problem_of(schema, "Lax") == 'Invalid enumeration value "Lax"'
    assert problem_of(schema, 1) == "Expected string instead of 1"
    choices = {"choices": [schema, {"type": "boolean"}, {"type": "number"}]}
    assert problem_of(choices, "x") == (
        'Value "x" must either: be one of ["lax", "strict"], be a boolean, or be a number value'
    )


def test_a_default_stands_for_what_is_left_out_or_null() -> None:
    details = compile_type({"type": "object", "properties": {"a": {**STRING, "optional": True, "default": "x"}}})
    assert details.normalise({}) == details.normalise({"a": None}) == {"a": "x"}
    assert details.normalise({"a": ""}) == {"a": ""}


@pytest.mark.parametrize(("value", "shown"), [(1, "1"), ("x", '"x"'), ([], "[]"), (True, "true"), (print, "undefined")])
def test_a_property_that_is_no_object_is_told_as_one_of_another_kind(value: Any, shown: str) -> None:
    outer = {"type": "object", "properties": {"key": {"type": "object", "properties": {}, "optional": True}}}
    assert problem_of(outer, {"key": value}) == f"Error processing key: Expected object instead of {shown}"


COUNT = compile_type({"type": "integer", "minimum": -2})
SOME = compile_type({"type": "array", "items": {"type": "integer"}, "minItems": 1})
IDS = compile_type(
    {
        "choices": [
            {"type": "integer", "minimum": 0},
            {"type": "array", "items": {"type": "integer", "minimum": 0}},
        ]
    }
)


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        (COUNT, -3, "Integer -3 is too small (must be at least -2)"),
        (COUNT, -3.0, "Integer -3 is too small (must be at least -2)"),
        (COUNT, 2**53, "Integer is out of range"),
        (SOME, [], "Array requires at least 1 items; you have 0"),
        (IDS, -1, "Value -1 must either: be at least 0, or be an array value"),
        (IDS, [-1], "Value must either: be an integer value, or .0 must be at least 0"),
        (IDS, [1.5], "Value must either: be an integer value, or .0 must be an integer value"),
    ],
)
def test_what_is_too_small_or_too_few_is_refused_in_firefoxs_words(type_: Type, value: Any, message: str) -> None:
    with pytest.raises(Mismatch) as refused:
        type_.normalise(value)
    assert str(refused.value) == message


def test_what_is_just_large_enough_is_accepted() -> None:
    assert COUNT.normalise(-2) == -2
    assert SOME.normalise([7]) == [7]
    assert IDS.normalise(0) == 0
    assert IDS.normalise([0, 1]) == [0, 1]
