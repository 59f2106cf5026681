from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies import Cookie
from hatbox.errors import InvalidInputFile
from hatbox.formats import Bundle, BundleEntry, IdentityAttributes
from hatbox.formats.containers_json import COOKIES, HIDDEN, UNNAMED, Containers, read, write
from tests.formats.strategies import labels, timeless

PERSONAL = {
    "icon": "fingerprint",
    "color": "blue",
    "l10nId": "user-context-personal",
    "public": True,
    "userContextId": 1,
}
THUMBNAIL = {"public": False, "icon": "", "color": "", "name": "userContextIdInternal.thumbnail", "userContextId": 5}
STORAGE = {**THUMBNAIL, "name": "userContextIdInternal.webextStorageLocal", "userContextId": 4294967295}
OWN = {"userContextId": 6, "public": True, "icon": "gift", "color": "cyan", "name": "Söckchen"}


def file(*entries: dict[str, Any], version: int = 6, last: int = 6) -> bytes:
    return json.dumps({"version": version, "lastUserContextId": last, "identities": entries}).encode()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "truncated"),
        (b"nonsense", "malformed"),
        (b"[]", "Expected `object`"),
        (file(PERSONAL)[:-3], "truncated"),
        (file(version=7), "unsupported version 7 \\(supported: 1 to 6\\)"),
        (file(version=0), "version 0"),
        (file({**OWN, "name": 7}), r"\$\[0\]\.name"),
        (b'{"version": 6}', "`identities`"),
        (b'{"version": 6,\n"identities": [}', "line 2: "),
    ],
)
def test_a_broken_file_is_named_with_the_problem(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInputFile, match=problem) as caught:
        read(data, "containers.json")
    assert str(caught.value).startswith("containers.json")


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_old_versions_have_other_keys_for_the_defaults(version: int) -> None:
    old = {
        "userContextId": 2,
        "public": True,
        "icon": "briefcase",
        "color": "orange",
        "l10nID": "userContextWork.label",
        "accessKey": "userContextWork.accesskey",
    }
    bundle = read(file(old, THUMBNAIL, version=version), "containers.json")
    assert bundle.entries == [BundleEntry(IdentityAttributes("Work", "briefcase", "orange"), [], 2)]


@pytest.mark.parametrize("version", [5, 6])
def test_new_versions_are_read_without_what_is_internal(version: int) -> None:
    data = b"\xef\xbb\xbf" + file(PERSONAL, THUMBNAIL, STORAGE, OWN, version=version)
    assert read(data, "containers.json").entries == [
        BundleEntry(IdentityAttributes("Personal", "fingerprint", "blue"), [], 1),
        BundleEntry(IdentityAttributes("Söckchen", "gift", "cyan"), [], 6),
    ]


def test_old_colors_get_their_new_names_and_unknown_ones_stay() -> None:
    data = file({**OWN, "color": "turquoise"}, {**OWN, "userContextId": 7, "color": "mauve", "icon": "nope"})
    first, second = (holding.label for holding in read(data, "containers.json").entries)
    assert first == IdentityAttributes("Söckchen", "gift", "cyan")
    assert second == IdentityAttributes("Söckchen", "nope", "mauve")


def test_what_broken_releases_have_written_is_skipped_and_counted() -> None:
    twice = {**OWN, "name": "Second"}
    bundle = read(file(OWN, twice, {**OWN, "userContextId": None}, {**OWN, "userContextId": 8, "name": " "}), "c")
    assert [holding.label and holding.label.name for holding in bundle.entries] == ["Söckchen"]
    assert bundle.skipped == {UNNAMED: 2}


def test_what_is_added_to_a_file_leaves_the_rest_as_it_is() -> None:
    containers = Containers(file(PERSONAL, THUMBNAIL, OWN, last=9), "containers.json")
    assert containers.add(IdentityAttributes("New", "pet", "red")) == 10
    result = json.loads(containers.encode())
    assert result["lastUserContextId"] == 10
    assert result["identities"][:3] == [PERSONAL, THUMBNAIL, OWN]
    assert result["identities"][3] == {
        "userContextId": 10,
        "public": True,
        "icon": "pet",
        "color": "red",
        "name": "New",
    }
    assert [each["userContextId"] for each in result["identities"][4:]] == [4294967295]


def test_a_new_file_has_the_ids_of_hatbox_and_what_firefox_needs() -> None:
    holdings = [
        BundleEntry(None, [Cookie(name="a", value="b", domain="site.example")]),
        BundleEntry(IdentityAttributes("Later", "gift", "red", True), [], 9),
        BundleEntry(IdentityAttributes("Work", "briefcase", "orange", False), [], 2),
        BundleEntry(IdentityAttributes("Work", "briefcase", "red", False), [], 3),
    ]
    written = write(Bundle(holdings))
    assert written.dropped == {COOKIES: 1, HIDDEN: 1}
    result = json.loads(written.data)
    assert (result["version"], result["lastUserContextId"]) == (6, 9)
    assert [(each["userContextId"], each["public"]) for each in result["identities"]] == [
        *((5, False), (4294967295, False), (9, True), (2, True), (3, True))
    ]
    assert result["identities"][3]["l10nId"] == "user-context-work"
    assert result["identities"][4]["name"] == "Work"


@given(st.lists(labels, max_size=5))
@timeless
def test_identities_come_back_but_for_hidden(drawn: list[IdentityAttributes]) -> None:
    written = write(Bundle([BundleEntry(label) for label in drawn]))
    assert written.dropped[HIDDEN] == sum(bool(label.hidden) for label in drawn)
    back = [holding.label for holding in read(written.data, "containers.json").entries]
    assert back == [IdentityAttributes(label.name, label.icon, label.color) for label in drawn]
