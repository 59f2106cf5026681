from __future__ import annotations

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cli.arguments.url_argument import parse_url_argument
from hatbox.urls.url import parse_url


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "   ",
        "javascript:1",
        "http://evil.example\\@bank.example/",  # a browser opens evil.example, an HTTP client bank.example
        "evil.example\\@bank.example",
        "http://%65vil.example/",  # a browser opens evil.example, an HTTP client looks for %65vil.example
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "about:config",
        "chrome://settings",
        "view-source:https://site.example",
        "ftp://site.example",
        "wss://site.example",
        "mailto:somebody@site.example",
        "C:\\page.html",
        "user:password@site.example",
        "/etc/passwd",
        "./page.html",
        "../page.html",
        "//site.example",
        "?q=1",
        "#end",
        "two words",
        "http://",
        "http:site.example",
        "http://two words/",
        "http://[::1",
        "http://site.example:99999",
        "http://site.example:0",
        "site.example:0",
        "a..b",
        "http://1.2.3.4.5",
        "http://site.example/\nx",
        "\x1b[2J",
    ],
)
def test_what_no_tab_can_show_is_refused(typed: str) -> None:
    with pytest.raises(typer.BadParameter) as error:
        parse_url_argument(typed)
    assert error.value.message.isprintable()


def test_the_refusal_names_the_scheme() -> None:
    with pytest.raises(typer.BadParameter, match=r'"file:///x": unsupported URL scheme: file \(use http or https\)'):
        parse_url_argument("file:///x")


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("https://site.example/a?b#c", "https://site.example/a?b#c"),
        ("http://site.example", "http://site.example"),
        ("  https://site.example ", "https://site.example"),
        ("HTTPS://site.example", "HTTPS://site.example"),
        ("https://日本.example/ä b", "https://日本.example/ä b"),
        ("about:blank", "about:blank"),
        ("site.example", "https://site.example"),
        ("site.example:8443/x", "https://site.example:8443/x"),
        ("site.example/a:b", "https://site.example/a:b"),
        ("site.example?to=http://other.example", "https://site.example?to=http://other.example"),
        ("user@site.example", "https://user@site.example"),
        ("intranet", "https://intranet"),
        ("192.168.0.1", "https://192.168.0.1"),
        ("localhost", "http://localhost"),
        ("LOCALHOST:8000/x", "http://LOCALHOST:8000/x"),
        ("localhost/x:1", "http://localhost/x:1"),
        ("app.localhost:3000", "http://app.localhost:3000"),
        ("127.0.0.1", "http://127.0.0.1"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("user@127.0.0.1:8000/x", "http://user@127.0.0.1:8000/x"),
        ("[::1]:8000/x", "http://[::1]:8000/x"),
        ("localhost.site.example", "https://localhost.site.example"),
        ("127.0.0.1.site.example", "https://127.0.0.1.site.example"),
        ("site.example/localhost", "https://site.example/localhost"),
        ("localhost@site.example", "https://localhost@site.example"),
    ],
)
def test_a_scheme_that_lacks_is_put_before_it(typed: str, meant: str) -> None:
    assert parse_url_argument(typed) == meant


@given(st.text())
def test_whatever_is_typed_becomes_an_address_of_the_web_or_is_refused(typed: str) -> None:
    try:
        url = parse_url_argument(typed)
    except typer.BadParameter:
        return
    parsed = parse_url(url)
    assert url == "about:blank" or (parsed and parsed.scheme in ("http", "https") and parsed.host)
