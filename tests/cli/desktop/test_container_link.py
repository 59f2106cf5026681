from __future__ import annotations

from urllib.parse import quote, urlencode, urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cli.desktop.container_link import ContainerLink, InvalidLink, checked_web_url, parse_container_link
from hatbox.urls.url import parse_url
from tests.cli.terminal.test_terminal_text import steers_a_terminal


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        (
            "ext+container:name=Work&url=https%3A%2F%2Fsite.example%2Fa%3Fb%3D1%26c",
            ("Work", "https://site.example/a?b=1&c"),
        ),
        ("ext+container:name=Work&url=https://site.example/", ("Work", "https://site.example/")),
        ("EXT+CONTAINER:url=HTTP://site.example&name=My%20work", ("My work", "http://site.example/")),
        ("ext+container:name=a+b&url=http://site.example:8080/x", ("a b", "http://site.example:8080/x")),
        ("ext+container:?name=%E6%97%A5&url=http://site.example/", ("日", "http://site.example/")),
        (
            "ext+container:id=firefox-container-2&url=http://site.example/",
            ("firefox-container-2", "http://site.example/"),
        ),
        ("ext+container:name=-x&url=http://site.example/", ("-x", "http://site.example/")),
    ],
)
def test_a_link_names_an_identity_and_a_url(link: str, expected: tuple[str, str]) -> None:
    found = parse_container_link(link)
    assert (found.identity, found.url, found.ignored) == (*expected, ())


def test_parts_without_effect_are_named() -> None:
    link = (
        "ext+container:name=Work&url=http://s.example/&color=red&icon=fruit&pinned=true&openInReaderMode=1&signature=0"
    )
    assert parse_container_link(link).ignored == ("openInReaderMode", "pinned")


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example\\@bank.example/",
        "https://bank.example\\.evil.example/",
        "https://%65vil.example/",
        "https://a。b.example/",
        "https://EVIL.example/\\@bank.example",
        "https://bank.example@evil.example/",
        "https://ａ.example/",
        "https://0x7f.1/",
        "https://faß.example/",
    ],
)
def test_a_link_is_refused_or_has_one_host_for_every_program(url: str) -> None:
    try:
        found = checked_web_url(url)
    except InvalidLink:
        return
    parsed = parse_url(url)
    assert parsed
    assert parsed.host == urlsplit(found).hostname == httpx.URL(found).raw_host.decode()


def test_a_password_in_the_url_is_left_out() -> None:
    assert parse_container_link("ext+container:name=W&url=https://u:p@site.example/").url == "https://site.example/"


@pytest.mark.parametrize(
    "link",
    [
        "",
        "--profile=/tmp/x.db",
        "-h",
        "ext+container:",
        "ext+container:name=Work",
        "ext+container:url=https://site.example/",
        "ext+container:name=&url=https://site.example/",
        "ext+container:name=%20&url=https://site.example/",
        "ext+container:name=Work&name=Play&url=https://site.example/",
        "ext+container:name=Work&url=https://a.example/&url=https://b.example/",
        "ext+container:id=firefox-default&url=https://site.example/",
        "ext+container:name=firefox-default&url=https://site.example/",
        "ext+container:id=2&url=https://site.example/",
        *(
            f"ext+container:name=Work&url={quote(url)}"
            for url in (
                "javascript:alert(1)",
                "file:///etc/passwd",
                "data:text/html,x",
                "about:blank",
                "moz-extension://x/",
                "ext+container:name=Work&url=https://site.example/",
                "--profile=x",
                "https://",
                "https://site.example/\nHost: x",
                "https://site.example/a b",
                "https://site.example:99999/",
                "https://site.example/\u202e",
                " https://site.example/",
                "https:site.example",
                "//site.example/",
            )
        ),
        "ext+container:name=a%00b&url=https://site.example/",
        "ext+container:name=a%0Ab&url=https://site.example/",
        "ext+container:name=%FF&url=https://site.example/",
        "ext+container:name=Work&url=https://site.example/" + "x" * 1_000_000,
        "ext+container:" + "&".join(f"a{number}=1" for number in range(1000)),
    ],
    ids=lambda link: link[:60],
)
def test_a_hostile_link_is_refused(link: str) -> None:
    with pytest.raises(InvalidLink) as caught:
        parse_container_link(link)
    assert len(str(caught.value)) < 400
    assert str(caught.value).isprintable()


@given(st.text())
def test_any_text_is_a_harmless_link_or_refused(text: str) -> None:
    for link in (text, f"ext+container:{text}", f"ext+container:name=Work&url={text}"):
        try:
            found = parse_container_link(link)
        except InvalidLink as error:
            assert not any(map(steers_a_terminal, str(error)))
        else:
            assert urlsplit(found.url).scheme in ("http", "https")
            assert found.url.isprintable()
            assert found.identity.isprintable()


@given(st.text(min_size=1).filter(lambda text: text.isprintable() and text.strip() and text != "firefox-default"))
def test_any_name_survives_encoding(name: str) -> None:
    link = "ext+container:" + urlencode({"name": name, "url": "https://site.example/?a=b&c=d#e"})
    assert parse_container_link(link) == ContainerLink(name, "https://site.example/?a=b&c=d#e")
