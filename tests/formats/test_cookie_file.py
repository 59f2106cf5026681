"""Files of cookies without a named format: what a page lets a user choose or drop."""

from __future__ import annotations

import json

import pytest

from hatbox.cookies import Cookie, Partition, SameSite
from hatbox.errors import InvalidInputFile
from hatbox.formats import FORMATS, Bundle, BundleEntry, IdentityAttributes
from hatbox.formats.cookie_file import read_cookie_file

COOKIE = Cookie(name="sid", value="1", domain="site.example", secure=True, same_site=SameSite.LAX)
WORK = IdentityAttributes("Work", "briefcase", "orange", False)


@pytest.mark.parametrize("format_name", ["cookies.txt", "storage-state", "json-lines"])
def test_each_exported_format_is_recognized(format_name: str) -> None:
    written = FORMATS[format_name].write(Bundle([BundleEntry(WORK, [COOKIE])]))
    for data in (written.data, b"\xef\xbb\xbf" + written.data):
        (entry,) = read_cookie_file(data, "file").entries
        assert [(each.name, each.value, each.domain) for each in entry.cookies] == [("sid", "1", "site.example")]


def test_cookies_that_an_extension_has_exported_are_read() -> None:
    data = [
        {
            "domain": ".site.example",
            "expirationDate": 4_000_000_000.5,
            "hostOnly": False,
            "httpOnly": True,
            "name": "sid",
            "path": "/a",
            "sameSite": "no_restriction",
            "secure": True,
            "session": False,
            "storeId": "0",
            "value": "café",
            "partitionKey": {"topLevelSite": "https://top.example", "hasCrossSiteAncestor": True},
        },
        {"domain": "site.example", "name": "theme", "value": "x", "sameSite": None, "expires": -1},
    ]
    first, second = read_cookie_file(json.dumps(data).encode(), "file").entries[0].cookies
    assert first == Cookie(
        name="sid",
        value="caf\xc3\xa9",
        domain="site.example",
        path="/a",
        host_only=False,
        secure=True,
        http_only=True,
        same_site=SameSite.NONE,
        expires=4_000_000_000.5,
        partition=Partition("https://top.example", True),
        sequence=1,
    )
    assert (second.host_only, second.expires, second.path) == (True, None, "/")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "it is empty. Choose a cookies.txt, JSON lines or storage state file"),
        (b" \n", "it is empty"),
        (b"\x89PNG\r\n\x00\x1a", "this is not a text file"),
        (b"<!doctype html>\n<p>Hello", "this is not a file of cookies"),
        (b"# Netscape HTTP Cookie File\n", "it has no cookies"),
        (b"a.example\tTRUE\t/\tTRUE\n", "line 1: expected 7 fields"),
        (b"[]", "it has no cookies"),
        (b"[1]", "Expected `object`"),
        (b'[{"name": "a"}]', "missing required field"),
        (b"{", "line 1"),
        (b'{"a": 1}', "this JSON has no cookies"),
        (b'{"cookies": 1}', "Expected `array`"),
        (b'{"version": 5, "identities": []}', "a list of containers without cookies"),
        (b'{"format": "hatbox", "version": 2}\n', "truncated"),
        (b"[" * 100_000, "line 1|nested"),
    ],
)
def test_a_file_without_cookies_is_refused_in_words(data: bytes, problem: str) -> None:
    with pytest.raises(InvalidInputFile, match=problem) as caught:
        read_cookie_file(data, "my file")
    assert str(caught.value).startswith("my file")
    assert str(caught.value).endswith("Nothing was imported.")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"[1]", ", line 1: this JSON is in another format"),
        (b'{"cookies": 1}', ", line 1: this JSON is in another format"),
        (b'{"cookies": [\n', ", line 2: this JSON is damaged or incomplete"),
        (b'{"a"\n', ", line 2: this JSON is damaged or incomplete"),
    ],
)
def test_a_user_of_the_page_reads_which_formats_are_possible_and_no_words_of_a_decoder(
    data: bytes, problem: str
) -> None:
    with pytest.raises(InvalidInputFile) as caught:
        read_cookie_file(data, "a.json")
    allowed = "Choose a cookies.txt, JSON lines or storage state file, or a JSON array of cookies"
    assert caught.value.page_message == f"a.json{problem}. {allowed}. Nothing was imported."


def test_the_cookies_of_several_identities_do_not_get_into_one() -> None:
    both = Bundle([BundleEntry(WORK, [COOKIE]), BundleEntry(None, [COOKIE])])
    with pytest.raises(InvalidInputFile, match=r"cookies of 2 identities \(Work, no identity\)"):
        read_cookie_file(FORMATS["json-lines"].write(both).data, "all.jsonl")
