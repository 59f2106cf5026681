from __future__ import annotations

import asyncio
import builtins
import os
import sys
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.engines.chromium import launch
from hatbox.engines.chromium.launch import find_browser, flags
from hatbox.errors import EngineError, MissingExtra
from tests.engines.chromium.real import browser_process, command_line, with_browser


def program(path: Path, text: bytes = b"\x7fELF") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text)
    path.chmod(0o755)
    return path


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any browser; returns the one folder of its PATH."""
    monkeypatch.delenv("HATBOX_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(sys, "platform", "linux")
    return tmp_path / "bin"


def test_without_a_browser_the_error_says_how_to_get_one(bare: Path) -> None:
    with pytest.raises(EngineError, match=r"Install it with: sudo apt install chromium .*HATBOX_CHROMIUM"):
        find_browser()


def test_a_browser_is_found_on_the_path(bare: Path) -> None:
    chrome = program(bare / "google-chrome")
    assert find_browser() == chrome
    assert find_browser("google-chrome") == chrome


def test_the_argument_comes_before_the_variable_and_the_variable_before_the_path(
    bare: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    program(bare / "chromium")
    named, argument = program(tmp_path / "named"), program(tmp_path / "argument")
    monkeypatch.setenv("HATBOX_CHROMIUM", str(named))
    assert find_browser() == named
    assert find_browser(argument) == argument


def test_a_browser_that_is_not_there_is_an_error_and_no_other_is_taken(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(bare / "chromium")
    monkeypatch.setenv("HATBOX_CHROMIUM", "/nowhere/chromium")
    with pytest.raises(EngineError, match="/nowhere/chromium: there is no such browser"):
        find_browser()


def test_the_browser_itself_is_started_and_not_the_script_that_adds_flags(bare: Path, tmp_path: Path) -> None:
    real = program(tmp_path / "opt" / "chrome")
    script = program(tmp_path / "opt" / "google-chrome", b"#!/bin/sh\n")
    bare.mkdir()
    (bare / "google-chrome").symlink_to(script)
    assert find_browser() == real


def test_a_script_without_a_browser_beside_it_is_started_itself(bare: Path) -> None:
    script = program(bare / "google-chrome-beta", b"#!/bin/sh\n")
    assert find_browser() == script


@pytest.mark.skipif(not Path("/usr/lib/chromium/chromium").exists(), reason="not Debian's Chromium")
def test_debians_chromium_is_found_behind_its_script() -> None:
    assert find_browser("/usr/bin/chromium") == Path("/usr/lib/chromium/chromium")


def test_people_get_no_weaker_a_browser_than_they_are_used_to() -> None:
    for headless in (True, False):
        (features,), left_out = flags(headless=headless)
        assert "ThirdPartyStoragePartitioning" not in features
        assert "HttpsUpgrades" not in features
        assert "--disable-popup-blocking" in left_out


def test_without_playwright_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    real_import = builtins.__import__

    def without_playwright(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("playwright"):
            raise ModuleNotFoundError(f"No module named {name!r}", name="playwright")
        return real_import(name, *rest, **named)

    for name in [each for each in sys.modules if each.startswith(("playwright", "hatbox.engines.chromium"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(builtins, "__import__", without_playwright)
    with pytest.raises(MissingExtra, match=r"hatbox\[chromium\]"):
        hatbox.Profile(path).chromium()


def test_windows_without_a_display_are_refused_in_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EngineError, match="no display"):
        asyncio.run(launch.launch(program(tmp_path / "chromium"), headless=False))


def test_a_browser_that_does_not_start_is_an_engine_error(tmp_path: Path) -> None:
    broken = program(tmp_path / "chromium", b"#!/bin/sh\nexit 3\n")
    with pytest.raises(EngineError, match="does not start"):
        asyncio.run(launch.launch(broken, headless=True))


@with_browser
async def test_it_runs_over_a_pipe_with_a_sandbox_and_no_port(browser: str, path: Path) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        said = command_line(await browser_process(runner))
    assert "--remote-debugging-pipe" in said
    assert not [each for each in said if each.startswith("--remote-debugging-port")]
    assert "--disable-background-networking" in said
    assert "--no-first-run" in said
    assert ("--no-sandbox" in said) == (os.geteuid() == 0)
    last_list = [each for each in said if each.startswith("--disable-features=")][-1]
    assert "SpareRendererForSitePerProcess" in last_list
    assert "ThirdPartyStoragePartitioning" not in last_list
