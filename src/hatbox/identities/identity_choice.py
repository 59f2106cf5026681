"""Chooses the identity of a URL for programs that cannot ask the user."""

from __future__ import annotations

from hatbox.errors import IdentityNotChosen, NoSiteRule, UrlBlocked
from hatbox.identities.service import Identities
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import ContextualIdentity, IdentityLike
from hatbox.site_rules.compared_url import compared_url
from hatbox.site_rules.service import SiteRules
from hatbox.site_rules.site_rule import Decision

__all__ = ["IdentityChooser"]


class IdentityChooser:
    """The identity of each URL, by the rules of a profile. `default` is the identity for URLs without a rule."""

    def __init__(self, identities: Identities, rules: SiteRules, default: IdentityLike | None = None) -> None:
        self._identities = identities
        self._rules = rules
        self._default = default

    async def choose(self, url: str) -> str:
        """The cookieStoreId for a URL. Raises NoSiteRule, IdentityNotChosen, or UrlBlocked for a limited default."""
        decision = await self._rules.decide(url, self._default)
        if decision.is_ask:
            raise await self.not_chosen(url, decision)
        if decision.identity is not None:
            return decision.identity
        if self._default is None:
            raise no_rule(url)
        found = await self._name_and_id(self._default)
        if decision.limited_by is not None:
            raise UrlBlocked(shown_url(url), found[0], decision.limited_by.pattern)
        return found[1]

    async def identity_for(self, url: str) -> ContextualIdentity | None:
        """The identity of a URL; None without a rule, or for the default store. Raises IdentityNotChosen."""
        decision = await self._rules.decide(url)
        if decision.is_ask:
            raise await self.not_chosen(url, decision)
        if decision.identity in (None, DEFAULT_COOKIE_STORE_ID):
            return None
        return await self._identities.get(decision.identity or "")

    async def not_chosen(self, url: str, decision: Decision) -> IdentityNotChosen:
        """The error for a URL whose rule asks the user."""
        names = [(await self._name_and_id(each))[0] for each in decision.identities]
        return IdentityNotChosen(shown_url(url), decision.rule.pattern if decision.rule else "", names)

    async def _name_and_id(self, identity: IdentityLike) -> tuple[str, str]:
        if identity == DEFAULT_COOKIE_STORE_ID:
            return DEFAULT_COOKIE_STORE_ID, DEFAULT_COOKIE_STORE_ID
        found = await self._identities.resolve(identity)
        return found.name, found.cookie_store_id


def no_rule(url: str) -> NoSiteRule:
    """The error for a URL without a rule. It proposes one."""
    compared = compared_url(url)
    return NoSiteRule(shown_url(url), compared.host if compared else "")


def shown_url(url: str) -> str:
    """A URL for messages: without password, not too long."""
    compared = compared_url(url)
    text = compared.text if compared else url
    return text if len(text) <= 200 else f"{text[:200]}…"
