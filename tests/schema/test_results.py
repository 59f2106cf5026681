from __future__ import annotations

from types import SimpleNamespace

import pytest

from hatbox.schema.results import compile_converter, snake_case

PAIR = {"type": "object", "properties": {"cookieStoreId": {"type": "string"}, "name": {"type": "string"}}}
VALUE = SimpleNamespace(name="Work", cookie_store_id="firefox-container-2", hidden=True)


def test_a_result_has_the_declared_properties_in_the_declared_order() -> None:
    assert list(compile_converter(PAIR)(VALUE).items()) == [("cookieStoreId", "firefox-container-2"), ("name", "Work")]


def test_a_list_is_shaped_item_by_item_and_every_answer_is_a_fresh_one() -> None:
    shape = compile_converter({"type": "array", "items": PAIR})
    first, second = shape([VALUE]), shape([VALUE])
    assert first == second == [{"cookieStoreId": "firefox-container-2", "name": "Work"}]
    assert first[0] is not second[0]


def test_without_a_declared_result_there_is_none() -> None:
    assert compile_converter(None)(VALUE) is None


@pytest.mark.parametrize(
    ("name", "python"),
    [
        ("get", "get"),
        ("cookieStoreId", "cookie_store_id"),
        ("iconUrl", "icon_url"),
        ("getURL", "get_url"),
        ("getUILanguage", "get_ui_language"),
    ],
)
def test_names_are_spelled_as_in_python(name: str, python: str) -> None:
    assert snake_case(name) == python


NESTED = {
    "type": "object",
    "properties": {
        "key": {**PAIR, "optional": True},
        "tabIds": {"type": "array", "items": {"type": "integer"}},
        "expirationDate": {"type": "number", "optional": True},
        "storeId": {"type": "string"},
    },
}


def test_objects_and_lists_inside_are_shaped_too_and_fresh() -> None:
    ids = (1, 2)
    value = SimpleNamespace(key=VALUE, tab_ids=ids, expiration_date=0, store_id="x")
    shaped = compile_converter(NESTED)(value)
    assert shaped == {
        "key": {"cookieStoreId": "firefox-container-2", "name": "Work"},
        "tabIds": [1, 2],
        "expirationDate": 0,
        "storeId": "x",
    }
    assert list(shaped) == ["key", "tabIds", "expirationDate", "storeId"]


def test_an_object_that_is_not_there_is_null_and_a_simple_value_leaves_no_trace() -> None:
    value = SimpleNamespace(key=None, tab_ids=(), expiration_date=None, store_id="x")
    assert list(compile_converter(NESTED)(value).items()) == [("key", None), ("tabIds", []), ("storeId", "x")]


def test_a_result_that_may_be_missing_is_null() -> None:
    assert compile_converter({**PAIR, "optional": True})(None) is None


def test_a_list_that_may_be_omitted_leaves_no_trace() -> None:
    tabs = {"type": "array", "items": {"type": "integer"}, "optional": True, "omitted": True}
    shape = compile_converter({"type": "object", "properties": {"id": {"type": "integer"}, "tabs": tabs}})
    assert shape(SimpleNamespace(id=1, tabs=None)) == {"id": 1}
    assert shape(SimpleNamespace(id=1, tabs=(2,))) == {"id": 1, "tabs": [2]}


def test_a_value_that_is_always_there_is_null_where_it_is_not_known() -> None:
    shape = compile_converter({"type": "object", "properties": {"isArticle": {"type": "any"}}})
    assert shape(SimpleNamespace(is_article=None)) == {"isArticle": None}
