from __future__ import annotations

import math
from collections import OrderedDict
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.schema.types import Type, ValidationError, compile_type

STRING = {"type": "string"}
DETAILS = compile_type({"type": "object", "properties": {"name": STRING, "color": {**STRING, "optional": True}}})

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def problem_of(schema: dict[str, Any], value: Any) -> str:
    with pytest.raises(ValidationError) as caught:
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
    assert not compile_type({"type": "integer"}).matches(value)


@pytest.mark.parametrize("kind", [dict, OrderedDict, MappingProxyType])
def test_any_mapping_is_an_object(kind: Any) -> None:
    assert DETAILS.matches(kind({"name": "Work"}))
    assert DETAILS.normalise(kind({"name": "Work"})) == {"color": None, "name": "Work"}


def test_another_kind_of_object_is_refused_by_its_type() -> None:
    value = datetime(2026, 11, 15)
    assert DETAILS.matches(value)
    with pytest.raises(ValidationError, match=r"^Expected a plain JavaScript object, got a datetime$"):
        DETAILS.normalise(value)


@given(json_values)
def test_no_value_gets_through_that_is_not_of_its_type(value: Any) -> None:
    try:
        normal = DETAILS.normalise(value)
    except ValidationError:
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
        except ValidationError:
            continue
        assert compiled.matches(value)


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
    assert compile_type({"type": "number"}).matches(value)
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


def test_a_dictionary_takes_any_keys_and_keeps_their_order() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "any"}}
    given = {"b": 1, "a": None, "": [print]}
    assert list(compile_type(schema).normalise(given).items()) == list(given.items())
    assert problem_of(schema, datetime(2020, 1, 1)) == "Expected a plain JavaScript object, got a datetime"
    assert problem_of(schema, []) == "Expected object instead of []"
    numbers = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert problem_of(numbers, {"a": 1, "b": "x"}) == 'Error processing b: Expected integer instead of "x"'


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, print])
def test_any_fits_everything_as_it_is(value: Any) -> None:
    for kind in ("any", "clone", "json"):
        compiled = compile_type({"type": kind})
        assert compiled.matches(value)
        assert compiled.normalise(value) is value


def test_a_pattern_is_looked_for_and_told() -> None:
    schema = {"type": "string", "pattern": "^a/b$"}
    assert compile_type(schema).normalise("a/b") == "a/b"
    assert problem_of(schema, "a-b") == r'String "a-b" must match /^a\/b$/'
    choices = {"choices": [{"choices": [{"type": "boolean"}, schema]}, {"type": "string", "enum": ["x"]}]}
    assert problem_of(choices, "y") == (
        r'Value "y" must either: must either [be a boolean, or match the pattern /^a\/b$/], or be one of ["x"]'
    )


def test_a_text_that_is_too_long_is_refused() -> None:
    schema = {"type": "string", "maxLength": 3}
    assert compile_type(schema).normalise("abc") == "abc"
    assert problem_of(schema, "abcd") == 'String "abcd" is too long (must be 3)'


def test_a_number_beyond_its_range_is_refused() -> None:
    schema = {"type": "integer", "minimum": 0, "maximum": 25}
    assert compile_type(schema).normalise(25) == 25
    assert problem_of(schema, 26) == "Integer 26 is too big (must be at most 25)"
    assert problem_of(schema, -1) == "Integer -1 is too small (must be at least 0)"


def test_null_is_a_type_of_its_own() -> None:
    schema = {"type": "object", "properties": {"title": {"choices": [STRING, {"type": "null"}]}}}
    assert compile_type(schema).normalise({"title": None}) == {"title": None}
    assert problem_of(schema, {}) == 'Property "title" is required'
    assert problem_of(schema, {"title": 5}) == (
        "Error processing title: Value 5 must either: be a string value, or be a null value"
    )


