from __future__ import annotations

from types import SimpleNamespace

import pytest

from hatbox.schema.results import compile_shape, snake_case

PAIR = {"type": "object", "properties": {"cookieStoreId": {"type": "string"}, "name": {"type": "string"}}}
VALUE = SimpleNamespace(name="Work", cookie_store_id="firefox-container-2", hidden=True)


def test_a_result_has_the_declared_properties_in_the_declared_order() -> None:
    assert list(compile_shape(PAIR)(VALUE).items()) == [("cookieStoreId", "firefox-container-2"), ("name", "Work")]


def test_a_list_is_shaped_item_by_item_and_every_answer_is_a_fresh_one() -> None:
    shape = compile_shape({"type": "array", "items": PAIR})
    first, second = shape([VALUE]), shape([VALUE])
    assert first == second == [{"cookieStoreId": "firefox-container-2", "name": "Work"}]
    assert first[0] is not second[0]


def test_without_a_declared_result_there_is_none() -> None:
    assert compile_shape(None)(VALUE) is None


@pytest.mark.parametrize(
    ("name", "python"), [("get", "get"), ("cookieStoreId", "cookie_store_id"), ("iconUrl", "icon_url")]
)
def test_names_are_spelled_as_in_python(name: str, python: str) -> None:
    assert snake_case(name) == python
