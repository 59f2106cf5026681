"""The pytest plugin: fixtures, support for coroutine tests that use them, and extension logs in failure reports.

Each test has one event loop for its fixtures, its body and the teardown. pytest imports this module wherever Hatbox
is installed, so the rest of Hatbox is imported only when a fixture is used.
"""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hatbox.clock import Clock
    from hatbox.engines.runner import EngineRunner
    from hatbox.extensions.extension import Extension
    from hatbox.extensions.runtime import LogEntry
    from hatbox.profile import Profile
    from hatbox.tabs.tab_model import Window
    from hatbox.testing.extensions import ExtensionUnderTest
    from hatbox.testing.site import LoopbackSite

__all__: list[str] = []

_LOOP = "hatbox_loop"
_LOAD_SECONDS = 5.0
_LOGS = pytest.StashKey[list[tuple[str, list["LogEntry"]]]]()


@pytest.fixture(name=_LOOP)
def _hatbox_loop() -> Iterator[asyncio.Runner]:
    """The event loop of one test."""
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture
def profile(hatbox_loop: asyncio.Runner, tmp_path: Path) -> Iterator[Profile]:
    """An open temporary profile with the four default identities."""
    from hatbox.extensions.package.package_cache import PackageCache
    from hatbox.profile import Profile

    opened = Profile(tmp_path / "hatbox" / "profile.db")
    opened.extensions.packages.cache = PackageCache(tmp_path / "hatbox" / "packages")  # not the user's cache
    opened.extensions.packages.languages = ("en-US", "en")  # independent of the machine
    hatbox_loop.run(opened.__aenter__())
    yield opened
    hatbox_loop.run(opened.close())


@pytest.fixture
def clock(profile: Profile) -> Clock:
    """The clock of extensions: `await clock.advance(60)` advances it by a minute."""
    return profile.clock


@pytest.fixture
def engine(hatbox_loop: asyncio.Runner, profile: Profile) -> EngineRunner:
    """A running HTTP engine: it loads the pages of tabs with real requests."""
    runner = profile.http_engine(timeout=_LOAD_SECONDS)
    hatbox_loop.run(runner.__aenter__())
    return runner


@pytest.fixture
def first_window(hatbox_loop: asyncio.Runner, profile: Profile) -> Window:
    """A window with one tab, about:blank, as a browser has it after its start. A new profile has no window."""
    from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID

    async def open_window() -> Window:
        tab = await profile.tabs.open(DEFAULT_COOKIE_STORE_ID, "about:blank")
        return next(each for each in await profile.tabs.windows() if each.id == tab.window_id)

    return hatbox_loop.run(open_window())


