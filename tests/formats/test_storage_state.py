from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given

from hatbox.cookies import Cookie, Partition, SameSite
from hatbox.errors import InvalidInputFile
from hatbox.formats import Bundle, BundleEntry
from hatbox.formats.storage_state import NOT_UTF8, STORAGE, UNSET, read, write
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


def test_local_storage_is_said_to_be_lost() -> None:
    origins = [
        {"origin": "https://a.example", "localStorage": [{"name": "x", "value": "y"}]},
        {"origin": "https://b.example", "localStorage": []},
    ]
    assert read(state(origins=origins), "state.json").dropped == {STORAGE: 1}


def test_the_text_is_exactly_this() -> None:
    cookies = [
        Cookie(name="a", value="1", domain="site.example", host_only=False, expires=2e9, same_site=SameSite.STRICT),
        Cookie(name="b", value="\xff", domain="site.example"),
        Cookie(name="c", value="", domain="site.example", secure=True, partition=Partition("https://top.example")),
    ]
    written = write(Bundle([BundleEntry(None, cookies)]))
    assert written.dropped == {NOT_UTF8: 1, UNSET: 1}
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


@given(holdings_cookies())
@timeless
def test_what_is_written_comes_back_but_for_what_is_said_to_be_lost(cookies: list[Cookie]) -> None:
    written = write(Bundle([BundleEntry(None, cookies)]))
    carried = [each for each in cookies if is_utf8(each)]
    assert written.cookies == len(carried) == len(cookies) - written.dropped[NOT_UTF8]
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
