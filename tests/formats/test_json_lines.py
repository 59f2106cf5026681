from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies import Cookie, Partition, SameSite
from hatbox.errors import InvalidInputFile
from hatbox.formats import Bundle, BundleEntry, IdentityAttributes, SiteData
from hatbox.formats.json_lines import read, write
from tests.formats.strategies import bundles, timeless

COOKIE = Cookie(
    name="sid",
    value="\xff",
    domain="site.example",
    host_only=False,
    secure=True,
    http_only=True,
    same_site=SameSite.NONE,
    expires=2000000000.125,
    partition=Partition("https://top.example", True),
    sequence=1700000000000001,
    created=1700000000.0,
    last_access=1700000001.5,
)
SITE = SiteData("https://site.example", b'{"local":[["k","\\ud800"]],"databases":[]}')
WORK = IdentityAttributes("Work", "briefcase", "orange", True)
BUNDLE = Bundle(
    [BundleEntry(None, []), BundleEntry(WORK, [COOKIE], site_data=[SITE], uuid="u-1")],
    ordered=True,
)
TEXT = (
    '{"format":"hatbox","version":2}\n'
    '{"identity":null}\n'
    '{"identity":{"name":"Work","icon":"briefcase","color":"orange","hidden":true,"uuid":"u-1"}}\n'
    '{"cookie":{"name":"sid","value":"ÿ","domain":"site.example","hostOnly":false,"path":"/","secure":true,'
    '"httpOnly":true,"sameSite":"no_restriction","expires":2000000000.125,'
    '"partition":{"topLevelSite":"https://top.example","crossSiteAncestor":true},'
    '"sequence":1700000000000001,"created":1700000000.0,"lastAccess":1700000001.5}}\n'
    '{"siteData":{"origin":"https://site.example",'
    '"data":"{\\"local\\":[[\\"k\\",\\"\\\\ud800\\"]],\\"databases\\":[]}"}}\n'
    '{"end":{"identities":1,"cookies":1,"origins":1}}\n'
)
FIRST_VERSION = (
    '{"format":"hatbox","version":1}\n'
    '{"identity":{"name":"Work","icon":"briefcase","color":"orange","hidden":true}}\n'
    '{"end":{"identities":1,"cookies":0}}\n'
)
LINES = TEXT.splitlines(keepends=True)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "the first line is not"),
        ("{}\n", 1, "the first line is not"),
        ('{"format":"other","version":1}\n', 1, "the first line is not"),
        ('{"format":"hatbox","version":3}\n', 1, "version 3"),
        ("".join(LINES[:-1]), 6, "truncated"),
        (TEXT[:300], 4, "truncated"),
        ("".join([*LINES[:3], LINES[5]]), 4, "lines are missing"),
        ("".join([*LINES[:4], LINES[5]]), 5, "lines are missing"),
        (TEXT + LINES[2], 7, "data after the end line"),
        (LINES[0] + LINES[3] + LINES[5], 2, "before the first identity"),
        (LINES[0] + LINES[4] + LINES[5], 2, "before the first identity"),
        (TEXT.replace("https://site.example", "file:///etc"), 5, "not an origin"),
        (TEXT.replace("https://site.example", "https://SITE.example"), 5, "not an origin"),
        (TEXT.replace("local", "local\\\\"), 5, "invalid site data"),
        (TEXT.replace('[[\\"k\\"', "[[1"), 5, "invalid site data"),
        (TEXT.replace('\\"databases\\":[]', '\\"databases\\":[{}]'), 5, "invalid site data"),
        (LINES[0] + '{"tab":1}\n', 2, "unknown field `tab`"),
        (LINES[0] + "{}\n", 2, "expected an identity"),
        (TEXT.replace('"sid"', "7"), 4, r"\$\.cookie\.name"),
        (TEXT.replace('"no_restriction"', '"maybe"'), 4, "maybe"),
        (TEXT.replace("ÿ", "Ā"), 4, "above U"),
        (TEXT.replace('"sid"', "nonsense"), 4, "malformed"),
    ],
)
def test_a_broken_file_is_named_with_the_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(InvalidInputFile, match=problem) as caught:
        read(text.encode(), "my.jsonl")
    assert caught.value.line == line
    assert str(caught.value).startswith(f"my.jsonl, line {line}: ")


@pytest.mark.slow
@given(bundles(), st.data())
@timeless
def test_no_cut_goes_unnoticed(bundle: Bundle, data: st.DataObject) -> None:
    whole = write(bundle).data
    cut = data.draw(st.integers(0, len(whole) - 2))  # the last line feed may be missing
    with pytest.raises(InvalidInputFile):
        read(whole[:cut], "my.jsonl")


def test_the_text_is_exactly_this() -> None:
    assert write(BUNDLE).data.decode() == TEXT
    assert read(TEXT.encode(), "my.jsonl") == BUNDLE
    assert all(json.loads(line) for line in LINES)
    assert read(FIRST_VERSION.encode(), "my.jsonl") == Bundle([BundleEntry(WORK)], ordered=True)


@pytest.mark.slow
@given(bundles())
@timeless
def test_everything_comes_back(bundle: Bundle) -> None:
    written = write(bundle)
    assert written.cookies == bundle.count
    assert not written.dropped
    assert read(written.data, "my.jsonl") == bundle


@pytest.mark.parametrize("start", [b"", b'{"format": "hatbox", "version": 1}\n'])
@pytest.mark.parametrize("deep", [b'{"a":' * 20_000, b"[" * 100_000, b'{"identity":' * 20_000])
def test_a_line_that_is_nested_too_deeply_is_broken_input(start: bytes, deep: bytes) -> None:
    with pytest.raises(InvalidInputFile):
        read(start + deep, "a file")
