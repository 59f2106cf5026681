"""Titles and icons are read as browsers read them (engines/html.py)."""

from __future__ import annotations

import encodings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.engines.http.html import HtmlHead, encoding_of, is_html, media_type, read_head
from tests.site import TITLES

URL = "http://site.example/folder/page"


@pytest.mark.parametrize("name", TITLES)
def test_a_title_is_the_one_that_a_browser_shows(name: str) -> None:
    content_type, body, title = TITLES[name]
    assert (read_head(body, content_type, URL).title if is_html(content_type, body) else "") == title


@pytest.mark.parametrize(
    ("markup", "icon"),
    [
        ('<link rel="icon" href="/icon.png">', "http://site.example/icon.png"),
        ('<link rel="shortcut icon" href=icon.ico>', "http://site.example/folder/icon.ico"),
        ("<LINK REL='Icon' HREF='//cdn.example/i.png?a=1&amp;b=2'>", "http://cdn.example/i.png?a=1&b=2"),
        ('<base href="/base/"><link rel=icon href=i.png>', "http://site.example/base/i.png"),
        ('<link rel="icon" href="one.png"><link rel="icon" href="two.png">', "http://site.example/folder/two.png"),
        ('<link rel="icon" href="data:image/png;base64,AAAA">', "data:image/png;base64,AAAA"),
        ('<link rel="apple-touch-icon" href="/no.png">', ""),
        ('<link rel="stylesheet" href="/no.css">', ""),
        ('<link rel="icon">', ""),
        ('<link rel="icon" href="javascript:alert(1)">', ""),
        ('<link rel="icon" href="http://[bad">', ""),
        ('<!-- <link rel="icon" href="/no.png"> -->', ""),
        ("<title>it's</title><p title=don't><link rel=icon href=/i.png>", "http://site.example/i.png"),
    ],
)
def test_the_icon_is_the_one_that_the_page_names(markup: str, icon: str) -> None:
    assert read_head(markup.encode(), "text/html; charset=utf-8", URL).icon == icon


@pytest.mark.parametrize(
    ("label", "encoding"),
    [
        ("utf8", "utf-8"),
        ("LATIN1", "cp1252"),
        ("x-sjis", "cp932"),
        ("gb2312", "gb18030"),
        ("euc-jp", "euc_jp"),
        ("windows-1251", "cp1251"),
        ("utf-7", "cp1252"),
        ("hex", "cp1252"),
        ("idna", "cp1252"),
        ("unicode_escape", "cp1252"),
        ("\0", "cp1252"),
        ("é", "cp1252"),
        ("", "cp1252"),
    ],
)
def test_an_encoding_is_known_by_the_labels_of_browsers_and_no_others(label: str, encoding: str) -> None:
    assert encoding_of(b"", f'text/html; charset="{label}"') == encoding


def test_a_page_cannot_declare_the_two_byte_encoding_that_it_is_not_in() -> None:
    assert encoding_of(b'<meta charset="utf-16"><title>a</title>') == "utf-8"


def test_a_declaration_must_stand_at_the_beginning() -> None:
    assert encoding_of(b" " * 1024 + b'<meta charset="utf-8">') == "cp1252"


def test_a_title_has_an_end() -> None:
    assert len(read_head(b"<title>" + b"x" * 100_000, "text/html", URL).title) == 4096


@pytest.mark.parametrize(
    ("content_type", "body", "expected"),
    [
        ("text/html", b"", True),
        ("TEXT/HTML;charset=x", b"", True),
        ("application/xhtml+xml", b"", True),
        ("text/plain", b"<html>", False),
        ("image/svg+xml", b"<svg>", False),
        ("", b"\n<!DOCTYPE html><title>a", True),
        ("", b"plain", False),
    ],
)
def test_what_is_shown_as_html(content_type: str, body: bytes, expected: bool) -> None:
    assert is_html(content_type, body) is expected


def test_a_media_type_has_no_parameters() -> None:
    assert media_type("Text/HTML ; charset=utf-8") == "text/html"


@given(st.binary(max_size=200), st.sampled_from(["text/html", "text/html; charset=utf-16", "text/html; charset=big5"]))
def test_no_page_can_break_it(body: bytes, content_type: str) -> None:
    assert isinstance(read_head(body, content_type, URL), HtmlHead)


@given(st.text(alphabet="<>/!-='\" atilescrp&#;", max_size=120))
def test_no_markup_can_break_it(text: str) -> None:
    head = read_head(text.encode(), "text/html; charset=utf-8", URL)
    assert head.title == head.title.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["<a ", '<a x=" ', "<!--", "<", "</", "<title", "<svg>", "<a ' \" = '", "<script></script>", "<a b=c", "<?", "&#x"],
)
def test_a_hostile_page_costs_no_more_than_its_length(piece: str) -> None:
    body = (piece * (2_000_000 // len(piece))).encode()
    read_head(body, "text/html; charset=utf-8", URL)  # in quadratic time it would not


def test_names_of_encodings_that_a_server_makes_up_are_not_remembered() -> None:
    before = len(encodings._cache)
    for number in range(50):
        assert encoding_of(b"", f"text/html; charset=made-up-{number}") == "cp1252"
        assert encoding_of(f"<meta charset=made-up-{number}>".encode(), "text/html") == "cp1252"
    assert len(encodings._cache) == before


def test_a_very_long_number_of_a_character_is_no_error() -> None:
    markup = f"<title>a&#{'1' * 10_000};&#{'0' * 10_000}65;</title><link rel=icon href='/&#{'1' * 10_000}'>"
    assert read_head(markup.encode(), "text/html", "http://site.example/").title == "a\ufffdA"
