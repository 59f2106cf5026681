"""SiteRules: the service for rules that assign URLs to identities. The transaction functions are in `rule_rows`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

from hatbox.identity.model import ContextualIdentity, IdentityLike, expect_identity
from hatbox.site_rules.rule_index import RuleIndex
from hatbox.site_rules.rule_rows import (
    RULES_CHANGED,
    add_rule,
    clear_rules,
    find_rules,
    remove_rules,
    store_of,
)
from hatbox.site_rules.site_rule import Decision, SiteRule, UrlExplanation
from hatbox.store.base import RESYNC, ChangeRecord, Store
from hatbox.store.change_events import ChangeEvents

__all__ = ["SiteRules"]

_Rules: TypeAlias = list[SiteRule]  # SiteRules.list hides the type


class SiteRules:
    """The rules of a profile: which identity opens which URLs. The most specific rule wins.

    Identities are given by name, cookieStoreId or object; `firefox-default` is the store of no identity.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._index = RuleIndex()
        self._generation = 1  # incremented when the index is outdated
        self._loaded_generation = 0
        self._loading = asyncio.Lock()  # many requests after a change share one load
        self._is_subscribed = False
        self.on_changed = ChangeEvents(store, "rules").event("on_changed", RULES_CHANGED, lambda _: None)
        """Emitted after rules were added, replaced or removed, by any process. Listeners get None: see list()."""

    def add(
        self,
        pattern: str,
        identities: IdentityLike | Sequence[IdentityLike],
        *,
        ask: bool = False,
        limit: bool = False,
        replace: bool = False,
    ) -> asyncio.Future[SiteRule]:
        """Add a rule: URLs that match `pattern` open in this identity.

        With `ask`, the user chooses between several identities. With `limit`, the identity opens no URL that another
        rule, or no rule, decides. A rule with the same pattern is replaced only with `replace`; the same rule again
        changes nothing. Raises InvalidSiteRule, SiteRuleExists, or as Identities.resolve().
        """
        if not isinstance(pattern, str):
            raise TypeError(f"pattern must be a string, not {pattern!r}")
        several = [identities] if isinstance(identities, (str, ContextualIdentity)) else [*identities]
        for identity in several:
            expect_identity(identity)
        return self._store.write(
            lambda transaction: add_rule(transaction, pattern, several, ask=ask, limit=limit, replace=replace)
        )

    def list(self) -> asyncio.Future[_Rules]:
        """All rules, in the order in which they were added."""
        return self._store.read(find_rules)

    async def remove(self, rule: int | str | SiteRule) -> SiteRule:
        """Remove a rule, given by its id, pattern or object. Returns it. Raises SiteRuleNotFound."""
        (removed,) = await self.remove_many([rule])
        return removed

    def remove_many(self, rules: Sequence[int | str | SiteRule]) -> asyncio.Future[_Rules]:
        """Remove several rules, all or none. Resolves to them, each once. Raises SiteRuleNotFound."""
        wanted = [rule.id if isinstance(rule, SiteRule) else rule for rule in rules]
        for each in wanted:
            if type(each) not in (int, str):
                raise TypeError(f"rule must be an id, a pattern or a SiteRule, not {each!r}")
        return self._store.write(lambda transaction: remove_rules(transaction, wanted))

    def clear(self, identity: IdentityLike | None = None) -> asyncio.Future[_Rules]:
        """Remove all rules, or those of one identity. Resolves to them. A shared rule loses only this identity."""
        if identity is not None:
            expect_identity(identity)
        return self._store.write(lambda transaction: clear_rules(transaction, identity))

    async def decide(self, url: str, identity: IdentityLike | None = None) -> Decision:
        """The decision for a URL. With `identity`, also whether a limit blocks the URL in it."""
        return (await self.index()).decide(url, await self._store_of(identity))

    async def test(self, url: str, identity: IdentityLike | None = None) -> UrlExplanation:
        """Every rule that matches a URL, the winner first, and why the others lose."""
        return (await self.index()).explain(url, await self._store_of(identity))

    async def index(self) -> RuleIndex:
        """All rules, indexed, as of the latest commit of any process. Engines use it for each navigation."""
        if not self._is_subscribed:
            self._store.subscribe(self._on_change)
            self._is_subscribed = True
        while True:
            await self._load()
            # After the load, whose result may be newer than the changes that were delivered before it.
            await self._store.deliver_pending_changes()
            if self._loaded_generation == self._generation:
                return self._index

    def forget(self) -> None:
        """Load the rules again before their next use: the profile is closed."""
        self._generation += 1

    async def _load(self) -> None:
        if self._loaded_generation == self._generation:
            return
        async with self._loading:
            generation = self._generation
            if self._loaded_generation != generation:
                rules = await self._store.read(find_rules)
                if self._generation == generation:  # not changed meanwhile
                    self._index, self._loaded_generation = RuleIndex(rules), generation

    async def _store_of(self, identity: IdentityLike | None) -> str | None:
        if identity is None:
            return None
        expect_identity(identity)
        return await self._store.read(lambda transaction: store_of(transaction, identity))

    def _on_change(self, record: ChangeRecord) -> None:
        if record.topic in (RULES_CHANGED, RESYNC):
            self._generation += 1
