"""Creates and connects the parts of the engine for one launched browser. A restart creates new ones."""

from __future__ import annotations

from typing import NamedTuple

from hatbox.engines.chromium.browser_environment import BrowserEnvironment
from hatbox.engines.chromium.context_registry import ContextRegistry
from hatbox.engines.chromium.context_renewal import ContextRenewal
from hatbox.engines.chromium.extension_resources import ExtensionResources
from hatbox.engines.chromium.focus import FocusTracker
from hatbox.engines.chromium.minimized_pages import MinimizedPages
from hatbox.engines.chromium.page_events import PageEvents
from hatbox.engines.chromium.request_interception import RequestInterceptor
from hatbox.engines.chromium.rule_checks import RuleChecks
from hatbox.engines.chromium.start_page.start_pages import StartPages
from hatbox.engines.chromium.tab_pages import TabPages
from hatbox.engines.chromium.tab_targets import TabTargets
from hatbox.web_requests import RequestEvents

__all__ = ["RunningBrowser"]


class RunningBrowser(NamedTuple):
    """A launched browser with its contexts, pages and listeners."""

    env: BrowserEnvironment
    contexts: ContextRegistry
    pages: TabPages
    targets: TabTargets
    minimized: MinimizedPages
    focus: FocusTracker
    events: PageEvents
    interceptor: RequestInterceptor
    renewal: ContextRenewal
    start_pages: StartPages

    @classmethod
    def connect(
        cls, env: BrowserEnvironment, requests: RequestEvents, resources: ExtensionResources | None = None
    ) -> RunningBrowser:
        """Create the parts, and subscribe them to changes of the profile and to webRequest listeners."""
        contexts, pages, focus = ContextRegistry(env), TabPages(env.delegate), FocusTracker(env)
        targets = TabTargets(env, contexts, pages, focus)
        minimized = MinimizedPages(env, contexts, pages)
        start_pages = StartPages(env)
        events = PageEvents(env, contexts, pages, targets, minimized, focus, start_pages)
        rules = RuleChecks(env.services.rules, targets)
        interceptor = RequestInterceptor(
            env.launched.browser, requests, targets, rules, resources, env.services.endpoint_pages
        )
        contexts.delegate = events
        interceptor.start()
        contexts.start()
        minimized.start()
        renewal = ContextRenewal(env, contexts, pages, minimized)
        renewal.start()
        return cls(env, contexts, pages, targets, minimized, focus, events, interceptor, renewal, start_pages)

    def unsubscribe(self) -> None:
        """Ignore further changes of the profile. Requests are still intercepted."""
        self.contexts.stop()
        self.minimized.stop()
        self.renewal.stop()
        self.start_pages.stop()

    def abandon(self) -> None:
        """Stop all work and remove all pages: the browser has crashed, or another engine has the tabs."""
        self.interceptor.stop()
        self.unsubscribe()
        self.contexts.abandon()
        for pages in (self.targets, self.pages, self.minimized):
            pages.clear()
