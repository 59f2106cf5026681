"""Finding a Chromium on the machine, and starting it: over a pipe, lean, and no less safe than people are used to."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from playwright.async_api import Browser, Playwright, async_playwright
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox.engines.chromium.launch_errors import why_not_executable, why_not_started
from hatbox.engines.chromium.sessions import Session, within
from hatbox.errors import EngineError

__all__ = ["VARIABLE", "Launched", "find_browser", "flags", "launch"]

VARIABLE: Final = "HATBOX_CHROMIUM"

_START_SECONDS: Final = 30.0  # Playwright's driver ends the program after this time
_SHUTDOWN_TIMEOUT: Final = 10.0  # seconds for a browser to end, before it is killed
_KILL: Final = getattr(
    signal, "SIGKILL", signal.SIGTERM
)  # Windows has no SIGKILL; SIGTERM ends a process at once there
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "google-chrome-beta")
_SCRIPTS: Final = Path("/usr/bin")  # where distributions put them
_INSTALL: Final = {
    "linux": "sudo apt install chromium (Debian, Ubuntu), or sudo dnf install chromium (Fedora)",
    "darwin": "brew install --cask chromium",
    "win32": "winget install Google.Chrome",
}

# Playwright's own list, without what makes a browser less safe to use (see docs/decisions.md), and what makes every
# identity dear: a spare renderer, and a renderer for the drop-down of each address bar. Of several lists Chromium
# reads the last, which is this one.
_DISABLED_FEATURES: Final = (
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "TcpPortRandomizationWin",
    "SpareRendererForSitePerProcess",
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
)

# What Playwright asks for and people must not get: it is there to make tests simple.
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
    """A browser that runs."""

    playwright: Playwright
    browser: Browser
    session: Session
    """The session of the browser itself."""
    user_agent: str
    """What it should call itself: without windows it says so, and a session that is bound to the name would end."""
    process: int
    """The id of the browser's process."""

    async def stop(self) -> None:
        """End the browser and the Playwright driver. A browser that does not close is killed. May be called twice."""
        try:
            await within(self.browser.close(), "Browser.close", _SHUTDOWN_TIMEOUT)
        except PlaywrightTimeout:
            with contextlib.suppress(OSError):
                os.kill(self.process, _KILL)
        except PlaywrightError:
            pass  # it has ended
        await _stop(self.playwright)


def flags(*, headless: bool) -> tuple[list[str], list[str]]:
    """What to say to the browser, and what of Playwright's own words to leave out."""
    return [f"--disable-features={','.join(_DISABLED_FEATURES)}"], [
        *_IGNORED_DEFAULT_ARGS,
        *(() if headless else _IGNORED_HEADED_ARGS),
    ]


def find_browser(named: str | os.PathLike[str] | None = None) -> Path:
    """The browser that was named, by argument or by HATBOX_CHROMIUM, else one of the machine; raises EngineError."""
    asked = named or os.environ.get(VARIABLE)
    if asked:
        found = shutil.which(asked)
        if found is None:
            raise EngineError(f"{why_not_executable(asked)}. Name another browser, or none to use the installed one.")
        return _behind(Path(found))
    for candidate in _candidates():
        if os.access(candidate, os.X_OK) and candidate.is_file():
            return _behind(candidate)
    install = _INSTALL.get(sys.platform, _INSTALL["linux"])
    raise EngineError(
        f"no Chromium was found on this machine. Install it with: {install}. "
        f"If it is there, say where, with --browser or {VARIABLE}."
    )


async def launch(browser: str | os.PathLike[str] | None, *, headless: bool) -> Launched:
    """Start a browser. Raises EngineError, which says what to do, and then leaves no process running."""
    path = find_browser(browser)
    if _is_firefox(path):
        raise EngineError(f"{path} is Firefox. Name a Chromium, or none to use the installed one.")
    said, left_out = flags(headless=headless)
    if (
        not headless
        and sys.platform == "linux"
        and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    ):
        raise EngineError("there is no display to open windows on. Run it in a desktop, or headless.")
    try:
        playwright = await within(async_playwright().start(), "the start of its driver")
    except PlaywrightError as error:
        raise EngineError(f"Playwright does not start: {error}") from error
    try:
        started = await playwright.chromium.launch(
            executable_path=path,
            headless=headless,
            args=said,
            ignore_default_args=left_out,
            chromium_sandbox=not _is_root(),
            # Whoever ends us gives us the time to save; then the browser is ended here.
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
            timeout=_START_SECONDS * 1000,
        )
        session = Session(await within(started.new_browser_cdp_session(), "Target.attachToBrowserTarget"))
        version, info = await asyncio.gather(
            session.send("Browser.getVersion"), session.send("SystemInfo.getProcessInfo")
        )
    except PlaywrightError as error:
        await _stop(playwright)
        raise EngineError(f"{path} {why_not_started(str(error), _START_SECONDS)}") from error
    except BaseException:
        await _stop(playwright)
        raise
    user_agent = version["userAgent"].replace("HeadlessChrome/", "Chrome/")
    process = next(each["id"] for each in info["processInfo"] if each["type"] == "browser")
    return Launched(playwright, started, session, user_agent, process)


async def _stop(playwright: Playwright) -> None:
    """Stop Playwright's driver, which ends every program that it has started."""
    with contextlib.suppress(PlaywrightError):
        await within(playwright.stop(), "playwright.stop()", _SHUTDOWN_TIMEOUT)


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


def _behind(path: Path) -> Path:
    """The browser itself, where the path is a script that starts it with flags of its own."""
    if not _is_script(path):
        return path
    real = path.resolve()
    beside = [real.with_name(name) for name in ("chrome", "chromium")]
    apart = [Path(folder, real.name, real.name) for folder in ("/usr/lib", "/usr/lib64") if real.parent == _SCRIPTS]
    return next((each for each in (*beside, *apart) if each.is_file() and not _is_script(each)), path)


def _is_firefox(path: Path) -> bool:
    return path.resolve().with_name("application.ini").is_file()


def _is_script(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0  # for root there is no sandbox
