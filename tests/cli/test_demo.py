"""`hatbox demo`: the first thing that a new user runs, and the site of the tutorials."""

from __future__ import annotations

import signal
import socket
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from hatbox.testing.demo_site import DemoSite
from tests.cli.conftest import Cli, Start
from tests.cli.engines import has_chromium

BOTH = {"Work": "alice", "Personal": "bob"}


@pytest.fixture
def no_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HATBOX_CHROMIUM", "/nowhere/chromium")


@pytest.fixture
def site() -> Iterator[str]:
    with DemoSite() as running:
        yield running.url


def get(url: str, **headers: str) -> tuple[str, str]:
    """The body of a response, and its Set-Cookie header."""
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
        return response.read().decode(), response.headers.get("Set-Cookie", "")


@pytest.mark.process
def test_two_identities_are_signed_in_at_once(cli: Cli, no_chromium: None) -> None:
    result = cli("demo")
    assert result.status == 0, result.err
    rows = [line.split() for line in result.out.splitlines()]
    assert rows[:4] == [
        ["hatbox", "fetch", "Work", "alice"],
        ["hatbox", "fetch", "Personal", "bob"],
        ["httpx", "Work", "alice"],
        ["httpx", "Personal", "bob"],
    ]
    assert "Chromium was skipped: " in result.out
    assert "/nowhere/chromium" in result.out


@pytest.mark.process
def test_the_profile_of_the_user_is_not_used(cli: Cli, no_chromium: None, profile: Path, no_profile: None) -> None:
    assert cli("demo", "--json").json["users"] == {"hatbox fetch": BOTH, "httpx": BOTH}
    assert not profile.exists()


@pytest.mark.browser
@pytest.mark.skipif(not has_chromium(), reason="needs Playwright and a Chromium")
def test_a_browser_is_signed_in_as_both(cli: Cli) -> None:
    assert cli("demo", "--json").json["users"]["Chromium"] == BOTH


def test_the_site_runs_until_ctrl_c(program: Start) -> None:
    process = program("demo", "--serve", "--port", "0")
    assert process.stdout is not None
    line = process.stdout.readline().decode()
    url = line.partition(" at ")[2].partition(",")[0]
    assert get(f"{url}/me")[0] == "not signed in\n"
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0


def test_a_port_that_is_taken_is_named_with_a_remedy(cli: Cli) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        result = cli("demo", "--serve", "--port", str(port))
    assert result.status == 1
    assert f"port {port} is used by another program" in result.err
    assert "hatbox demo --serve --port " in result.err


def test_a_login_sets_a_session_cookie_and_me_shows_the_user(site: str) -> None:
    body, cookie = get(f"{site}/login?user=zo%C3%AB")
    assert (body, cookie) == ("zoë\n", "session=zo%C3%AB; Path=/; HttpOnly; SameSite=Lax")
    assert get(f"{site}/me", Cookie="session=zo%C3%AB")[0] == "zoë\n"
    assert get(f"{site}/me")[0] == "not signed in\n"


def test_a_logout_removes_the_cookie(site: str) -> None:
    assert get(f"{site}/logout") == ("not signed in\n", "session=; Path=/; Max-Age=0")


def test_a_browser_gets_a_page_in_which_a_name_is_only_text(site: str) -> None:
    body, _ = get(f"{site}/login?user=%3Cb%3E", Accept="text/html")
    assert "<title>Signed in as &lt;b&gt;</title>" in body
    assert "<b>" not in body
