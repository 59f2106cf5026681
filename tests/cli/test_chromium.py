"""The commands for tabs with a real Chromium, without windows."""

from __future__ import annotations

import importlib.util
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli import engines
from tests.cli.conftest import Cli, Start
from tests.site import Site
from tests.waiting import block_until

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("playwright") is None, reason="needs Playwright: pip install 'hatbox[chromium]'"
)
needs_chromium = pytest.mark.skipif(not engines.has_chromium(), reason="needs a Chromium: sudo apt install chromium")


@pytest.fixture(autouse=True)
def no_engine_is_left(profile: Path, surroundings: None) -> Iterator[None]:
    yield
    engines.end(profile)


@pytest.fixture
def site() -> Iterator[Site]:
    with Site() as site:
        yield site


def assert_all_is_as_it_was(cli: Cli, profile: Path) -> None:
    """Work was hidden, and nothing was open."""
    assert cli("tabs", "--json").json == []
    assert cli("get", "Work", "--json").json["hidden"]
    assert engines.holder(profile) is None


@pytest.mark.process
def test_a_browser_that_is_not_there_leaves_everything_as_it_was(cli: Cli, profile: Path, tmp_path: Path) -> None:
    cli("hide", "Work")
    missing = tmp_path / "no-such-browser"
    result = cli("open", "Work", "https://site.example", "--headless", "--browser", str(missing))
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"hatbox: {missing} does not exist")
    assert len(result.err.splitlines()) == 1
    assert_all_is_as_it_was(cli, profile)


@pytest.mark.process
@pytest.mark.parametrize("verb", ["open", "browse"])
def test_without_any_browser_it_says_how_to_get_one(
    cli: Cli, profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("HATBOX_CHROMIUM", raising=False)
    cli("hide", "Work")
    result = cli(verb, "Work", "--headless", "--json")
    assert (result.status, result.out) == (1, "")
    assert result.error["type"] == "EngineError"
    assert "Install it with: " in result.error["message"]
    assert_all_is_as_it_was(cli, profile)


@pytest.mark.smoke
@pytest.mark.parametrize("verb", ["open", "browse"])
def test_without_playwright_it_says_that_playwright_is_missing(
    cli: Cli, program: Start, profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    (nothing / "playwright.py").write_text("raise ModuleNotFoundError(f'No module named {__name__!r}', name=__name__)")
    monkeypatch.setenv("PYTHONPATH", str(nothing))
    cli("hide", "Work")
    process = program(verb, "Work", "--headless")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, b"")
    assert err.decode() == (
        "hatbox: Playwright, which controls Chromium, is not installed. Install it with: "
        "pip install 'hatbox[chromium]'\n"
    )
    assert_all_is_as_it_was(cli, profile)


@needs_chromium
def test_two_accounts_hide_restart_and_show(cli: Cli, program: Start, profile: Path, site: Site) -> None:
    for name in ("Work", "Personal"):
        opened = cli("open", name, site.url("/login", user=name), "--headless")
        assert opened.out.endswith(f"in {name}: {site.url('/me')} (Signed in as {name})\n"), opened
    cli("open", "Work", site.url("/storage", write="kept"))
    cookie = cli("fetch", "Work", site.url("/me", as_="Work"))
    assert "Signed in as Work" in cookie.out

    assert cli("hide", "Work").out == "Hidden Work (firefox-container-2): 2 tabs\n"
    before = cli("tabs", "Work", "--json").json
    engines.end(profile)
    assert "Open the tabs with: hatbox browse" in cli("show", "Work").err
    cli("hide", "Work")

    browser = program("browse", "--headless", "--quiet", "--json")
    assert browser.stdout
    browser.stdout.readline()
    asked = len(site.requests("/me"))
    cli("show", "Work")
    block_until(lambda: "Work" in site.users("/me")[asked:], "a request of Work beside the one of Personal")

    def shown() -> Any:
        return cli("tabs", "Work", "--json").json

    titles = ["Signed in as Work", "local kept, indexed kept"]
    block_until(lambda: [tab["title"] for tab in shown()] == titles, "the pages of Work")
    assert [tab["url"] for tab in shown()] == [tab["url"] for tab in before]
    browser.send_signal(signal.SIGINT)
    _, err = browser.communicate(timeout=60)
    assert (browser.returncode, err) == (0, b"")
    assert not site.mixed
    assert not site.stale


@needs_chromium
def test_a_page_that_nobody_sees_is_no_success(cli: Cli, program: Start, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--headless")
    opened = cli("open", "Work", site.url("/page/2"))  # as a script does after its first call
    assert (opened.status, "Work is in a browser without windows" in opened.err) == (0, True), opened
    assert opened.out.startswith("Loaded tab 2 in Work")
    assert cli("open", "Work", site.url("/page/2"), "--browser", "/bin/true", "--headless").err.startswith(
        "--browser has no effect: Work is in a browser without windows"
    )
    assert cli("open", "Work", site.url("/page/2"), "--browser", "chromium").status == 1
    engines.end(profile)
    browser = program("browse", "--headless", "--quiet", "--json")
    assert browser.stdout
    browser.stdout.readline()
    opened = cli("open", "Work", site.url("/page/3"))
    assert opened.status == 1, opened
    assert "not visible: Work is in a browser without windows, of hatbox" in opened.err
    assert str(browser.pid) in opened.err
    opened = cli("open", "Work", site.url("/page/4"), "--headless")
    assert (opened.status, opened.err) == (0, "")
    browser.send_signal(signal.SIGINT)
    browser.communicate(timeout=60)


@pytest.mark.process
@needs_chromium
def test_the_browser_ends_after_its_last_tab(cli: Cli, profile: Path, site: Site) -> None:
    cli("open", "Work", site.url("/page/1"), "--headless")
    engine = engines.holder(profile)
    assert engine is not None
    cli("close", "--identity", "Work")
    engines.wait_for_exit(engine.process, profile)
