"""The API, HTTP clients and agents agree about the URLs that a grant allows: there is one check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import httpx
import msgspec
import pytest

import hatbox
from hatbox import Grant, PermissionDenied
from hatbox.api.granted_call import GrantedCall
from hatbox.clients.granted_httpx import GrantedRequests
from hatbox.mcp.host_limits import check_frame, check_url, may_load
from hatbox.mcp.tool_output import ToolRefused
from tests.store.in_loop import in_loop

HOSTS = ["*.site.example", "https://only.example", "b\u00fccher.example", "127.0.0.1", "[::1]"]
ALLOWED = [
    "https://site.example/",
    "http://a.b.site.example:8443/x?y#z",
    "HTTPS://SITE.EXAMPLE/",
    "https://user:password@site.example/",
    "https://other.example@site.example/",
    "https://only.example/",
    "https://xn--bcher-kva.example/",
    "https://b\u00fccher.example/",
    "http://127.0.0.1:9/",
    "http://[::1]:9/",
]
REFUSED = [
    "https://other.example/",
    "https://site.example.other.example/",
    "https://notsite.example/",
    "https://site.example@other.example/",
    "https://site.example:443@other.example/",
    "https://other.example/#@site.example/",
    "https://other.example/?https://site.example/",
    "http://only.example/",
    "https://sub.only.example/",
    "https://site.example./",
    "http://[::2]/",
    "http://127.0.0.2/",
    "ftp://site.example/",
    "file://site.example/etc/passwd",
]
NEVER = [
    "file:///etc/passwd",
    "data:text/html,https://site.example/",
    "javascript:https://site.example/",
    "about:config",
    "about:blank#https://site.example",
    "chrome://settings/",
    "view-source:https://site.example/",
    "moz-extension://site.example/",
    "ws://site.example/",
    "//site.example/",
    "site.example",
    "https://",
    "https:///",
    "https://site.example:99999/",
    "https://a b.site.example/",
    "https://[::1/",
    "",
]
"""Refused without a limit of hosts, too."""


def by_api(grant: Grant, url: str) -> bool:
    try:
        GrantedCall(grant, "tabs.create").require_url(url, "url")
    except PermissionDenied:
        return False
    return True


def by_agent(grant: Grant, url: str) -> bool:
    try:
        check_url(grant, url)
        check_frame(grant, url, is_main=True)
    except ToolRefused:
        return False
    return may_load(grant, url)


@in_loop
async def test_all_parts_agree_about_each_url(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        grant, _ = await profile.grants.create(identities="Work", hosts=HOSTS)
        unlimited, _ = await profile.grants.create(identities="Work", hosts=["<all_urls>"])

        def by_client(given: Grant, url: str) -> bool:
            requests = GrantedRequests(given, profile.grants, profile.activity_log, None, {})
            try:
                requests.start(httpx.Request("GET", url))
            except (PermissionDenied, httpx.InvalidURL):
                return False
            return True

        checks: list[Callable[[Grant, str], bool]] = [Grant.allows_url, by_api, by_agent, by_client]
        for check in checks:
            for url in ALLOWED:
                assert check(grant, url), (check, url)
                assert check(unlimited, url), (check, url)
            for url in (*REFUSED, *NEVER):
                assert not check(grant, url), (check, url)
            for url in NEVER:
                assert not check(unlimited, url), (check, url)


@pytest.mark.parametrize(
    "url", ["https:\\\\other.example/", "https:/other.example/", "https://site.example\\@other.example/"]
)
@in_loop
async def test_a_url_that_programs_read_differently_is_checked_as_it_is_used(tmp_path: Path, url: str) -> None:
    """httpx connects to another host than a browser: each is checked for what it connects to."""
    async with hatbox.open(tmp_path / "profile.db") as profile:
        grant, _ = await profile.grants.create(identities="Work", hosts=["site.example"])
        try:
            request = httpx.Request("GET", url)
        except httpx.InvalidURL:
            return
        requests = GrantedRequests(grant, profile.grants, profile.activity_log, None, {})
        allowed = request.url.host == "site.example"
        try:
            requests.start(request)
        except PermissionDenied:
            assert not allowed
        else:
            assert allowed
        call = GrantedCall(msgspec.structs.replace(grant, hosts=None), "tabs.create")
        assert "\\" not in call.require_url(url, "url").partition("?")[0]
