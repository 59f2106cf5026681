"""Intercepts the requests of a browser with CDP Fetch while webRequest listeners are registered, site rules exist,
or pages may load files of extensions.

Without all three there is no session and no overhead.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.extension_resources import RESOURCE_PATTERNS, ExtensionResources
from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.chromium.in_flight_requests import InFlightRequests
from hatbox.engines.chromium.paused_requests import PausedRequests
from hatbox.engines.chromium.request_details import TabLookup
from hatbox.engines.chromium.resource_answers import ResourceAnswers
from hatbox.engines.chromium.resource_floods import ResourceFloods
from hatbox.engines.chromium.resource_types import DOCUMENT_TYPES
from hatbox.engines.chromium.rule_checks import RuleChecks
from hatbox.engines.chromium.sessions import Session, within
from hatbox.engines.navigation_rules import NavigationRules
from hatbox.tasks import Tasks
from hatbox.web_requests import RequestEvents

__all__ = ["RequestInterceptor"]

logger = logging.getLogger("hatbox.engines.chromium")

_FIRST_RETRY: Final = 0.5  # seconds after which a failed Fetch.enable is sent again; doubled each time
_LAST_RETRY: Final = 30.0


class RequestInterceptor:
    """Enables and configures Fetch as listeners and site rules are added and removed."""

    def __init__(
        self,
        browser: Browser,
        requests: RequestEvents,
        tabs: TabLookup,
        rules: RuleChecks | None = None,
        resources: ExtensionResources | None = None,
        programs: EndpointPages | None = None,
    ) -> None:
        self.config: _FetchConfig | None = None
        """The configuration that Chromium has; None while nothing is intercepted."""
        self.in_flight = InFlightRequests()
        self._browser = browser
        self._requests = requests
        self._tabs = tabs
        self._rules = rules
        self._resources = resources
        self._programs = programs
        self._session: Session | None = None
        self._frames: FrameTree
        self._paused: PausedRequests
        self._update: asyncio.Task[None] | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._retry_delay = _FIRST_RETRY
        self._rules_have_changed = False  # since service workers were last checked
        self._tasks = Tasks(_log_failure)
        self._has_warned = False
        self._is_stopped = False

    @property
    def has_session(self) -> bool:
        """Whether there is a CDP session."""
        return self._session is not None

    def start(self) -> None:
        """Intercept requests whenever listeners, site rules or files for pages exist."""
        self._requests.on_listeners_changed.add_listener(self._on_listeners_changed)
        if self._rules is not None:
            self._rules.rules.on_presence_changed.add_listener(self._on_listeners_changed)
            self._rules.rules.on_changed.add_listener(self._on_rules_changed)
        if self._resources is not None:
            self._resources.on_changed.add_listener(self._on_listeners_changed)
        self._on_listeners_changed(None)

    def stop(self) -> None:
        """Stop for good: the browser ends, or has ended."""
        self._is_stopped = True
        self._requests.on_listeners_changed.remove_listener(self._on_listeners_changed)
        if self._rules is not None:
            self._rules.rules.on_presence_changed.remove_listener(self._on_listeners_changed)
            self._rules.rules.on_changed.remove_listener(self._on_rules_changed)
        if self._resources is not None:
            self._resources.on_changed.remove_listener(self._on_listeners_changed)
        if self._retry is not None:
            self._retry.cancel()
        self._stop_interception()
        self._tasks.cancel()

    async def wait_until_ready(self) -> None:
        """Wait until requests are intercepted for the listeners and rules added so far."""
        if self._update is not None:
            await asyncio.wait([self._update])

    def _on_listeners_changed(self, _: None) -> None:
        if self._requests.on_proxy_request and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "proxy.onRequest is not supported in Chromium; requests use the proxy of their identity, or that of "
                "the system"
            )
        if self._update is None and not self._is_stopped and self._wanted_config() != self.config:
            self._update = self._tasks.spawn(self._update_interception())

    def _on_rules_changed(self, _: None) -> None:
        self._rules_have_changed = True
        if self.config is not None and self._update is None:
            self._update = self._tasks.spawn(self._check_service_workers())

    async def _check_service_workers(self) -> None:
        try:
            while self._rules_have_changed and not self._is_stopped:
                self._rules_have_changed = False
                with contextlib.suppress(PlaywrightError):
                    await within(self._remove_service_workers(), "ServiceWorker.enable")
        finally:
            self._update = None
        self._on_listeners_changed(None)

    def _wanted_config(self) -> _FetchConfig | None:
        has_rules = self._rules is not None and self._rules.rules.are_present
        return _fetch_config(self._requests, has_rules=has_rules, resources=self._resources)

    async def _update_interception(self) -> None:
        try:
            while (config := self._wanted_config()) != self.config and not self._is_stopped:
                await within(self._apply_config(config), "Fetch.enable")
        except PlaywrightError as error:
            is_rejected = "Protocol error" in str(error) and "closed" not in str(error)
            is_timeout = isinstance(error, PlaywrightTimeout)
            # Any other error means that the browser has ended.
            level = logging.ERROR if is_rejected or is_timeout else logging.DEBUG
            logger.log(level, "webRequest: Fetch.enable failed: %s", error)
            if level == logging.ERROR:
                self._try_again()
        else:
            self._retry_delay = _FIRST_RETRY
        finally:
            self._update = None
        if self._rules_have_changed and not self._is_stopped:
            self._on_rules_changed(None)

    def _try_again(self) -> None:
        """Try again later: until then pages are not loaded if rules exist, but those that are open can navigate."""
        if self.config is None:
            self._stop_interception()  # the session may be incomplete
        if not self._is_stopped:
            loop = asyncio.get_running_loop()
            self._retry = loop.call_later(self._retry_delay, self._on_listeners_changed, None)
            self._retry_delay = min(self._retry_delay * 2, _LAST_RETRY)

    async def _apply_config(self, config: _FetchConfig | None) -> None:
        if config is None:
            self._stop_interception()
            return
        session, is_new = self._session, self._session is None
        if session is None:
            session = await self._open_session()
        if config.needs_network_events:
            await self._frames.enable_network()
        await session.send(
            "Fetch.enable", {"patterns": config.patterns, "handleAuthRequests": config.handle_auth_requests}
        )
        self.config = config
        self.in_flight.has_network_events = config.needs_network_events
        if is_new:
            await self._frames.refresh_loaders()
        await self._remove_service_workers()

    async def _remove_service_workers(self) -> None:
        if self._rules is not None and self._rules.rules.are_present and self._session is not None:
            identity_of = self._rules.tabs.identity_of
            await _ServiceWorkerRemoval(self._frames, self._rules.rules, identity_of, self._tasks).start()

    async def _open_session(self) -> Session:
        session = await Session.of_browser(self._browser)
        self.in_flight = in_flight = InFlightRequests()
        self._session, self._frames = session, FrameTree(session, self._on_event, self._on_target_destroyed)
        resources = None
        if self._resources is not None:
            floods = ResourceFloods(self._frames, session)
            resources = ResourceAnswers(self._frames, self._tabs, self._resources, floods, self._programs)
        self._paused = PausedRequests(
            session, self._frames, in_flight, self._requests, self._tabs, self._tasks, self._rules, resources
        )
        session.on("Fetch.requestPaused", log_exceptions(self._paused.on_request_paused))
        session.on("Fetch.authRequired", log_exceptions(self._paused.on_auth_required))
        await self._frames.discover_targets()
        return session

    def _stop_interception(self) -> None:
        """End the session. Chromium continues paused requests unchanged."""
        session, self._session = self._session, None
        self.config = None
        if session is None:
            return
        self._frames.stop()
        self._paused.stop()
        self.in_flight.abort_all()
        if not self._is_stopped:
            self._tasks.spawn(session.detach())

    def _on_event(self, name: str, event: dict[str, Any]) -> None:
        self.in_flight.on_event(name, event)
        if self._rules is not None:
            self._rules.starts.on_event(name, event)

    def _on_target_destroyed(self, target_id: str) -> None:
        self.in_flight.on_target_destroyed(target_id)
        self._tabs.target_destroyed(target_id)


def _log_failure(error: BaseException) -> None:
    logger.error("webRequest: background task failed", exc_info=error)


class _ServiceWorkerRemoval:
    """The service workers of one browser session. `identity_of` returns the cookieStoreId of a browserContextId.

    One that could load a page for which rules choose another identity is unregistered: it answers a navigation
    before Chromium pauses its request. It can be registered in the wrong identity by a page that was loaded before
    the rule was added, or by another path of the site. Runs only while rules exist.
    """

    def __init__(
        self, frames: FrameTree, rules: NavigationRules, identity_of: Callable[[str], str | None], tasks: Tasks
    ) -> None:
        self._frames = frames
        self._rules = rules
        self._identity_of = identity_of
        self._tasks = tasks

    async def start(self) -> None:
        """Observe the registrations of all pages, existing and new. Called again when the rules have changed."""
        await self._frames.observe_service_workers(self._on_registrations)

    def _on_registrations(self, target_id: str, event: dict[str, Any]) -> None:
        scopes = [each["scopeURL"] for each in event["registrations"] if not each["isDeleted"]]
        cookie_store_id = self._identity_of(self._frames.context_of(target_id))
        if scopes and cookie_store_id is not None:
            self._tasks.spawn(self._unregister(target_id, cookie_store_id, scopes))

    async def _unregister(self, target_id: str, cookie_store_id: str, scopes: list[str]) -> None:
        for scope in scopes:
            if await self._rules.concern_site(scope, cookie_store_id):
                with contextlib.suppress(PlaywrightError):
                    await self._frames.send(target_id, "ServiceWorker.unregister", scopeURL=scope)


class _FetchConfig(NamedTuple):
    """Parameters of Fetch.enable, and whether the Network domain is needed."""

    patterns: list[dict[str, str]]
    handle_auth_requests: bool
    needs_network_events: bool
    """Whether the end of requests must be observed. Chromium then sends Network events for all requests."""


def _fetch_config(
    requests: RequestEvents, *, has_rules: bool = False, resources: ExtensionResources | None = None
) -> _FetchConfig | None:
    """The narrowest configuration for listeners, site rules and files of extensions; None without all of them."""
    config = _config_of_listeners(requests, has_rules=has_rules)
    if resources is None or not resources.are_present:
        return config
    config = config or _FetchConfig([], handle_auth_requests=False, needs_network_events=False)
    patterns = [{"urlPattern": pattern, "requestStage": "Request"} for pattern in RESOURCE_PATTERNS]
    # Without Network events, the first requests of a document may be paused before its URL is known.
    needs_network_events = config.needs_network_events or resources.depend_on_page
    return config._replace(patterns=[*config.patterns, *patterns], needs_network_events=needs_network_events)


def _config_of_listeners(requests: RequestEvents, *, has_rules: bool) -> _FetchConfig | None:
    if not requests.has_listeners:
        documents = {"urlPattern": "http*", "resourceType": "Document", "requestStage": "Request"}
        return _FetchConfig([documents], handle_auth_requests=False, needs_network_events=False) if has_rules else None
    types, has_response_listeners = requests.listened_types, requests.has_response_listeners
    only_documents = types is not None and types <= DOCUMENT_TYPES
    pattern = {"urlPattern": "http*"} | ({"resourceType": "Document"} if only_documents else {})
    stages = ("Request", "Response") if has_response_listeners else ("Request",)
    handle_auth_requests = bool(requests.on_auth_required)
    return _FetchConfig(
        [pattern | {"requestStage": stage} for stage in stages],
        handle_auth_requests,
        has_response_listeners or handle_auth_requests or bool(requests.on_error_occurred) or not only_documents,
    )
