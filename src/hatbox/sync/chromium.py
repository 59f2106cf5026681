"""Chromium for programs without an event loop, with Playwright pages whose calls return when they are done."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, cast

from hatbox.identity.model import IdentityLike
from hatbox.sync.loop_thread import LoopThread
from hatbox.tabs.tab_model import BLANK

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from hatbox.engines.chromium.chromium_runner import ChromiumRunner

__all__ = ["SyncChromium"]


class SyncChromium:
    """A running Chromium, to be used with `with`."""

    def __init__(self, create: Callable[[], ChromiumRunner], loop: LoopThread) -> None:
        self._create = create
        self._loop = loop
        self._runner: ChromiumRunner | None = None

    def new_page(self, identity: IdentityLike, url: str = BLANK, *, keep: bool = False) -> Page:
        """Open a tab in an identity, and return its page when it has loaded: a page of Playwright's synchronous API.

        The tab is closed with the engine. With `keep`, it stays in the profile.
        """
        return self._page(lambda runner: runner.new_page(identity, url, keep=keep))

    def page(self, tab_id: int) -> Page:
        """The page of a tab, as for new_page()."""
        return self._page(lambda runner: runner.page(tab_id))

    def wait_until_settled(self) -> None:
        """Wait until every tab change made so far is applied: pages opened or closed, navigations started."""
        self._loop.run(lambda: self._running().wait_until_settled())

    def wait_until_synced(self) -> None:
        """Wait until cookies and site data of the browser are saved in the profile."""
        self._loop.run(lambda: self._running().wait_until_synced())

    def _page(self, request: Callable[[ChromiumRunner], Any]) -> Page:
        return cast("Page", _wrapped(self._loop.run(lambda: request(self._running())), self._loop))

    def _running(self) -> ChromiumRunner:
        if self._runner is None:
            raise RuntimeError("Chromium is not running. Start it with: with profile.chromium() as engine")
        return self._runner

    def __enter__(self) -> SyncChromium:
        async def start() -> ChromiumRunner:
            return await self._create().__aenter__()

        self._runner = self._loop.run(start)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        runner, self._runner = self._running(), None
        self._loop.run(lambda: runner.__aexit__(kind, error, trace))


class _Proxy:
    """An object of Playwright's asynchronous API whose methods run in the thread of the loop and wait."""

    def __init__(self, target: Any, loop: LoopThread) -> None:
        self._target = target
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._target, name)
        if inspect.isawaitable(value):  # such as the value of expect_navigation()
            return self._run(lambda: value)
        if not callable(value) or inspect.isclass(value):
            return _wrapped(value, self._loop)

        def call(*arguments: Any, **options: Any) -> Any:
            return self._run(
                value, *map(_unwrapped, arguments), **{key: _unwrapped(each) for key, each in options.items()}
            )

        return call

    def __enter__(self) -> Any:
        return self._run(self._target.__aenter__)

    def __exit__(self, *error: Any) -> Any:
        return self._run(self._target.__aexit__, *error)

    def __repr__(self) -> str:
        return repr(self._target)

    def _run(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        async def called() -> Any:
            result = function(*arguments, **options)
            return await result if inspect.isawaitable(result) else result

        return _wrapped(self._loop.run(called), self._loop)


def _wrapped(value: Any, loop: LoopThread) -> Any:
    if isinstance(value, list):
        return [_wrapped(each, loop) for each in value]
    return _Proxy(value, loop) if type(value).__module__.startswith("playwright.") else value


def _unwrapped(value: Any) -> Any:
    return value._target if isinstance(value, _Proxy) else value
