from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.extensions.package.extension_urls import absolute_url, file_name, is_relative


@pytest.mark.parametrize(
    "url", ["https://x.example/a.js", "//x.example/a.js", " //x", "data:,x", "moz-extension://x/", "C:/x"]
)
def test_what_leads_elsewhere_is_not_relative(url: str) -> None:
    assert not is_relative(url)


@pytest.mark.parametrize(
    ("url", "base", "name"),
    [
        ("a.js", "", "a.js"),
        ("/a.js", "js/page.html", "a.js"),
        ("a.js", "js/page.html", "js/a.js"),
        ("./a.js", "js/page.html", "js/a.js"),
        ("../a%20b.js?x=1#y", "js/page.html", "a b.js"),
        ("../../../etc/passwd", "js/page.html", "etc/passwd"),
        ("%2e%2e/%2e%2e/etc/passwd", "", "etc/passwd"),
        (" a.js\n", "", "a.js"),
        ("?x", "", ""),
        ("", "", ""),
    ],
)
def test_the_file_that_a_url_means(url: str, base: str, name: str) -> None:
    assert is_relative(url)
    assert file_name(url, base) == name


@pytest.mark.parametrize(
    ("url", "path"),
    [("a.js", "a.js"), ("/b/../a b.js?c#d", "a%20b.js?c#d"), ("a%20b", "a%20b"), ("é", "%C3%A9"), ("../x", "x")],
)
def test_the_address_of_a_url(url: str, path: str) -> None:
    assert absolute_url(url, "moz-extension://id/") == f"moz-extension://id/{path}"


@given(st.text(), st.text())
def test_no_url_leads_out(url: str, base: str) -> None:
    parts = file_name(url, base).split("/")
    assert parts == [""] or not {"", "..", "."} & set(parts)
