from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.extensions.package.html_tags import Tag, tags

# Pages with which a parser that goes back to look for an end does not come to one, or fails.
HOSTILE = [
    "<!--", "<a ", "<a a=", "<a a='", '<a a="', "</", "</a", "<!", "<![", "<![CDATA[", "<?", "<script>", "<script><!--",
    "<title>", "<", "<a<", "<a/", "<!-->", "<a a a ", "&#", "<template>",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_page_that_means_harm_is_read_in_no_time(piece: str) -> None:
    assert len(list(tags(piece * (200_000 // len(piece))))) <= 200_000


@pytest.mark.parametrize(
    ("html", "found"),
    [
        ("<!-- <a> --><b>", ["b"]),
        ("<!--><b>", ["b"]),
        ("<!---><b>", ["b"]),
        ("<!-- <a> --!><b>", ["b"]),
        ("<!-- <a>", []),
        ("<!doctype html><b>", ["b"]),
        ("<?xml <a ?><b>", ["b"]),
        ("</><b></b x='>'><i>", ["b", "/b", "i"]),
        ("</ b><i>", ["i"]),
        ("1 < 2 <b", []),
        ("<b x='><i>", []),
        ("<title><a></title><b>", ["title", "/title", "b"]),
        ("<style><a></STYLE ><b>", ["style", "/style", "b"]),
        ("<noscript><a></noscript>", ["noscript", "/noscript"]),
        ("<script></scripts><a></script>", ["script", "/script"]),
        ("<textarea><a>", ["textarea"]),
    ],
)
def test_tags_are_found_where_a_browser_finds_them(html: str, found: list[str]) -> None:
    assert [("/" if tag.ends else "") + tag.name for tag in tags(html)] == found


@pytest.mark.parametrize(
    ("attributes", "found"),
    [
        ("", {}),
        (" a", {"a": ""}),
        (" A=1 a=2", {"a": "1"}),
        (" a = '1' b=\"2\"c=3/", {"a": "1", "b": "2", "c": "3/"}),
        ("/a/b", {"a": "", "b": ""}),
        (" a=&amp;&lt;", {"a": "&<"}),
        (" a='>' =b", {"a": ">", "=b": ""}),
        (" a=", {"a": ""}),
    ],
)
def test_attributes_are_those_of_a_browser(attributes: str, found: dict[str, str]) -> None:
    assert list(tags(f"<x{attributes}>")) == [Tag("x", attributes=found)]


def test_the_text_of_a_script_is_not_read_for_tags() -> None:
    script, end = tags("\n<script a>\n1 < 2 </b>\n</SCRIPT>")
    assert script == Tag("script", attributes={"a": ""}, text="\n1 < 2 </b>\n", line=4)
    assert end.ends
    assert list(tags("<script>no end")) == [Tag("script")]


@given(st.text(st.sampled_from("<>!-/='\" ascript\n")))
def test_whatever_the_page_is_tags_have_names(html: str) -> None:
    assert all(tag.name.strip() for tag in tags(html))