def test_a_property_that_firefox_does_not_support_is_refused_even_if_it_is_null() -> None:
    schema = {"type": "object", "properties": {"b": {**STRING, "optional": True, "unsupported": True}, "c": STRING}}
    assert compile_type(schema).normalise({"c": "x"}) == {"c": "x"}
    for value in (None, "x"):
        assert problem_of(schema, {"b": value, "c": 1}) == 'Property "b" is unsupported by Firefox'


def test_keys_of_a_dictionary_may_have_to_match_a_pattern() -> None:
    schema = {"type": "object", "patternProperties": {r"^[1-9]\d*$": STRING}}
    assert compile_type(schema).normalise({"16": "a.png"}) == {"16": "a.png"}
    assert problem_of(schema, {"16": 3}) == "Error processing 16: Expected string instead of 3"
    assert problem_of(schema, {"x": "a.png"}) == 'Unexpected property "x"'
    assert problem_of(schema, {"x": "", "16": "", "0": ""}) == "Unexpected properties: 0, x"


def test_an_object_of_a_class_is_taken_as_it_is_and_others_are_refused() -> None:
    schema = {"type": "object", "isInstanceOf": "date"}
    assert compile_type(schema).normalise(date(2020, 1, 1)) == date(2020, 1, 1)
    assert problem_of(schema, {}) == "Object must be an instance of date"
    assert problem_of(schema, "x") == 'Expected object instead of "x"'


def test_an_array_may_have_a_greatest_length() -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    assert compile_type(schema).normalise([1, 2]) == [1, 2]
    assert problem_of(schema, [1, 2, 3]) == "Array requires at most 2 items; you have 3"


def test_a_format_is_refused_in_words_of_its_own() -> None:
    schema = {"type": "string", "format": "even", "pattern": "^(..)*$", "refusal": 'Error: Value "{}" is odd.'}
    assert compile_type(schema).normalise("ab") == "ab"
    assert problem_of(schema, "a") == 'Error: Value "a" is odd.'


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
    with pytest.raises(ValidationError) as refused:
        type_.normalise(value)
    assert str(refused.value) == message


def test_what_is_just_large_enough_is_accepted() -> None:
    assert COUNT.normalise(-2) == -2
    assert SOME.normalise([7]) == [7]
    assert IDS.normalise(0) == 0
    assert IDS.normalise([0, 1]) == [0, 1]


def test_items_that_are_wrong_are_left_out_where_the_schema_says_so() -> None:
    schema = {"type": "array", "minItems": 1, "items": {"type": "string", "enum": ["a", "b"], "onError": "warn"}}
    assert compile_type(schema).normalise(["x", "a", 7, None, "b"]) == ["a", "b"]
    assert problem_of(schema, ["x"]) == "Array requires at least 1 items; you have 0"


@pytest.mark.parametrize("text", ["2020-01-01", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00.000+0100"])
def test_dates_as_text(text: str) -> None:
    assert compile_type({"type": "string", "format": "date"}).normalise(text) == text
    for wrong in ("", "x", f"{text}x", text[1:], "2020-01-01T00:00"):
        assert problem_of({"type": "string", "format": "date"}, wrong) == f"Error: Invalid date string {wrong}"


def test_a_date_is_its_time() -> None:
    schema = {"type": "object", "isInstanceOf": "Date"}
    assert compile_type(schema).normalise(datetime(1970, 1, 2, tzinfo=UTC)) == 86_400_000
    assert problem_of(schema, {}) == "Object must be an instance of Date"
    assert problem_of(schema, 5) == "Expected object instead of 5"


def test_a_choice_that_does_not_fit_costs_nothing_where_another_does(monkeypatch: pytest.MonkeyPatch) -> None:
    either = compile_type({"choices": [STRING, {"type": "array", "items": STRING}]})
    monkeypatch.setattr("hatbox.schema.types.stringify", lambda _: pytest.fail("the whole value was written out"))
    assert either.normalise(["a"] * 10) == ["a"] * 10
