from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.api.caller import Caller
from hatbox.urls.match_patterns import (
    ALL_URLS,
    HostPermissions,
    host_permissions,
    parse_match_pattern,
    parse_url_pattern,
)
from hatbox.urls.url import parse_url

labels = st.from_regex(r"[a-z]([a-z0-9-]{0,5}[a-z0-9])?", fullmatch=True)
hosts = st.lists(labels, min_size=1, max_size=4).map(".".join)
schemes = st.sampled_from(["http", "https"])
patterns = st.one_of(
    st.just(ALL_URLS),
    st.builds(
        "{}://{}{}/{}".format,
        st.sampled_from(["*", "http", "https", "ws"]),
        st.sampled_from(["", "*."]),
        hosts,
        st.sampled_from(["*", "", "x/*"]),
    ),
    st.builds("{}://*/*".format, st.sampled_from(["*", "http", "https"])),
)


def allowed(*permissions: str) -> HostPermissions:
    return host_permissions(frozenset(permissions))


@pytest.mark.parametrize(
    ("pattern", "scheme", "host"),
    [
        (ALL_URLS, "https", "site.example"),
        (ALL_URLS, "http", "[::1]"),
        ("*://*/*", "http", "localhost"),
        ("https://site.example/*", "https", "site.example"),
        ("https://site.example/private/*", "https", "site.example"),
        ("https://site.example/", "https", "site.example"),
        ("*://*.site.example/*", "http", "site.example"),
        ("*://*.site.example/*", "https", "a.b.site.example"),
        ("http://10.0.0.1/*", "http", "10.0.0.1"),
        ("http://[::1]/*", "http", "[::1]"),
        ("https://site.example./*", "https", "site.example."),
    ],
)
def test_a_pattern_gives_permission_for_what_it_matches(pattern: str, scheme: str, host: str) -> None:
    assert allowed("cookies", pattern).allow_url(scheme, host)


@pytest.mark.parametrize(
    ("pattern", "scheme", "host"),
    [
        ("https://site.example/*", "http", "site.example"),
        ("https://site.example/*", "https", "sub.site.example"),
        ("https://site.example:8443/*", "https", "site.example"),
        ("*://*.site.example/*", "https", "othersite.example"),
        ("*://*.site.example/*", "https", "example"),
        ("https://SITE.example/*", "https", "site.example"),
        ("https://bücher.example/*", "https", "xn--bcher-kva.example"),
        ("*://*/*", "ftp", "site.example"),
        ("ws://site.example/*", "http", "site.example"),
        ("file:///*", "https", "site.example"),
    ],
)
def test_and_for_nothing_else(pattern: str, scheme: str, host: str) -> None:
    assert parse_match_pattern(pattern) is not None
    assert not allowed(pattern).allow_url(scheme, host)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "*",
        "cookies",
        "site.example",
        "*.site.example",
        "https://site.example",
        "http*://site.example/*",
        "https://*site.example/*",
        "https://site.*/*",
        "https:///*",
        "foo://site.example/*",
        "<ALL_URLS>",
        " https://site.example/*",
    ],
)
def test_what_is_no_pattern_gives_no_permission(text: str) -> None:
    assert parse_match_pattern(text) is None
    assert allowed(text) == HostPermissions(())


def test_a_cookie_is_visible_with_access_to_a_page_that_reads_it() -> None:
    deep = allowed("https://*.sub.site.example/*")
    assert deep.allow_cookie("site.example", host_only=False, secure=True)
    assert not deep.allow_cookie("site.example", host_only=True, secure=True)
    assert not deep.allow_cookie("other.example", host_only=False, secure=False)
    assert not deep.allow_cookie("ub.site.example", host_only=False, secure=False)
    insecure = allowed("http://site.example/*")
    assert insecure.allow_cookie("site.example", host_only=True, secure=False)
    assert not insecure.allow_cookie("site.example", host_only=True, secure=True)
    assert not allowed("ws://site.example/*").allow_cookie("site.example", host_only=True, secure=False)


@given(patterns, schemes, hosts)
def test_all_urls_includes_every_other_pattern(pattern: str, scheme: str, host: str) -> None:
    assert allowed(pattern).allow_url(scheme, host) <= allowed(ALL_URLS).allow_url(scheme, host)


@given(patterns, schemes, hosts)
def test_access_to_a_page_includes_the_cookies_that_it_reads(pattern: str, scheme: str, host: str) -> None:
    if allowed(pattern).allow_url(scheme, host):
        labels = host.split(".")
        secure = scheme == "https"
        assert allowed(pattern).allow_cookie(host, host_only=True, secure=secure)
        for first in range(len(labels)):
            assert allowed(pattern).allow_cookie(".".join(labels[first:]), host_only=False, secure=secure)


@given(st.lists(patterns, max_size=3), schemes, hosts)
def test_several_permissions_give_what_each_of_them_gives(several: list[str], scheme: str, host: str) -> None:
    assert allowed(*several).allow_url(scheme, host) == any(allowed(each).allow_url(scheme, host) for each in several)


@given(st.text())
def test_any_text_is_a_pattern_or_none(text: str) -> None:
    parse_match_pattern(text)


def test_hosts_can_be_granted_and_revoked_while_the_caller_lives() -> None:
    caller = Caller("test", ["cookies"])
    assert not caller.hosts.allow_url("https", "site.example")
    caller.permissions.add("https://site.example/*")
    assert caller.hosts.allow_url("https", "site.example")
    caller.permissions.clear()
    assert not caller.hosts.allow_url("https", "site.example")


@pytest.mark.parametrize(
    ("pattern", "url", "matches"),
    [
        ("<all_urls>", "https://site.example/x", True),
        ("<all_urls>", "about:blank", False),
        ("about:*", "about:blank", True),
        ("about:blank", "about:blank", True),
        ("about:config", "about:blank", False),
        ("*://site.example/*", "http://site.example/x?y#z", True),
        ("*://site.example/*", "http://sub.site.example/", False),
        ("*://*.site.example/*", "http://sub.site.example/", True),
        ("https://site.example/*", "http://site.example/", False),
        ("https://site.example/x", "https://site.example/x", True),
        ("https://site.example/x", "https://site.example/x#here", True),
        ("https://site.example/x", "https://site.example/x?y", False),
        ("https://site.example/x?y", "https://site.example/x?y", True),
        ("https://site.example/?", "https://site.example/a", False),
        ("https://site.example/*/b", "https://site.example/a/b", True),
        ("https://site.example/a.c", "https://site.example/abc", False),
        ("https://site.example:8443/*", "https://site.example:8443/", False),
        ("https://site.example/*", "https://site.example:8443/", True),
        ("https://*site.example/*", "https://mysite.example/", False),
    ],
)
def test_a_pattern_for_tabs_counts_whole(pattern: str, url: str, matches: bool) -> None:
    parsed, read = parse_url_pattern(pattern), parse_url(url)
    assert parsed is not None
    assert read is not None
    assert parsed.matches(read) == matches


@pytest.mark.parametrize(
    "text", ["", "foo", ":", "about:", "http://", "http://site.example", "http:///x", "http:x", "*"]
)
def test_what_is_no_pattern_for_tabs_is_none(text: str) -> None:
    assert parse_url_pattern(text) is None