@pytest.fixture
def extension(
    request: pytest.FixtureRequest, profile: Profile, engine: EngineRunner, tmp_path: Path
) -> Iterator[Callable[..., Awaitable[ExtensionUnderTest]]]:
    """`await extension(path)` runs the extension in a folder or file until the test ends. May be called repeatedly.

    Without a path, an extension is made of `manifest`, `background`, the source of its background script, and `files`,
    the contents of other files by path: texts, or data that is written as JSON. Its scripts have `browser.test`.

    With `install` it is installed in the profile, as users do it; otherwise it is a temporary extension.

    The test fails if the background script fails, unless `errors_allowed` is set, and if an assertion of `browser.test`
    has failed. With `engine="chromium"`, tabs and pages of the extension are shown in a headless Chromium. Other
    options are those of `profile.extensions.start`.
    """
    from hatbox.errors import HatboxError
    from hatbox.testing.extensions import ExtensionUnderTest
    from hatbox.testing.made_extensions import ExtensionSource, make_extension
    from hatbox.testing.script_reports import ScriptReports

    logs = request.node.stash.setdefault(_LOGS, [])
    every: list[tuple[str, ScriptReports]] = []
    runners = {"http": engine}

    async def use_engine(name: str) -> EngineRunner:
        """The engine with this name. It replaces the HTTP engine: one engine serves an identity."""
        if name not in ("http", "chromium"):
            raise TypeError(f'unknown engine "{name}". Use "http" or "chromium".')
        if name not in runners:
            await engine.stop()
            runners[name] = profile.chromium(headless=True)
            await runners[name].__aenter__()
        elif name == "http" and "chromium" in runners:
            raise TypeError('this test runs an extension with engine="chromium": use that for all its extensions')
        return runners[name]

    async def start(
        path: str | os.PathLike[str] | None = None,
        *,
        manifest: Mapping[str, Any] | None = None,
        background: str = "",
        files: Mapping[str, Any] | None = None,
        errors_allowed: bool = False,
        engine: str = "http",
        install: bool = False,
        **options: Any,
    ) -> ExtensionUnderTest:
        runner = await use_engine(engine)
        made_in = None
        if path is None:
            made_in = tmp_path / f"extension-{len(every) + 1}"
            path = make_extension(made_in, manifest or {}, background, files or {})
        elif manifest is not None or background or files is not None:
            raise TypeError("an extension has either a path, or a manifest, background and files")
        reports = ScriptReports()
        every.append((os.fspath(path), reports))
        log: list[LogEntry] = []
        logs.append((os.fspath(path), log))
        options = {"on_log": log.append, "on_test_report": reports.receive, **options}
        try:
            if install:
                installed = await profile.extensions.install(path)
                source = ExtensionSource(
                    partial(_run_installed, profile, installed.extension.id, **options),
                    partial(profile.extensions.install, path),
                    made_in,
                )
            else:
                source = ExtensionSource(partial(profile.extensions.start, path, **options), None, made_in)
            started = await source.run()
        except HatboxError as error:
            pytest.fail(f"The extension {os.fspath(path)} cannot be run: {error}", pytrace=False)
        running = ExtensionUnderTest(started, profile, runner, log, reports, source)
        if running.errors and not errors_allowed:
            problems = "\n".join(running.errors)
            pytest.fail(f"The background of {os.fspath(path)} failed:\n{problems}", pytrace=False)
        return running

    yield start
    failures = [f"{path}: {failure}" for path, reports in every for failure in reports.failures]
    if failures:
        pytest.fail("Assertions of browser.test failed:\n" + "\n".join(failures), pytrace=False)


async def _run_installed(profile: Profile, extension_id: str, **options: Any) -> Extension:
    """Run the current version of an installed extension."""
    return await profile.extensions.start(await profile.extensions.package(extension_id), **options)


@pytest.fixture
def site(hatbox_loop: asyncio.Runner) -> Iterator[LoopbackSite]:  # noqa: ARG001 - enables coroutine tests
    """A web server on loopback: `site.page("/a", title="A")`, `site.url("/a")`, `site.requests`.

    `site.add_hosts("example.com")` makes it serve `http://example.com/` and `https://example.com/` too.
    """
    from hatbox.testing.site import LoopbackSite

    with LoopbackSite() as running:
        yield running


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register after all installed plugins: of several `tryfirst` hooks, pytest calls the last registered one first."""
    config.pluginmanager.register(_CoroutineTests(), "hatbox-runs")


class _CoroutineTests:
    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> bool | None:
        """Run a coroutine test on the event loop of its fixtures."""
        if not _is_ours(pyfuncitem):
            return None
        runner = pyfuncitem._request.getfixturevalue(_LOOP)
        names = pyfuncitem._fixtureinfo.argnames
        runner.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
        return True


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Replace the items of pytest-asyncio for tests that use our fixtures: it would use another event loop."""
    for index, item in enumerate(items):
        if isinstance(item, pytest.Function) and type(item) is not pytest.Function and _is_ours(item):
            items[index] = _plain(item)


def _is_ours(item: pytest.Function) -> bool:
    return _LOOP in item.fixturenames and inspect.iscoroutinefunction(item.obj)


def _plain(item: pytest.Function) -> pytest.Function:
    plain: pytest.Function = pytest.Function.from_parent(
        item.parent,
        name=item.name,
        callspec=getattr(item, "callspec", None),
        callobj=item.obj,
        fixtureinfo=item._fixtureinfo,
        keywords=item.keywords,
        originalname=item.originalname,
    )
    plain.own_markers = [mark for mark in item.own_markers if mark.name != "asyncio"]
    return plain


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the logs of its extensions to the report of a failed test."""
    report = yield
    if report.failed:
        for path, log in item.stash.get(_LOGS, []):
            if log:
                report.sections.append((f"extension {path}", "\n".join(map(_line, log))))
    return report


def _line(entry: LogEntry) -> str:
    return f"{entry.level if entry.kind == 'console' else entry.kind}: {entry}"
