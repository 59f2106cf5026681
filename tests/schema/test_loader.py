from __future__ import annotations

import contextlib
from typing import Any

import pytest

from hatbox import ArgumentError, schema

SCHEMAS = {namespace.file: namespace for namespace in schema.load()}
A = SCHEMAS["contextual_identities_a.json"]
B = SCHEMAS["contextual_identities_b.json"]
FIREFOX = SCHEMAS["contextual_identities_firefox.json"]


def test_variant_a_is_what_the_specification_says() -> None:
    assert A.namespace == "contextualidentities"
    assert A.permissions == {"contextualidentities"}
    assert {name: function.parameters for name, function in A.functions.items()} == {
        "get": ("cookieStoreId",),
        "query": ("details",),
        "create": ("details",),
        "update": ("cookieStoreId", "details"),
        "remove": ("cookieStoreId",),
    }
    assert A.events == {}


def test_variant_b_is_what_the_specification_says_down_to_the_spelling() -> None:
    assert B.namespace == "contextualIdentities"
    assert B.permissions == {"contextualidentities"}
    assert {name: function.parameters for name, function in B.functions.items()} == {
        "get": ("cookiestoreid",),
        "query": ("details",),
        "create": ("details",),
        "update": ("cookieStoreId", "details"),
        "remove": ("cookieStoreId",),
        "hide": ("cookiestoreid",),
        "show": ("cookiestoreid",),
    }
    assert B.events == {}


def test_the_schema_of_firefox_has_all_that_variant_b_has_and_goes_first() -> None:
    assert FIREFOX.namespace == B.namespace
    assert FIREFOX.permissions == {"contextualIdentities"}
    assert FIREFOX.rank > B.rank
    assert set(B.functions) < set(FIREFOX.functions)
    assert list(FIREFOX.events) == ["onCreated", "onUpdated", "onRemoved"]


def test_schemas_come_highest_rank_first() -> None:
    ranks = [namespace.rank for namespace in schema.load()]
    assert ranks == sorted(ranks, reverse=True)


def test_cookies_has_what_firefox_has() -> None:
    cookies = SCHEMAS["cookies.json"]
    assert cookies.permissions == {"cookies"}
    assert {name: function.parameters for name, function in cookies.functions.items()} == {
        "get": ("details", "callback"),
        "getAll": ("details", "callback"),
        "set": ("details", "callback"),
        "remove": ("details", "callback"),
        "getAllCookieStores": ("callback",),
    }
    assert list(cookies.events) == ["onChanged"]


def test_enumerations_are_told_with_their_values() -> None:
    assert SCHEMAS["cookies.json"].enumerations["SameSiteStatus"] == {
        "UNSPECIFIED": "unspecified",
        "NO_RESTRICTION": "no_restriction",
        "LAX": "lax",
        "STRICT": "strict",
    }
    assert FIREFOX.enumerations == {}


def test_what_stands_beside_a_reference_counts() -> None:
    (normal, _) = SCHEMAS["cookies.json"].functions["set"].normalise([{"url": "x"}, None])
    assert normal["sameSite"] == "unspecified"
    assert normal["partitionKey"] is None


TABS, WINDOWS = SCHEMAS["tabs.json"], SCHEMAS["windows.json"]


def test_tabs_and_windows_are_there_for_everyone_and_honour_a_permission() -> None:
    for namespace in (TABS, WINDOWS):
        assert namespace.permissions == frozenset()
        assert namespace.honours == {"tabs"}


def test_a_function_may_need_a_permission_of_its_own() -> None:
    guarded = {name: function.permissions for name, function in TABS.functions.items() if function.permissions}
    assert guarded == {"captureTab": {"<all_urls>"}, "hide": {"tabHide"}, "show": {"tabHide"}}


