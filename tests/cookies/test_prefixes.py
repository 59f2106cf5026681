from __future__ import annotations

from typing import Any

import pytest

from hatbox.cookies.prefixes import satisfies_prefix

KEPT: dict[str, Any] = {"secure": True, "http_only": True, "host_only": True, "path_attribute": "/"}
NEEDS = {
    "__Secure-x": {"secure"},
    "__Host-x": {"secure", "host_only", "path_attribute"},
    "__Http-x": {"secure", "http_only"},
    "__Host-Http-x": {"secure", "http_only", "host_only", "path_attribute"},
}


@pytest.mark.parametrize("name", [*NEEDS, *map(str.upper, NEEDS), *map(str.lower, NEEDS)])
@pytest.mark.parametrize("broken", KEPT)
def test_each_prefix_asks_for_what_it_promises(name: str, broken: str) -> None:
    needs = next(needs for prefix, needs in NEEDS.items() if prefix.lower() == name.lower())
    assert satisfies_prefix(name, "1", **KEPT)
    without = KEPT | {broken: None if broken == "path_attribute" else False}
    assert satisfies_prefix(name, "1", **without) is (broken not in needs)


@pytest.mark.parametrize("path", [None, "/x", "//", ""])
def test_host_asks_for_a_path_attribute_of_the_root(path: str | None) -> None:
    assert not satisfies_prefix("__Host-x", "1", **(KEPT | {"path_attribute": path}))


@pytest.mark.parametrize("value", NEEDS)
def test_a_nameless_value_may_not_look_like_one(value: str) -> None:
    assert not satisfies_prefix("", value, **KEPT)


@pytest.mark.parametrize("name", ["__Secur-x", "_Host-x", "__Host", "__Hosts-x", "x__Host-x", " __Host-x"])
def test_other_names_promise_nothing(name: str) -> None:
    assert satisfies_prefix(name, "", secure=False, http_only=False, host_only=False, path_attribute=None)


def test_a_value_of_a_named_cookie_promises_nothing() -> None:
    assert satisfies_prefix("a", "__Host-x", secure=False, http_only=False, host_only=False, path_attribute=None)
