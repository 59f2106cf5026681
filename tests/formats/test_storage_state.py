from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given

from hatbox.cookies import Cookie, Partition, SameSite
from hatbox.errors import InvalidInputFile
from hatbox.formats import Bundle, BundleEntry, CookieName
from hatbox.formats.storage_state import CHARACTERS, NOT_UTF8, PORTS, REJECTED, UNSET, read, write
from tests.formats.strategies import holdings_cookies, timeless

SID: dict[str, Any] = {
    "name": "sid",
    "value": "abc",
    "domain": ".site.example",
    "path": "/",
    "expires": 2000000000.5,
    "httpOnly": True,
    "secure": True,
    "sameSite": "None",
}


def state(*cookies: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({"cookies": cookies, "origins": [], **more}).encode()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "truncated"),
        (b"[]", "Expected `object`"),
        (b"{}", "`cookies`"),
        (state(SID)[:60], "truncated"),
        (b'{"cookies": [\n\n{"name": nonsense}]}', "line 3: .*malformed"),
        (state(SID, {**SID, "value": 1}), r"at `\$\.cookies\[1\]\.value`"),
        (state({**SID, "sameSite": "Sometimes"}), "Sometimes"),
        (b'{"cookies": [{"name": "\xff"}]}', "malformed|UTF-8|utf-8"),
    ],
)
def test_a_broken_file_is_named_with_the_place(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInputFile, match=problem) as caught:
        read(data, "state.json")
    assert str(caught.value).startswith("state.json")


def test_cookies_are_read_as_playwright_means_them() -> None:
    session = {"name": "s", "value": "ü", "domain": "host.example", "path": "/x", "expires": -1, "sameSite": "None"}
    partitioned = {**SID, "sameSite": "Strict", "partitionKey": "https://top.example", "_crHasCrossSiteAncestor": True}
    (holding,) = read(state(SID, session, partitioned), "state.json").entries
    first, second, third = holding.cookies
    assert first == Cookie(
        name="sid",
        value="abc",
        domain="site.example",
        host_only=False,
        secure=True,
        http_only=True,
        same_site=SameSite.NONE,
        expires=2000000000.5,
        sequence=1,
    )
    assert (second.domain, second.host_only, second.expires, second.value) == ("host.example", True, None, "Ã¼")
    assert second.same_site is SameSite.UNSPECIFIED, "None without Secure is what Playwright writes for nothing"
    assert third.partition == Partition("https://top.example", True)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, Partition("https://top.example", True)),
        ({"_crHasCrossSiteAncestor": False}, Partition("https://top.example", True)),
        ({"partitionKey": "https://site.example"}, Partition("https://site.example")),
        (
            {"partitionKey": "https://site.example", "_crHasCrossSiteAncestor": True},
            Partition("https://site.example", True),
        ),
    ],
)
def test_a_partition_of_another_site_has_an_ancestor_also_where_nobody_says_so(
    more: dict[str, Any], expected: Partition
) -> None:
    (holding,) = read(state({**SID, "partitionKey": "https://top.example", **more}), "state.json").entries
    assert holding.cookies[0].partition == expected


def test_broken_site_data_is_refused_with_the_place() -> None:
    def refused(origin: dict[str, Any], problem: str) -> None:
        with pytest.raises(InvalidInputFile, match=problem):
            read(state(origins=[{"origin": "https://a.example", **origin}]), "state.json")

    def records(*given: dict[str, Any], **more: Any) -> dict[str, Any]:
        store = {"name": "s", "records": list(given), "indexes": [], "autoIncrement": False, **more}
        return {"indexedDB": [{"name": "d", "version": 1, "stores": [store]}]}

    refused({"localStorage": [{"name": "x", "value": 1}]}, r"\$\.origins: .*value")
    refused({"localStorage": "x"}, r"\$\.origins")
    refused({"indexedDB": [{"name": "d", "version": 0}]}, "invalid version")
    refused({"indexedDB": [{"name": "d", "version": "1"}]}, "version")
    refused(records({"key": 1}), "without a key or value")
    refused(records({"value": 1}), "without a key or value")
    for encoded in (
        {"zz": 1},
        {"ref": 9},
        [1],
        {"a": 1, "id": 1},
        {"d": "yesterday"},
        {"bi": "x"},
        {"ta": {"b": "=", "k": "ui8"}},
        {"ta": {"b": "", "k": "q"}},
    ):
        refused(records({"key": 1, "valueEncoded": encoded}), "indexedDB")
    template = state(origins=[{"origin": "https://a.example", **records({"key": 1, "value": "DEEP"})}])
    for depth in (500, 990, 100_000):
        deep = template.replace(b'"DEEP"', b"[" * depth + b"]" * depth)
        if depth > 500:
            with pytest.raises(InvalidInputFile, match="nested too deeply"):
                read(deep, "state.json")
        else:
            assert read(deep, "state.json").entries[0].site_data


