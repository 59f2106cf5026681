from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.api.caller import Caller
from hatbox.errors import UndeclaredPermission
from hatbox.extension_data.extension_permissions import (
    NONE,
    ExtensionPermissions,
    Permissions,
    host_pattern,
    is_host_pattern,
    subsumes,
)
from tests.extensions.manifests import PATTERNS
from tests.extensions.record import recorded

REQUIRED = Permissions(("contextualIdentities", "tabs"), ("https://a.example/*",))
OPTIONAL = Permissions(("bookmarks", "userScripts", "tabs"), ("https://*.b.example/*",), ("searchTerms",))

PERMISSIONS = st.builds(
    Permissions,
    st.lists(st.sampled_from(["bookmarks", "cookies", "tabs", "internal:x"])).map(tuple),
    st.lists(st.sampled_from(PATTERNS)).map(tuple),
    st.lists(st.sampled_from(["searchTerms", "locationInfo"])).map(tuple),
)


def make(granted: Permissions = NONE) -> ExtensionPermissions:
    return ExtensionPermissions(REQUIRED, OPTIONAL, granted)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (
            Permissions(("history",)),
            "Cannot request permission history since it was not declared in optional_permissions",
        ),
        (
            Permissions(("contextualIdentities",)),
            "Cannot request permission contextualIdentities since it was not declared in optional_permissions",
        ),
        (Permissions(("userScripts", "bookmarks")), "Cannot request permission userScripts with another permission"),
        (
            Permissions(origins=("https://*/*",)),
            "Cannot request origin permission for https://*/* since it was not declared in the manifest",
        ),
        (
            Permissions(origins=("nonsense",)),
            "Cannot request origin permission for nonsense since it was not declared in the manifest",
        ),
        (
            Permissions(data_collection=("locationInfo",)),
            "Cannot request data collection permission locationInfo since it was not declared in "
            "data_collection_permissions.optional",
        ),
    ],
)
def test_only_what_the_manifest_declares_can_be_asked_for(wanted: Permissions, message: str) -> None:
    with pytest.raises(UndeclaredPermission) as raised:
        make().check_request(wanted)
    assert str(raised.value) == message


def test_what_the_manifest_declares_can_be_asked_for() -> None:
    for wanted in (NONE, Permissions(("userScripts",)), Permissions(("bookmarks",), ("https://x.b.example/y",))):
        make().check_request(wanted)


def test_only_what_is_not_held_has_to_be_asked_for() -> None:
    wanted = Permissions(("tabs", "bookmarks"), ("https://a.example/x", "https://b.example/*"), ("searchTerms",))
    assert make().missing(wanted) == Permissions(("bookmarks",), ("https://b.example/*",), ("searchTerms",))
    assert make(Permissions(("bookmarks",), OPTIONAL.origins, ("searchTerms",))).contains(wanted)


def test_a_caller_gains_and_loses_what_its_extension_gains_and_loses() -> None:
    caller = Caller("a@b")
    permissions = ExtensionPermissions(REQUIRED, OPTIONAL, effective=caller.permissions)
    assert caller.hosts.allow_url("https", "a.example")
    assert not caller.hosts.allow_url("https", "x.b.example")
    added = permissions.grant(Permissions(("bookmarks",), ("https://*.b.example/path",)))
    assert added == Permissions(("bookmarks",), ("https://*.b.example/*",))
    assert {"bookmarks", "contextualIdentities"} <= caller.permissions
    assert caller.hosts.allow_url("https", "x.b.example")
    assert permissions.remove(Permissions(("bookmarks", "history"), ("https://*.b.example/*",))) == added
    assert caller.permissions == {"contextualIdentities", "tabs", "https://a.example/*"}


def test_what_is_given_twice_is_new_once() -> None:
    permissions = make()
    assert permissions.grant(Permissions(("bookmarks", "bookmarks"))) == Permissions(("bookmarks",))
    assert permissions.grant(Permissions(("bookmarks",))) == NONE


def test_what_the_manifest_requires_cannot_be_removed() -> None:
    permissions = make()
    assert not permissions.remove(REQUIRED)
    assert permissions.get_all() == REQUIRED
    permissions.grant(Permissions(("tabs",)))  # it is optional as well
    assert permissions.remove(Permissions(("tabs",))) == Permissions(("tabs",))
    assert "tabs" in permissions.effective


def test_an_origin_is_removed_only_by_the_pattern_that_gave_it() -> None:
    permissions = make(Permissions(origins=("https://*.b.example/*",)))
    assert not permissions.remove(Permissions(origins=("https://x.b.example/*",)))
    assert permissions.remove(Permissions(origins=("https://*.b.example/any",)))


def test_scripts_never_see_internal_permissions() -> None:
    permissions = make()
    added = permissions.grant(Permissions(("internal:privateBrowsingAllowed",)))
    assert added
    assert not added.visible()
    assert "internal:privateBrowsingAllowed" in permissions.effective
    assert permissions.get_all() == REQUIRED


def test_permissions_that_differ_in_case_are_different() -> None:
    permissions = ExtensionPermissions(Permissions(("contextualidentities",)), NONE)
    assert not permissions.contains(Permissions(("contextualIdentities",)))


def test_one_pattern_contains_another_as_in_firefox() -> None:
    answers = itertools.chain.from_iterable(recorded()["subsumes"])
    for (wide, narrow), answer in zip(itertools.product(PATTERNS, repeat=2), answers, strict=True):
        assert subsumes([wide], narrow) is answer, (wide, narrow)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [("<all_urls>", "<all_urls>"), ("*://*.a.example/b?c=*#d", "*://*.a.example/*"), ("file:///etc/*", "file:///*")],
)
def test_the_path_of_a_pattern_does_not_count(text: str, pattern: str) -> None:
    assert host_pattern(text) == pattern


@pytest.mark.parametrize("text", ["tabs", "", "https://a.example", "about:blank", "HTTPS://a.example/*"])
def test_what_is_no_pattern(text: str) -> None:
    assert not is_host_pattern(text)


@given(st.sampled_from(PATTERNS))
def test_a_pattern_contains_itself_and_everything_is_in_all_urls(pattern: str) -> None:
    assert subsumes([pattern], pattern)
    assert subsumes([pattern], host_pattern(pattern))
    assert subsumes(["<all_urls>"], pattern)


@given(st.lists(st.tuples(st.booleans(), PERMISSIONS)))
def test_what_is_held_is_always_what_was_required_or_granted(changes: list[tuple[bool, Permissions]]) -> None:
    permissions = ExtensionPermissions(REQUIRED, OPTIONAL, effective={"granted elsewhere"})
    for grants, some in changes:
        before = permissions.granted
        change = permissions.grant(some) if grants else permissions.remove(some)
        assert bool(change) is (permissions.granted != before)
        assert not grants or permissions.contains(some)
        every = REQUIRED | permissions.granted
        assert permissions.effective == {*every.permissions, *every.origins, "granted elsewhere"}
