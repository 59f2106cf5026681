"""The proxy of an identity in the HTTP engine: it beats proxy.onRequest, and no listener leads a request around it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hatbox
from tests.api.browsing import PAGES, browsing, noting
from tests.clients.recording_proxy import RecordingProxy, RecordingSite
from tests.store.in_loop import in_loop


@pytest.fixture
def recorder() -> Iterator[RecordingSite]:
    with RecordingSite() as site:
        yield site


@pytest.fixture
def proxy(recorder: RecordingSite) -> Iterator[RecordingProxy]:
    with RecordingProxy(recorder.port, recorder.port) as proxy:
        yield proxy


def answers(other: RecordingProxy) -> list[Any]:
    return [
        {"type": "direct"},
        {"type": "http", "host": "127.0.0.1", "port": other.port},
        {"type": "socks", "host": "127.0.0.1", "port": other.port},
        {"type": "socks4", "host": "127.0.0.1", "port": other.port},
        [{"type": "http", "host": "127.0.0.1", "port": 1}, {"type": "direct"}],
    ]


@in_loop
async def test_the_proxy_of_the_identity_beats_proxy_on_request(
    tmp_path: Path, recorder: RecordingSite, proxy: RecordingProxy
) -> None:
    with RecordingProxy(recorder.port, recorder.port) as other:
        async with browsing(tmp_path) as web:
            await web.profile.identities.set_settings("Work", proxy=proxy.url("http"))
            for answer in answers(other):
                web.browser.proxy.onRequest.addListener(noting([], answer), PAGES)
                for host in ("site.test", "127.0.0.1"):  # proxy.onRequest would not be used for loopback
                    tab = await web.visit(f"http://{host}:{recorder.port}/redirect")
                    assert tab.title == "Recorded", tab.error
        assert other.asked == []
    assert set(recorder.peers) <= proxy.ports


@in_loop
async def test_a_listener_cannot_redirect_around_the_proxy_and_does_not_see_its_password(
    tmp_path: Path, recorder: RecordingSite
) -> None:
    with RecordingProxy(recorder.port, recorder.port, locked=True) as proxy:
        async with browsing(tmp_path) as web:
            web.listen_to_all()
            await web.profile.identities.set_settings("Work", proxy=proxy.url("http"))
            target = f"http://127.0.0.1:{recorder.port}/landed"
            web.answer(
                "onBeforeRequest", lambda details: None if "landed" in details["url"] else {"redirectUrl": target}
            )
            tab = await web.visit("http://site.test/")
            assert (tab.title, tab.url) == ("Recorded", target)
            assert "s3cr3t" not in repr(web.log)
            assert "Basic" not in repr(web.log)
    assert set(recorder.peers) <= proxy.ports


@in_loop
async def test_a_proxy_that_wants_credentials_does_not_ask_extensions(tmp_path: Path, recorder: RecordingSite) -> None:
    with RecordingProxy(recorder.port, recorder.port, locked=True) as proxy:
        async with browsing(tmp_path) as web:
            asked: list[Any] = []
            web.answer("onAuthRequired", asked.append)
            await web.profile.identities.set_settings("Work", proxy=f"http://127.0.0.1:{proxy.port}")
            assert (await web.visit("http://site.test/")).http_status == 407
            assert asked == []
    assert recorder.peers == []


@in_loop
async def test_a_setting_that_cannot_be_used_is_the_error_of_the_tab(
    tmp_path: Path, recorder: RecordingSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "httpx_socks", None)
    async with browsing(tmp_path) as web:
        await web.profile.identities.set_settings("Work", proxy="socks5://127.0.0.1:9")
        tab = await web.visit(f"http://127.0.0.1:{recorder.port}/")
        assert "pip install 'hatbox[socks]'" in tab.error
    assert recorder.peers == []


@in_loop
async def test_a_proxy_of_the_environment_is_named_if_it_is_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://me:hunter2@127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy", "HTTP_PROXY", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with hatbox.open(tmp_path / "profile.db") as profile, profile.http_engine() as engine:
        tab = await engine.wait_until_loaded((await profile.tabs.open("Work", "http://site.test/")).id)
    assert tab.error == "proxy unreachable: 127.0.0.1:1: Connection refused"


@in_loop
async def test_user_agent_and_locale_are_sent_and_change_at_run_time(tmp_path: Path, recorder: RecordingSite) -> None:
    async with browsing(tmp_path) as web:
        for agent, locale in (("A/1", "de-DE"), ("A/2", "fr")):
            await web.profile.identities.set_settings("Work", user_agent=agent, locale=locale)
            await web.visit(f"http://127.0.0.1:{recorder.port}/")
            sent = recorder.requests[-1]
            assert sent["user-agent"] == agent
            assert sent["accept-language"].startswith(locale)