def test_the_text_is_exactly_this() -> None:
    cookies = [
        Cookie(name="a", value="1", domain="site.example", host_only=False, expires=2e9, same_site=SameSite.STRICT),
        Cookie(name="b", value="\xff", domain="site.example"),
        Cookie(name="c", value="", domain="site.example", secure=True, partition=Partition("https://top.example")),
        Cookie(name="d", value="a\tb", domain="site.example"),
        Cookie(name="e", value="", domain="site.example", partition=Partition("https://top.example")),
        Cookie(name="f", value="", domain="f.example", secure=True, partition=Partition("https://top.example:1")),
    ]
    written = write(Bundle([BundleEntry(None, cookies)]))
    assert written.dropped == {NOT_UTF8: 1, UNSET: 1, CHARACTERS: 1, REJECTED: 1, PORTS: 1}
    assert written.left_out[PORTS] == [CookieName("f", "f.example", "/")]
    assert json.loads(written.data) == {
        "cookies": [
            {
                "name": "a",
                "value": "1",
                "domain": ".site.example",
                "path": "/",
                "expires": 2e9,
                "httpOnly": False,
                "secure": False,
                "sameSite": "Strict",
            },
            {
                "name": "c",
                "value": "",
                "domain": "site.example",
                "path": "/",
                "expires": -1,
                "httpOnly": False,
                "secure": True,
                "sameSite": "Lax",
                "partitionKey": "https://top.example",
                "_crHasCrossSiteAncestor": False,
            },
        ],
        "origins": [],
    }


def is_utf8(cookie: Cookie) -> bool:
    try:
        (cookie.name + "=" + cookie.value + ";" + cookie.path).encode("latin-1").decode()
    except UnicodeDecodeError:
        return False
    return True


def is_carried(cookie: Cookie) -> bool:
    is_acceptable = cookie.partition is None or (cookie.secure and not re.search(":[0-9]+$", cookie.partition[0]))
    return is_utf8(cookie) and is_acceptable and "\t" not in cookie.name + cookie.value


@pytest.mark.slow
@given(holdings_cookies())
@timeless
def test_what_is_written_comes_back_but_for_what_is_said_to_be_lost(cookies: list[Cookie]) -> None:
    written = write(Bundle([BundleEntry(None, cookies)]))
    carried = [each for each in cookies if is_carried(each)]
    assert written.cookies == len(carried) == len(cookies) - sum(map(len, written.left_out.values()))
    assert {reason: len(names) for reason, names in written.left_out.items()} == written.dropped - Counter(
        {UNSET: len(cookies)}
    )
    assert written.dropped[UNSET] == sum(each.same_site is SameSite.UNSPECIFIED for each in carried)
    (back,) = read(written.data, "state.json").entries
    assert back.cookies == [
        msgspec.structs.replace(
            each,
            same_site=SameSite.LAX if each.same_site is SameSite.UNSPECIFIED else each.same_site,
            sequence=place,
            created=0.0,
            last_access=0.0,
        )
        for place, each in enumerate(carried, 1)
    ]


def test_what_is_not_taken_is_named() -> None:
    """Such as the passkeys of a later Playwright."""
    cookie = {"name": "a", "value": "1", "domain": "a.example", "path": "/", "priority": "High"}
    data = json.dumps({"cookies": [cookie], "origins": [], "credentials": [{}, {}], "x\x1b": 1}).encode()
    assert read(data, "state.json").dropped == {
        "unknown: 'credentials'": 2,
        "unknown: 'x\\x1b'": 1,
        "unknown: 'priority'": 1,
    }
