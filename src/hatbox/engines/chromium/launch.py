"""Finds Chromium on the machine and launches it with the security settings of a normal browser."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from playwright.async_api import Browser, Playwright
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox import child_processes
from hatbox.engines.chromium.driver_connection import start_driver, stop_driver
from hatbox.engines.chromium.launch_errors import display_hint, why_not_executable, why_not_started
from hatbox.engines.chromium.sessions import Session, within
from hatbox.errors import EngineError

__all__ = ["VARIABLE", "Launched", "browser_path", "find_browser", "flags", "launch"]

logger = logging.getLogger("hatbox.engines.chromium")

VARIABLE: Final = "HATBOX_CHROMIUM"

_LAUNCH_TIMEOUT: Final = 30.0
_RESPONSE_TIMEOUT: Final = 5.0
_SHUTDOWN_TIMEOUT: Final = 3.0  # seconds until the browser is killed
_KILL_TIMEOUT: Final = 15.0  # Playwright kills a program that does not answer, and then says why
_KILL: Final = getattr(signal, "SIGKILL", signal.SIGTERM)  # Windows has no SIGKILL; its SIGTERM kills
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "google-chrome-beta")
_SCRIPT_FOLDER: Final = Path("/usr/bin")
_INSTALL: Final = {
    "linux": "sudo apt install chromium (Debian, Ubuntu), or sudo dnf install chromium (Fedora)",
    "darwin": "brew install --cask chromium",
    "win32": "winget install Google.Chrome",
}

# Playwright's list without the features that make a browser less safe (see docs/decisions.md), plus two that cost every
# identity memory: a spare renderer, and a renderer for the drop-down of the address bar. Of several
# --disable-features, Chromium uses the last. With IsolateSandboxedIframes, a sandboxed frame has its own process: it is
# outside the limits of a background page, and with `srcdoc` its first script runs before any that CDP adds, so that it
# could use WebRTC until then.
_DISABLED_FEATURES: Final = (
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "IsolateSandboxedIframes",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "Prerender2FallbackPrefetchSpecRules",
    "TcpPortRandomizationWin",
    "SpareRendererForSitePerProcess",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
)

# Playwright's list, plus limits of 0 for prefetches that run at once: CDP reports neither a prefetch by speculation
# rules nor the navigation that it answers (see docs/decisions.md). The first is for prefetches of every kind; without
# it, the second and the disabled Prerender2FallbackPrefetchSpecRules have the same effect.
_ENABLED_FEATURES: Final = (
    "CDPScreenshotNewSurface",
    "SkipListAccountsWithoutGaiaCookies",
    "PrefetchSchedulerTesting"
    ":kPrefetchSchedulerTestingActiveSetSizeLimitForBase/0/kPrefetchSchedulerTestingActiveSetSizeLimitForBurst/0",
    "PrefetchMultipleActiveSetSizeLimitForBase:prefetch_multiple_active_set_size_limit_for_base_value/0",
)

# Only for profiles in which an identity has a proxy. WebRTC uses no UDP without a proxy for it.
_WEBRTC_ARGS: Final = ("--webrtc-ip-handling-policy=disable_non_proxied_udp",)

# Default arguments of Playwright that are meant for tests and make browsing less safe.
_IGNORED_DEFAULT_ARGS: Final = (
    "--disable-popup-blocking",
    "--disable-ipc-flooding-protection",
    "--unsafely-disable-devtools-self-xss-warnings",
    "--enable-unsafe-swiftshader",
)
_IGNORED_HEADED_ARGS: Final = (
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--force-color-profile=srgb",
)


class Launched(NamedTuple):
    """A running browser."""

    playwright: Playwright
    browser: Browser
    session: Session
    """The browser-level CDP session."""
    user_agent: str
    """The User-Agent without "Headless", so that a site does not end a session when the mode changes."""
    pid: int
    """The process id of the browser."""
    blocks_webrtc: bool = False
    """Whether WebRTC sends nothing past a proxy. Identities with a proxy need that."""

    async def responds(self) -> bool:
        """Whether the browser answers, so that its pages can be saved."""
        try:
            await self.session.send("Browser.getVersion", seconds=_RESPONSE_TIMEOUT)
        except PlaywrightTimeout:
            return False
        except PlaywrightError:
            pass  # it has exited
        return True

    async def stop(self, *, kill: bool = False) -> None:
        """Close the browser and stop the Playwright driver. Kills the browser after a timeout. May be called twice."""
        try:
            if not kill:
                await within(self.browser.close(), seconds=_SHUTDOWN_TIMEOUT)
        except PlaywrightTimeout:
            kill = True
        except PlaywrightError:
            pass  # it has exited
        if kill:
            logger.warning("Chromium does not respond; its process %d is killed", self.pid)
            with contextlib.suppress(OSError):
                os.kill(self.pid, _KILL)
        await stop_driver(self.playwright)


def flags(*, headless: bool, block_webrtc: bool = False) -> tuple[list[str], list[str]]:
    """The arguments of the browser, and the default arguments of Playwright to ignore."""
    arguments = [
        f"--disable-features={','.join(_DISABLED_FEATURES)}",
        f"--enable-features={','.join(_ENABLED_FEATURES)}",
        *(_WEBRTC_ARGS if block_webrtc else ()),
    ]
    return arguments, [*_IGNORED_DEFAULT_ARGS, *(() if headless else _IGNORED_HEADED_ARGS)]


def find_browser(named: str | os.PathLike[str] | None = None) -> Path:
    """The path of the named browser: the argument, or HATBOX_CHROMIUM, or one found on the machine.

    Raises EngineError if it is not executable, or if none is found.
    """
    requested = named or os.environ.get(VARIABLE)
    if requested:
        found = shutil.which(requested)
        if found is None:
            raise EngineError(
                f"{why_not_executable(requested)}. Name another browser, or none to use the installed one."
            )
        return _executable_of(Path(found))
    for candidate in _candidates():
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return _executable_of(candidate)
    install = _INSTALL.get(sys.platform, _INSTALL["linux"])
    raise EngineError(
        f"Chromium not found. Install it with: {install}. "
        f"If it is installed, set its path with --browser or {VARIABLE}.",
        f"Chromium not found. Install it with: {install}. If it is installed, set its path with {VARIABLE}.",
    )


def browser_path(named: str | os.PathLike[str] | None = None) -> str:
    """The path of the named browser, as text without symbolic links; empty if none is found."""
    try:
        return os.path.realpath(find_browser(named))
    except EngineError:  # launch() says why
        return ""


async def launch(browser: str | os.PathLike[str] | None, *, headless: bool, block_webrtc: bool = False) -> Launched:
    """Launch a browser. Raises EngineError with a hint, and then leaves no process running."""
    path = find_browser(browser)
    if _is_firefox(path):
        raise EngineError(f"{path} is Firefox. Name a Chromium, or none to use the installed one.")
    args, ignored_args = flags(headless=headless, block_webrtc=block_webrtc)
    if (
        not headless
        and sys.platform == "linux"
        and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    ):
        raise EngineError(
            "no display found. Run in a desktop session, or use --headless.",
            "no display found. Run Hatbox in a desktop session.",
        )
    try:
        playwright = await start_driver()
    except PlaywrightError as error:
        raise EngineError(f"Playwright does not start: {error}") from error
    try:
        started = await within(
            playwright.chromium.launch(
                executable_path=path,
                headless=headless,
                args=args,
                ignore_default_args=ignored_args,
                chromium_sandbox=not _is_root(),
                env={**child_processes.foreign_environment()},
                # On a signal the engine first saves, then closes the browser itself.
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=_LAUNCH_TIMEOUT * 1000,
            ),
            seconds=_LAUNCH_TIMEOUT + _KILL_TIMEOUT,  # the first has the better message
        )
        session = await Session.of_browser(started)
        version, info = await asyncio.gather(
            session.send("Browser.getVersion"), session.send("SystemInfo.getProcessInfo")
        )
    except PlaywrightError as error:
        await stop_driver(playwright)
        hint = "" if headless else display_hint(os.environ)
        raise EngineError(f"{path} {why_not_started(str(error), _LAUNCH_TIMEOUT)}{hint}") from error
    except BaseException:
        await stop_driver(playwright)
        raise
    user_agent = version["userAgent"].replace("HeadlessChrome/", "Chrome/")
    pid = next(each["id"] for each in info["processInfo"] if each["type"] == "browser")
    child_processes.add(pid, "the browser")
    return Launched(playwright, started, session, user_agent, pid, block_webrtc)


def _candidates() -> Iterator[Path]:
    if sys.platform == "darwin":
        for folder in (Path("/Applications"), Path.home() / "Applications"):
            for name in ("Chromium", "Google Chrome"):
                yield folder / f"{name}.app" / "Contents" / "MacOS" / name
    elif sys.platform == "win32":
        for variable in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"):
            if folder_name := os.environ.get(variable):
                for name in ("Chromium", "Google\\Chrome"):
                    yield Path(folder_name) / name / "Application" / "chrome.exe"
    for name in _NAMES:
        if found := shutil.which(name):
            yield Path(found)


def _executable_of(path: Path) -> Path:
    """The binary, if the path is a wrapper script, which would add its own arguments."""
    if not _is_script(path):
        return path
    real = path.resolve()
    beside = [real.with_name(name) for name in ("chrome", "chromium")]
    in_lib = [
        Path(folder, real.name, real.name) for folder in ("/usr/lib", "/usr/lib64") if real.parent == _SCRIPT_FOLDER
    ]
    return next((each for each in (*beside, *in_lib) if each.is_file() and not _is_script(each)), path)


def _is_firefox(path: Path) -> bool:
    return path.resolve().with_name("application.ini").is_file()


def _is_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0  # Chromium's sandbox does not support root
