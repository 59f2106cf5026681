"""A profile, the HTTP engine and a script that listens: what tests of webRequest and proxy have in common."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

import hatbox
from hatbox.api.browser import Browser
from hatbox.engines.runner import EngineRunner

ALL = ("webRequest", "webRequestBlocking", "proxy", "tabs", "cookies", "<all_urls>")
PAGES: Any = {"urls": ["<all_urls>"], "types": ["main_frame"]}
EVENTS = {
    "onBeforeRequest": ["blocking"],
    "onBeforeSendHeaders": ["blocking", "requestHeaders"],
    "onSendHeaders": ["requestHeaders"],
    "onHeadersReceived": ["blocking", "responseHeaders"],
    "onAuthRequired": ["blocking", "responseHeaders"],
    "onBeforeRedirect": ["responseHeaders"],
    "onResponseStarted": ["responseHeaders"],
    "onCompleted": ["responseHeaders"],
    "onErrorOccurred": None,
}


class Browsing:
    """The engine runs; `browser` is a script's, and `log` what it has heard, where it listens to all."""

    def __init__(self, profile: hatbox.Profile, engine: EngineRunner, browser: Browser) -> None:
        self.profile = profile
        self.engine = engine
        self.browser = browser
        self.log: list[tuple[str, dict[str, Any]]] = []

    def script(self, permissions: Iterable[str] = ALL, caller_id: str = "script") -> Browser:
        return self.profile.browser(permissions, caller_id)

    async def visit(self, url: str, identity: str = "Work") -> hatbox.Tab:
        tab = await self.profile.tabs.open(identity, url)
        return await self.engine.wait_until_loaded(tab.id)

    def listen_to_all(self) -> None:
        for name, options in EVENTS.items():
            extra = (PAGES,) if options is None else (PAGES, options)
            getattr(self.browser.webRequest, name).addListener(
                lambda details, name=name: self.log.append((name, details)), *extra
            )

    def answer(self, event: str, answer: Any, browser: Browser | None = None, options: Any = None) -> None:
        """A blocking listener that answers so: with what the function returns, if it is one."""

        def listener(details: Any) -> Any:
            return answer(details) if callable(answer) else answer

        namespace = (browser or self.browser).webRequest
        getattr(namespace, event).addListener(listener, PAGES, options or EVENTS[event])

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.log]

    def details(self, event: str) -> list[dict[str, Any]]:
        return [details for name, details in self.log if name == event]


@contextlib.asynccontextmanager
async def browsing(path: Path, permissions: Iterable[str] = ALL, **options: Any) -> AsyncIterator[Browsing]:
    async with hatbox.open(path / "profile.db") as profile, profile.http_engine(trust_env=False, **options) as engine:
        yield Browsing(profile, engine, profile.browser(permissions))


def noting(into: list[Any], answer: Any) -> Callable[[Any], Any]:
    """A listener that keeps what it is told, and answers so."""

    def listener(details: Any) -> Any:
        into.append(details)
        return answer

    return listener