def test_a_function_may_need_one_of_several_permissions() -> None:
    capture = TABS.functions["captureVisibleTab"]
    assert not capture.is_permitted({"tabs"})
    assert capture.is_permitted({"tabs", "activeTab"})
    assert capture.is_permitted({"<all_urls>"})


def test_a_setting_has_the_members_of_types_setting() -> None:
    setting = SCHEMAS["privacy_network.json#httpsOnlyMode"]
    assert (setting.namespace, setting.permissions) == ("privacy.network.httpsOnlyMode", frozenset({"privacy"}))
    assert list(setting.functions) == ["get", "set", "clear"]
    assert setting.functions["get"].path == "types.Setting.get"


def test_all_permissions_that_make_a_difference_are_known() -> None:
    web = {"browsingData", "proxy", "webNavigation", "webRequest", "webRequestAuthProvider", "webRequestBlocking"}
    assert schema.permissions() == {
        "contextualIdentities",
        "contextualidentities",
        "cookies",
        "hatbox",
        "tabHide",
        "tabs",
    } | web | {"hatbox", "tabGroups"}


def test_constants_are_data() -> None:
    assert TABS.constants == {"TAB_ID_NONE": -1, "SPLIT_VIEW_ID_NONE": -1}
    assert WINDOWS.constants == {"WINDOW_ID_NONE": -1, "WINDOW_ID_CURRENT": -2}
    assert FIREFOX.constants == {}


def test_an_event_says_what_its_listeners_get_and_what_may_follow_them() -> None:
    assert [len(event.argument_converters) for event in TABS.events.values()] == [1, 3, 2, 1, 1, 2, 2, 2, 2]
    (wishes,) = TABS.events["onUpdated"].normalise([{"tabId": 3}])
    assert wishes["tabId"] == 3
    assert TABS.events["onUpdated"].normalise([]) == [None]
    with pytest.raises(ArgumentError, match=r"^Incorrect argument types for tabs\.onCreated\.$"):
        TABS.events["onCreated"].normalise([{}])


def test_a_type_of_another_namespace_is_found_by_its_full_name() -> None:
    assert (
        TABS.functions["get"].convert_result(ANYTHING) == WINDOWS.functions["get"].convert_result(ANYTHING)["tabs"][0]
    )


class _Anything:
    """Has every attribute, and is a list of one such thing."""

    def __getattr__(self, name: str) -> Any:
        return [self] if name == "tabs" else self


ANYTHING = _Anything()


def test_what_is_hidden_is_for_members_alone() -> None:
    assert [namespace.namespace for namespace in schema.load() if namespace.hidden] == [
        "ports",
        "scriptCalls",
        "testing",
    ]


def test_what_is_for_javascript_alone_is_no_function_of_python() -> None:
    assert "getBackgroundPage" not in SCHEMAS["runtime.json"].functions
    assert "getViews" not in SCHEMAS["extension.json"].functions


def test_an_event_can_need_a_permission_of_its_own() -> None:
    management = SCHEMAS["management.json"]
    assert management.permissions == frozenset()
    assert {event.permissions for event in management.events.values()} == {frozenset({"management"})}


def test_arguments_can_be_left_to_the_function() -> None:
    send = SCHEMAS["runtime.json"].functions["sendMessage"]
    assert send.normalise([1, None, print]) == [[1, None], print]
    assert send.normalise([1, None]) == [[1, None], None]
    assert send.normalise([]) == [[], None]


@pytest.mark.parametrize("namespace", SCHEMAS.values(), ids=SCHEMAS)
def test_every_type_of_every_file_can_be_compiled(namespace: schema.NamespaceSchema) -> None:
    for function in namespace.functions.values():
        with contextlib.suppress(ArgumentError):
            function.normalise([object()] * len(function.parameters))
        with contextlib.suppress(AttributeError, TypeError):  # what is shaped has to be like the schema
            function.convert_result(object())
    for event in namespace.events.values():
        with contextlib.suppress(ArgumentError):
            event.normalise([])
