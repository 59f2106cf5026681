from __future__ import annotations

import asyncio
import builtins
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import hatbox
import hatbox.engines.chromium
from hatbox.engines.chromium import launch
from hatbox.engines.chromium.launch import find_browser, flags
from hatbox.errors import EngineError, MissingExtra
from hatbox.store.keys import Key
from tests.engines.chromium.real import browser_process, command_line, with_browser, with_own_driver
from tests.engines.chromium.test_processes import is_running
from tests.waiting import until_awaited


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


def test_without_a_browser_the_error_says_how_to_install_it(bare: Path) -> None:
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


def test_a_missing_named_browser_is_an_error_and_no_other_is_used(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bare / "chromium")
    monkeypatch.setenv("HATBOX_CHROMIUM", "/nowhere/chromium")
    with pytest.raises(EngineError, match=r"^/nowhere/chromium does not exist"):
        find_browser()


def test_the_binary_is_launched_and_not_its_wrapper_script(bare: Path, tmp_path: Path) -> None:
    real = program(tmp_path / "opt" / "chrome")
    script = program(tmp_path / "opt" / "google-chrome", b"#!/bin/sh\n")
    bare.mkdir()
    (bare / "google-chrome").symlink_to(script)
    assert find_browser() == real


def test_a_wrapper_script_without_a_binary_is_launched_itself(bare: Path) -> None:
    script = program(bare / "google-chrome-beta", b"#!/bin/sh\n")
    assert find_browser() == script


@pytest.mark.skipif(not Path("/usr/lib/chromium/chromium").exists(), reason="not Debian's Chromium")
def test_the_binary_of_debians_wrapper_script_is_found() -> None:
    assert find_browser("/usr/bin/chromium") == Path("/usr/lib/chromium/chromium")


def test_the_security_features_of_a_normal_browser_are_enabled() -> None:
    for headless in (True, False):
        (features, _), left_out = flags(headless=headless)
        assert "ThirdPartyStoragePartitioning" not in features
        assert "HttpsUpgrades" not in features
        assert "IsolateSandboxedIframes" in features  # such frames would be outside the limits of background pages
        assert "--disable-popup-blocking" in left_out


def test_only_a_browser_for_identities_with_a_proxy_limits_webrtc() -> None:
    (_, _, *others), _ = flags(headless=True, block_webrtc=True)
    assert others == ["--webrtc-ip-handling-policy=disable_non_proxied_udp"]
    (_, _, *others), _ = flags(headless=True)
    assert others == []


def test_without_playwright_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    real_import = builtins.__import__

    def without_playwright(name: str, *rest: Any, **named: Any) -> Any:
        if name.startswith("playwright"):
            raise ModuleNotFoundError(f"No module named {name!r}", name="playwright")
        return real_import(name, *rest, **named)

    for name in [each for each in sys.modules if each.startswith(("playwright", "hatbox.engines.chromium"))]:
        monkeypatch.delitem(sys.modules, name)
    # The import below binds a new package object: bind the old one again, for the tests that follow.
    monkeypatch.setattr(hatbox.engines, "chromium", hatbox.engines.chromium)
    monkeypatch.setattr(builtins, "__import__", without_playwright)
    with pytest.raises(MissingExtra, match=r"hatbox\[chromium\]"):
        hatbox.Profile(path).chromium()


def test_headed_mode_without_a_display_is_an_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EngineError, match="no display"):
        asyncio.run(launch.launch(program(tmp_path / "chromium"), headless=False))


def test_the_error_distinguishes_a_missing_program_from_one_that_is_not_executable(tmp_path: Path) -> None:
    plain = tmp_path / "chromium"
    plain.write_bytes(b"\x7fELF")
    for name, words in {
        plain: "is not executable",
        tmp_path: "is a folder",
        tmp_path / "missing": "does not exist",
        plain / "below": "does not exist",
        "no-such-browser": "was not found on the PATH",
    }.items():
        with pytest.raises(EngineError) as caught:
            find_browser(str(name))
        assert str(caught.value).startswith(f"{name} {words}. ")


