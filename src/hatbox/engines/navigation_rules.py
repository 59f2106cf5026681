"""Applies site rules to the navigations of an engine: a URL of another identity is reopened there.

The engine calls `check` before it sends a request of a navigation, after the blocking listeners of extensions, and
sends it only if the outcome is `stay`. Redirects, POST and form submissions stay in their identity, and are blocked if
it is limited to other URLs. Knows neither HTTP nor a browser.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

import msgspec

from hatbox.engines.reopening_limit import ReopeningLimit
from hatbox.engines.running_engines import engine_for
from hatbox.errors import IdentityNotChosen, InvalidIdentity, UrlBlocked
from hatbox.events import Event
from hatbox.shell_words import shell_word
from hatbox.site_rules.rule_rows import RULES_CHANGED, store_name
from hatbox.site_rules.service import SiteRules
from hatbox.site_rules.site_rule import SiteRule, UrlExplanation
from hatbox.store.base import RESYNC, ChangeRecord, Store, Transaction
from hatbox.tabs.bound_tabs import is_bound
from hatbox.tabs.credentials import without_credentials
from hatbox.tabs.named_identity import is_identity_named
from hatbox.tabs.reopening import reopen_tab
from hatbox.tasks import Tasks
from hatbox.web_requests import RequestCancelled

__all__ = [
    "CheckedNavigation",
    "IdentityChoice",
    "NavigationOutcome",
    "NavigationReopened",
    "NavigationRules",
    "is_https_upgrade",
    "is_rule_message",
]

logger = logging.getLogger("hatbox.engines")

_MESSAGE: Final = "not loaded: "


class CheckedNavigation(msgspec.Struct, frozen=True, kw_only=True):
    """A navigation of the main frame, before its next request."""

    tab_id: int
    """-1 without a tab, as for a prerendered page."""
    cookie_store_id: str
    url: str
    navigation_id: int = 0
    """The id of a navigation that was requested in the profile; 0 if the page or the user started it in the engine."""
    stays: bool = False
    """Whether it is never reopened: a reload, back and forward, a restored page, a redirect, or a form."""
    is_refused: bool = False
    """Whether it is blocked and not reopened: a program controls the page. For tabs of grants the profile says so."""


class IdentityChoice(NamedTuple):
    """An identity that the user can choose for a URL."""

    cookie_store_id: str
    name: str


class NavigationOutcome(msgspec.Struct, frozen=True):
    """The outcome of a check.

    `stay`: send the request. `reopened`: another tab loads the URL, or the tab is closed; the page stays as it was.
    `blocked`: the tab shows `message`, and `choices` if the user has to choose an identity.
    """

    action: Literal["stay", "reopened", "blocked"]
    message: str = ""
    choices: tuple[IdentityChoice, ...] = ()

    @property
    def explanation(self) -> str:
        """The message as a sentence."""
        text = self.message.removeprefix(_MESSAGE)
        return text[:1].upper() + text[1:]


STAY: Final = NavigationOutcome("stay")
REOPENED: Final = NavigationOutcome("reopened")


class NavigationReopened(RequestCancelled):
    """Rules have reopened the navigation in another identity."""


class NavigationRules:
    """The site rules of one engine. Between `start` and `stop`, `are_present` follows the profile."""

    def __init__(self, store: Store, rules: SiteRules, clock: Callable[[], float] | None = None) -> None:
        self.are_present = False
        """Whether the profile has a rule, as far as this process knows."""
        self.serves: Callable[[str], bool] = lambda _: False
        """Whether this engine serves an identity. Otherwise the records of running engines are read."""
        self.on_presence_changed: Event[None] = Event("engine.onRulesPresenceChanged")
        self.on_changed: Event[None] = Event("engine.onRulesChanged")
        """Emitted after each change of rules, after on_presence_changed."""
        self._store = store
        self._rules = rules
        self._limit = ReopeningLimit(clock)
        self._is_subscribed = False
        self._tasks = Tasks()

    async def start(self) -> None:
        """Follow the rules. Starting twice has no effect."""
        if not self._is_subscribed:
            self._is_subscribed = True
            self._store.subscribe(self._on_change)
        await self._update_presence()

    def stop(self) -> None:
        """Stop following the rules. Stopping twice has no effect."""
        if self._is_subscribed:
            self._is_subscribed = False
            self._store.unsubscribe(self._on_change)
            self._tasks.cancel()

    async def wait_until_current(self) -> None:
        """Wait until `are_present` includes every change that was delivered."""
        await self._tasks.wait()

    async def check(self, navigation: CheckedNavigation) -> NavigationOutcome:
        """Check a navigation, and reopen it if its URL belongs to another identity."""
        url, store_id = navigation.url, navigation.cookie_store_id
        decision = (await self._rules.index()).decide(url, store_id)
        if decision.limited_by is not None:
            return await self._block_limited(navigation, decision.limited_by)
        if navigation.stays or decision.rule is None or store_id in decision.identities:
            return STAY
        is_granted, is_named = await self._opening(navigation)
        if is_granted or (navigation.is_refused and not is_named):
            return await self._block_bound(navigation)
        if is_named or self._limit.is_contested(url):
            return STAY
        if navigation.tab_id < 0:
            return REOPENED  # a prerendered page: the navigation that would show it is checked again
        if decision.identity is None:
            return await self._ask(navigation, decision.rule)
        return await self._reopen(navigation, decision.rule)

    async def explain(self, url: str, cookie_store_id: str) -> UrlExplanation:
        """Every rule that matches a URL, the winner first, and whether a limit blocks it in an identity."""
        return (await self._rules.index()).explain(url, cookie_store_id)

    async def may_refuse(self, url: str) -> bool:
        """Whether some identity may not load a URL: a rule decides it, or limits an identity."""
        index = await self._rules.index()
        return index.has_limits or index.decide(url).rule is not None

    async def concern_site(self, url: str, cookie_store_id: str) -> bool:
        """Whether rules may refuse a page on the host of this URL to an identity."""
        return (await self._rules.index()).may_refuse_host(url, cookie_store_id)

    async def choose(self, tab_id: int, url: str, cookie_store_id: str, *, close: bool) -> None:
        """The user has chosen an identity for a URL that a rule asked about. Raises InvalidIdentity."""
        await self._store.write(lambda each: reopen_tab(each, tab_id, url, cookie_store_id, close=close))

    def listener_cancelled(self, tab_id: int, url: str) -> None:
        """A blocking listener cancelled a navigation. If rules had reopened it, the extension decides: if it opens the
        URL in another identity, rules do not reopen it again."""
        self._limit.cancelled(tab_id, url)

    async def _block_limited(self, navigation: CheckedNavigation, rule: SiteRule) -> NavigationOutcome:
        shown = without_credentials(navigation.url)

        def block(transaction: Transaction) -> NavigationOutcome:
            name = store_name(transaction, navigation.cookie_store_id)
            return _blocked(str(UrlBlocked(shown, name, rule.pattern)))

        return await self._read(block)

    async def _block_bound(self, navigation: CheckedNavigation) -> NavigationOutcome:
        """The message names neither the other identity nor the rule: the program can read it."""
        shown = without_credentials(navigation.url)

        def block(transaction: Transaction) -> NavigationOutcome:
            name = store_name(transaction, navigation.cookie_store_id)
            return _blocked(
                f"a rule assigns {shown} to another identity, and a program controls this page of {name}. Rules do not "
                f"open pages of programs elsewhere. See: hatbox rules test {shell_word(shown)}"
            )

        return await self._read(block)

    async def _ask(self, navigation: CheckedNavigation, rule: SiteRule) -> NavigationOutcome:
        shown = without_credentials(navigation.url)

        def ask(transaction: Transaction) -> NavigationOutcome:
            choices = tuple(IdentityChoice(each, store_name(transaction, each)) for each in rule.identities)
            message = str(IdentityNotChosen(shown, rule.pattern, [choice.name for choice in choices]))
            command = f"Open it with: hatbox open {shell_word(choices[0].name)} {shell_word(shown)}"
            return _blocked(f"{message} {command}", choices)

        return await self._read(ask)

    async def _reopen(self, navigation: CheckedNavigation, rule: SiteRule) -> NavigationOutcome:
        url, (identity,) = navigation.url, rule.identities
        is_requested = navigation.navigation_id > 0
        if wait := self._limit.seconds_to_wait(navigation.cookie_store_id, url, is_requested=is_requested):
            message = (
                f"the rule {rule.pattern} has reopened too many pages. Wait {wait} s, then reload the tab. "
                "If an extension reopens the same pages, change the rule or the extension."
            )
            return _blocked(message)
        if not self.serves(identity) and await engine_for(self._store, identity) is None:
            return await self._block_unserved(navigation, rule)
        try:
            tab = await self._store.write(lambda each: reopen_tab(each, navigation.tab_id, url, identity))
        except InvalidIdentity:
            message = (
                f"the rule {rule.pattern} names an identity that does not exist: {identity}. See: hatbox rules list"
            )
            return _blocked(message)
        if tab is not None:
            self._limit.reopened(tab.id, url)
            logger.info("rule %s: tab %d reopened as tab %d in %s", rule.pattern, navigation.tab_id, tab.id, identity)
        return REOPENED

    async def _block_unserved(self, navigation: CheckedNavigation, rule: SiteRule) -> NavigationOutcome:
        """Rather than open a tab that no engine loads."""
        shown, (identity,) = without_credentials(navigation.url), rule.identities

        def block(transaction: Transaction) -> NavigationOutcome:
            name = store_name(transaction, identity)
            return _blocked(
                f"the rule {rule.pattern} opens {shown} in {name}, and no running engine serves it. "
                f"Start one with: hatbox browse --identity {shell_word(name)}"
            )

        return await self._read(block)

    async def _opening(self, navigation: CheckedNavigation) -> tuple[bool, bool]:
        """Whether a program with a grant controls the tab, and whether its identity was named with this URL."""

        def opening(transaction: Transaction) -> tuple[bool, bool]:
            row = transaction.tabs.get(navigation.tab_id)
            if row is None:
                return False, False
            is_first = navigation.navigation_id == 1
            return is_bound(transaction, row.id), is_first and is_identity_named(transaction, row)

        return await self._store.read(opening)

    async def _read(self, work: Callable[[Transaction], NavigationOutcome]) -> NavigationOutcome:
        try:
            return await self._store.read(work)
        except InvalidIdentity as error:  # removed meanwhile: the tab is about to be closed
            return _blocked(str(error))

    def _on_change(self, change: ChangeRecord) -> None:
        if change.topic in (RULES_CHANGED, RESYNC):
            self._tasks.spawn(self._update_presence())

    async def _update_presence(self) -> None:
        present = await self._store.read(lambda each: bool(each.rules.find()))
        if present != self.are_present:
            self.are_present = present
            self.on_presence_changed.emit(None)
        self.on_changed.emit(None)


def is_rule_message(error: str) -> bool:
    """Whether the error of a tab is the message of a rule. Reloading such a tab checks the rules again."""
    return error.startswith(_MESSAGE)


def is_https_upgrade(before: str, url: str) -> bool:
    """Whether a redirect only changes http to https, as HSTS does. It counts as the start of the navigation."""
    old, new = urlsplit(before), urlsplit(url)
    if (old.scheme, new.scheme) != ("http", "https") or old.hostname != new.hostname:
        return False
    return (old.path or "/", old.query) == (new.path or "/", new.query)


def _blocked(message: str, choices: tuple[IdentityChoice, ...] = ()) -> NavigationOutcome:
    return NavigationOutcome("blocked", _MESSAGE + message, choices)
