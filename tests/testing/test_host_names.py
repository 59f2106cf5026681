"""Host names on loopback, with http and https, and the files of a site."""

from __future__ import annotations

import asyncio
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import pytest

from hatbox import Profile
from hatbox.testing.certificates import test_authority
from hatbox.testing.extensions import ExtensionUnderTest
from hatbox.testing.site import LoopbackSite
from tests.extensions.runtime.lab import needs_deno

StartExtension = Callable[..., Awaitable[ExtensionUnderTest]]
NAMES = ("example.com", "sub.example.com", "example.org")


@needs_deno
async def test_an_extension_reaches_names_with_http_and_https(extension: StartExtension, site: LoopbackSite) -> None:
    site.add_hosts(*NAMES)
    site.page("/data", "content", title="Data")
    ext = await extension(
        manifest={"permissions": ["*://*.example.com/*", "tabs"]},
        background="""
        browser.test.onMessage.addListener(async url => {
          const answer = await fetch(url).then(response => response.text(), error => error.name);
          browser.test.sendMessage("answer", answer);
        });
        """,
    )
    for url in ("http://example.com/data", "https://example.com/data", "https://sub.example.com/data"):
        await ext.send(url)
        assert "content" in await ext.message("answer"), url
    await ext.send("https://example.org/data")  # not permitted
    assert await ext.message("answer") == "TypeError"
    assert [(each.scheme, each.host) for each in site.requests] == [
        ("http", "example.com"),
        ("https", "example.com"),
        ("https", "sub.example.com"),
    ]
    tab = await ext.open("https://example.org/data")
    assert tab is not None
    assert (tab.url, tab.title, tab.error) == ("https://example.org/data", "Data", "")


async def test_cookies_belong_to_the_names(profile: Profile, site: LoopbackSite) -> None:
    site.add_hosts(*NAMES)
    site.page("/set", headers=[("Set-Cookie", "a=1; Domain=example.com; Secure; SameSite=None; Path=/")])
    async with profile.httpx("Work") as client:
        for url in (
            "https://example.com/set",
            "https://sub.example.com/x",
            "http://sub.example.com/x",
            "https://example.org/x",
        ):
            await client.get(url)
    assert [each.cookies for each in site.requests] == [{}, {"a": "1"}, {}, {}]


def test_other_clients_use_the_names_too_and_other_names_are_resolved_as_ever() -> None:
    before = (socket.getaddrinfo, ssl.create_default_context)
    with LoopbackSite() as site:
        site.add_hosts("example.com")
        assert site.url("/x", "example.com", "https") == "https://example.com/x"
        assert b"<title>/x" in urllib.request.urlopen(site.url("/x", "example.com")).read()
        context = ssl.create_default_context()
        answer = urllib.request.urlopen("https://example.com/y", context=context)
        assert b"<title>/y" in answer.read()
        assert httpx.get("https://example.com/z", verify=ssl.create_default_context()).status_code == 200
        assert httpx.get(site.url("/local")).status_code == 200

        async def connect() -> None:
            reader, writer = await asyncio.open_connection("example.com", 80)
            writer.write(b"GET /raw HTTP/1.0\r\nHost: example.com\r\n\r\n")
            assert b"/raw" in await reader.read()
            writer.close()

        asyncio.run(connect())
        with pytest.raises(ValueError, match="add_hosts"):
            site.url("/x", "other.example", "https")
        assert socket.getaddrinfo("127.0.0.1", 80)[0][4][:2] == ("127.0.0.1", 80)
    assert (socket.getaddrinfo, ssl.create_default_context) == before
    assert site.requests[-1].path == "/raw"


def test_only_contexts_of_the_test_trust_the_authority() -> None:
    outside = ssl.create_default_context()
    with LoopbackSite() as site:
        site.add_hosts("example.com")
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen("https://example.com/", context=outside)
        assert site.requests == []
    assert test_authority() is test_authority()


@pytest.mark.browser
async def test_chromium_reaches_the_names_too(profile: Profile, site: LoopbackSite) -> None:
    site.add_hosts(*NAMES)
    site.page("/page", "<script>document.title = `${isSecureContext} ${location.href}`</script>")
    async with profile.chromium(headless=True) as engine:
        for url, secure in (("https://example.com/page", "true"), ("http://sub.example.com/page", "false")):
            tab = await profile.tabs.open("Work", url)
            loaded = await engine.wait_until_loaded(tab.id)
            assert (loaded.title, loaded.error) == (f"{secure} {url}", "")


async def test_a_site_serves_files_unchanged(site: LoopbackSite, tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.css").write_text("p {}")
    site.folder("/data/", tmp_path)
    site.file("/plain", "<p>", headers=[("X-A", "1")])
    site.file("/bytes.bin", b"\x00\xff", content_type="application/x-test")
    async with httpx.AsyncClient() as client:
        css = await client.get(site.url("/data/deep/a.css"))
        plain = await client.get(site.url("/plain"))
        raw = await client.get(site.url("/bytes.bin"))
    assert (css.text, css.headers["content-type"]) == ("p {}", "text/css; charset=utf-8")
    assert (plain.text, plain.headers["content-type"], plain.headers["x-a"]) == ("<p>", "text/html; charset=utf-8", "1")
    assert (raw.content, raw.headers["content-type"]) == (b"\x00\xff", "application/x-test")
