"""Which URLs an agent may open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.grants.grant import Grant
from hatbox.mcp.host_limits import check_frame, check_url, may_load
from hatbox.mcp.tool_output import ToolFailed


def grant(*hosts: str) -> Grant:
    return Grant(
        id="g",
        purpose="",
        identities=("firefox-container-2",),
        hosts=hosts or None,
        actions=frozenset({"pages"}),
        created=0.0,
        expires=None,
        revoked=None,
        program="",
        machine="",
    )


LIMITED = grant("*://*.site.example/*")


@pytest.mark.parametrize("url", ["https://site.example/a", "http://www.site.example:8080/", "about:blank"])
def test_hosts_of_the_grant_are_allowed(url: str) -> None:
    assert check_url(LIMITED, url) == url


@pytest.mark.parametrize(
    "url",
    [
        "https://other.example/",
        "https://site.example.evil.example/",
        "https://site.example@evil.example/",
        "https:\\\\evil.example\\site.example",
        "https://notsite.example/",
        "//site.example/",
        "",
    ],
)
def test_other_hosts_are_refused(url: str) -> None:
    with pytest.raises(ToolFailed):
        check_url(LIMITED, url)
    assert not may_load(LIMITED, url) or url == ""


@pytest.mark.parametrize(
    "url",
    [
        *("file:///etc/passwd", "chrome://version", "view-source:https://site.example/", "javascript:alert(1)"),
        *("data:text/html,x", "devtools://devtools/bundled/", "about:config", "ftp://site.example/", "blob:null/1"),
    ],
)
def test_schemes_other_than_http_are_refused_without_a_limit_too(url: str) -> None:
    for each in (LIMITED, grant()):
        with pytest.raises(ToolFailed, match="http://"):
            check_url(each, url)
        assert not may_load(each, url)


def test_the_message_names_the_allowed_hosts_and_what_to_do_but_no_path() -> None:
    with pytest.raises(ToolFailed) as caught:
        check_url(LIMITED, "https://other.example/reset?token=secret")
    message = str(caught.value)
    assert "https://other.example is not allowed" in message
    assert "*://*.site.example/*" in message
    assert "--host" in message
    assert "secret" not in message


def test_frames_of_other_hosts_are_not_shown() -> None:
    check_frame(LIMITED, "https://site.example/", is_main=True)
    check_frame(LIMITED, "blob:https://site.example/1", is_main=True)
    check_frame(LIMITED, "about:srcdoc", is_main=False)
    check_frame(LIMITED, "data:text/html,x", is_main=False)
    for granted in (LIMITED, grant()):
        check_frame(granted, "blob:null/5d6e", is_main=False)  # of a sandboxed document
        with pytest.raises(ToolFailed):
            check_frame(granted, "blob:null/5d6e", is_main=True)
    for url in (
        "https://other.example/",
        "blob:nullnull.example/1",
        "blob:https://other.example/1",
        "chrome://settings/",
        "file:///etc/passwd",
    ):
        for is_main in (True, False):
            with pytest.raises(ToolFailed):
                check_frame(LIMITED, url, is_main=is_main)


@given(st.text())
def test_any_text_is_either_refused_or_allowed(url: str) -> None:
    try:
        check_url(LIMITED, url)
    except ToolFailed:
        return
    assert may_load(LIMITED, url) or url == "about:blank"