@pytest.mark.browser
def test_the_error_of_a_failed_launch_has_the_output_of_the_browser(tmp_path: Path) -> None:
    lines = "".join(f"echo line {number} >&2; " for number in range(9))
    broken = program(tmp_path / "chromium", f"#!/bin/sh\n{lines}\nprintf 'no\\033[2J screen\\n' >&2\nexit 3\n".encode())
    with pytest.raises(EngineError) as caught:
        asyncio.run(launch.launch(broken, headless=True))
    said = "line 5 | line 6 | line 7 | line 8 | no\ufffd[2J screen"
    assert str(caught.value) == f"{broken} does not start: it ended with exit code 3. Its last output: {said}"


@pytest.fixture
def waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that is not a browser. It writes its pid to a file `pid` in its folder, then waits forever."""
    monkeypatch.setattr(launch, "_LAUNCH_TIMEOUT", 3)
    return program(tmp_path / "chromium", b'#!/bin/sh\necho hello >&2\necho $$ > "${0%/*}/pid"\nexec sleep 1000\n')


async def process_of(program: Path) -> int:
    async def started() -> int:
        file = program.with_name("pid")
        return int(file.read_text() or 0) if file.exists() else 0

    return await until_awaited(started)


async def has_ended(process: int) -> None:
    async def ended() -> bool:
        return not is_running(process)

    await until_awaited(ended)


@with_own_driver
async def test_a_program_that_is_not_a_browser_is_killed_after_the_timeout(waits: Path) -> None:
    with pytest.raises(EngineError, match=r"within 3 seconds. Is it a Chromium\? Its last output: hello$"):
        await launch.launch(waits, headless=True)
    await has_ended(await process_of(waits))


@with_own_driver
async def test_a_cancelled_launch_leaves_no_process_running(waits: Path) -> None:
    task = asyncio.ensure_future(launch.launch(waits, headless=True))
    process = await process_of(waits)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await has_ended(process)


HOST = """
import asyncio, sys
from hatbox.engines.chromium import launch
launch._LAUNCH_TIMEOUT = 3
asyncio.run(launch.launch(sys.argv[1], headless=True))
"""


def host_of(program: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", HOST, str(program)])


@with_browser
async def test_a_host_killed_during_launch_leaves_no_process_running(
    waits: Path,
) -> None:
    with host_of(waits) as host:
        process = await process_of(waits)
        host.kill()
    await has_ended(process)


@with_own_driver
async def test_a_firefox_named_by_mistake_is_not_left_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    if firefox is None:
        pytest.skip("Firefox is not installed")
    if launch._is_firefox(Path(firefox)):
        with pytest.raises(EngineError, match="is Firefox"):
            await launch.launch(firefox, headless=True)
    monkeypatch.setattr(launch, "_LAUNCH_TIMEOUT", 5)
    monkeypatch.setenv("HOME", str(tmp_path))
    script = f'#!/bin/sh\necho $$ > "${{0%/*}}/pid"\nexec {firefox} "$@"\n'
    behind_script = program(tmp_path / "browser", script.encode())
    with pytest.raises(EngineError, match="Is it a Chromium"):
        await launch.launch(behind_script, headless=True)
    await has_ended(await process_of(behind_script))


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
    of_playwright, ours = (each for each in said if each.startswith("--enable-features="))
    assert ours.startswith(f"{of_playwright},")  # Chromium uses the last


@with_browser
async def test_the_browser_gets_neither_the_key_nor_the_address_of_the_profile(
    browser: str, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HATBOX_KEY", Key.generate().text)
    monkeypatch.setenv("HATBOX_PROFILE", "postgresql://user:password@db.example/identities")
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        variables = Path(f"/proc/{await browser_process(runner)}/environ").read_text().split("\0")  # noqa: ASYNC240
    assert any(each.startswith("PATH=") for each in variables)
    assert not [each for each in variables if each.startswith("HATBOX_")]
