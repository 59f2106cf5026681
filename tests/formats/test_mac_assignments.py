from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox import ContainerReference, InvalidInputFile
from hatbox.formats.containers_json import Containers
from hatbox.formats.mac_assignments import mac_rules, read_mac_file, read_mac_folder

CONTAINERS = json.dumps(
    {
        "version": 6,
        "lastUserContextId": 8,
        "identities": [
            {"userContextId": 2, "public": True, "icon": "briefcase", "color": "orange", "l10nId": "user-context-work"},
            {"userContextId": 8, "public": True, "icon": "pet", "color": "red", "name": "Zoo"},
        ],
    }
).encode()


def assigned(**sites: Any) -> dict[str, Any]:
    return {f"siteContainerMap@@_{site}": {"userContextId": number, "neverAsk": True} for site, number in sites.items()}


def read(storage: dict[str, Any], containers: bytes | None = CONTAINERS) -> hatbox.RuleBundle:
    return read_mac_file(json.dumps(storage).encode(), "mac.json", containers)


def test_assignments_become_rules_of_exact_hosts_with_the_names_of_the_containers() -> None:
    bundle = read({**assigned(**{"github.com": "2", "zoo.example8080": 8}), "replaceTabEnabled": True})
    assert [(each.pattern, each.container.name, each.limit) for each in bundle.rules] == [
        ("github.com", "Work", False),
        ("zoo.example:8080", "Zoo", False),
    ]
    assert bundle.rules[1].container == ContainerReference("Zoo", "pet", "red")
    assert not bundle.skipped


@pytest.mark.parametrize(
    ("site", "pattern"),
    [
        ("github.com", "github.com"),
        ("localhost3000", "localhost:3000"),
        ("localhost", "localhost"),
        ("web3.example", "web3.example"),
        ("web3.example65535", "web3.example:65535"),
        ("127.0.0.1", "127.0.0.1"),
        ("127.0.0.18080", "127.0.0.1:8080"),
        ("127.0.0.255443", None),  # .2 and 55443, or .25 and 5443
        ("[::1]", "[::1]"),
        ("[::1]8080", "[::1]:8080"),
        ("xn--bcher-kva.example81", "xn--bcher-kva.example:81"),
        ("10.0.0.111111", None),  # .1 and 11111, or .11 and 1111, or .111 and 111
        ("a.example99999", None),
        ("server2", None),  # a host of an intranet, or server and 2
        ("host.b2", None),
        ("db.corp10", None),
        ("github.com8443", "github.com:8443"),
        ("shop.bd8080", "shop.bd:8080"),
        ("почта.рф8080", "почта.рф:8080"),
        ("printer.local631", "printer.local:631"),
        ("a b.example", None),
        ("", None),
        ("[::1", None),
        ("[::1]x", None),
    ],
)
def test_the_port_is_found_although_no_colon_precedes_it(site: str, pattern: str | None) -> None:
    bundle = read(assigned(**{site: "2"}))
    assert [each.pattern for each in bundle.rules] == ([] if pattern is None else [pattern])
    assert [each.source for each in bundle.skipped] == ([site] if pattern is None else [])


def test_a_container_that_is_limited_to_its_sites_gets_limits() -> None:
    storage = {
        **assigned(**{"a.example": "2", "b.example": "8"}),
        "identitiesState@@_firefox-container-2": {"isIsolated": "locked", "hiddenTabs": []},
        "identitiesState@@_firefox-container-8": {"hiddenTabs": []},
        "identitiesState@@_firefox-default": {"isIsolated": "locked"},
    }
    assert [(each.pattern, each.limit) for each in read(storage).rules] == [("a.example", True), ("b.example", False)]
    alone = {"identitiesState@@_firefox-container-8": {"isIsolated": "locked"}}
    (skipped,) = read(alone).skipped
    assert (skipped.source, "no site" in skipped.reason) == ("Zoo", True)


def test_an_assignment_to_a_container_that_is_gone_is_reported() -> None:
    bundle = read(assigned(**{"a.example": "99", "b.example": "x", "c.example": None, "d.example": "2"}))
    assert [each.source for each in bundle.skipped] == ["a.example", "b.example", "c.example"]
    assert [each.pattern for each in bundle.rules] == ["d.example"]


def test_the_synchronized_copy_has_the_names_itself() -> None:
    storage = {
        "siteContainerMap@@_a.example": {"identityMacAddonUUID": "u-1", "userContextId": "7"},
        "identity@@_u-1": {"name": "Travel", "icon": "vacation", "color": "red"},
    }
    (rule,) = read(storage, None).rules
    assert rule.container == ContainerReference("Travel", "vacation", "red")


def test_numbers_without_names_are_refused_because_numbers_mean_something_else_here() -> None:
    with pytest.raises(InvalidInputFile, match="--containers"):
        read(assigned(**{"a.example": "2"}), None)


def test_in_the_same_profile_the_numbers_are_ids() -> None:
    (rule,) = mac_rules(assigned(**{"a.example": "2"}), None, "the extension").rules
    assert rule.container == ContainerReference(cookie_store_id="firefox-container-2")


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"null", b"{}", b'{"a": 1}', b"\xff", b"[" * 100_000])
def test_another_file_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInputFile, match="Nothing was imported"):
        read_mac_file(data, "other.json", CONTAINERS)


def test_a_firefox_folder_is_read_and_a_newer_one_says_how_to_export(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputFile, match="about:debugging"):
        read_mac_folder(tmp_path)
    folder = tmp_path / "browser-extension-data" / "@testpilot-containers"
    folder.mkdir(parents=True)
    (folder / "storage.js").write_text(json.dumps(assigned(**{"a.example": "2"})))
    (tmp_path / "containers.json").write_bytes(CONTAINERS)
    assert [each.container.name for each in read_mac_folder(tmp_path).rules] == ["Work"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda each: st.lists(each) | st.dictionaries(st.sampled_from(["userContextId", "isIsolated", "name"]), each),
)


@pytest.mark.slow
@given(
    st.dictionaries(
        st.tuples(
            st.sampled_from(["siteContainerMap@@_", "identitiesState@@_", "identity@@_", ""]), st.text(max_size=12)
        ).map("".join),
        VALUES,
        max_size=5,
    )
)
def test_any_storage_gives_rules_or_is_refused(storage: dict[str, Any]) -> None:
    try:
        bundle = mac_rules(storage, {2: ContainerReference("Work")}, "x")
    except InvalidInputFile:
        return
    for rule in bundle.rules:
        assert rule.container.name
    assert Containers(CONTAINERS, "x").labels
