"""The site rules of a synchronous profile."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from hatbox.identity.model import IdentityLike
from hatbox.site_rules.service import SiteRules
from hatbox.site_rules.site_rule import Decision, SiteRule, UrlExplanation
from hatbox.sync.loop_thread import LoopThread, SyncEvent

__all__ = ["SyncSiteRules"]

_Rules: TypeAlias = list[SiteRule]  # SyncSiteRules.list hides the type


class SyncSiteRules:
    """The rules that assign URLs to identities. Each call returns when its change is durable."""

    def __init__(self, rules: SiteRules, loop: LoopThread) -> None:
        self._rules = rules
        self._run = loop.run
        self.on_changed = SyncEvent(rules.on_changed, loop)
        """Emitted after rules were added, replaced or removed. Listeners run in the thread of the profile."""

    def add(
        self,
        pattern: str,
        identities: IdentityLike | Sequence[IdentityLike],
        *,
        ask: bool = False,
        limit: bool = False,
        replace: bool = False,
    ) -> SiteRule:
        """Add a rule: URLs that match `pattern` open in this identity. See SiteRules.add."""
        return self._run(lambda: self._rules.add(pattern, identities, ask=ask, limit=limit, replace=replace))

    def list(self) -> _Rules:
        """All rules, in the order in which they were added."""
        return self._run(self._rules.list)

    def remove(self, rule: int | str | SiteRule) -> SiteRule:
        """Remove a rule, given by its id, pattern or object. Returns it. Raises SiteRuleNotFound."""
        return self._run(lambda: self._rules.remove(rule))

    def remove_many(self, rules: Sequence[int | str | SiteRule]) -> _Rules:
        """Remove several rules, all or none. Returns them, each once. Raises SiteRuleNotFound."""
        return self._run(lambda: self._rules.remove_many(rules))

    def clear(self, identity: IdentityLike | None = None) -> _Rules:
        """Remove all rules, or those of one identity. Returns them. A shared rule loses only this identity."""
        return self._run(lambda: self._rules.clear(identity))

    def decide(self, url: str, identity: IdentityLike | None = None) -> Decision:
        """The decision for a URL. With `identity`, also whether a limit blocks the URL in it."""
        return self._run(lambda: self._rules.decide(url, identity))

    def test(self, url: str, identity: IdentityLike | None = None) -> UrlExplanation:
        """Every rule that matches a URL, the winner first, and why the others lose."""
        return self._run(lambda: self._rules.test(url, identity))
