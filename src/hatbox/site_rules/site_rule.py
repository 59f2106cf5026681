"""The data of site rules: a rule, and the decision for a URL. Pure."""

from __future__ import annotations

from typing import Final

import msgspec

__all__ = ["RULES_CHANGED", "Decision", "RuleMatch", "SiteRule", "UrlExplanation"]

RULES_CHANGED: Final = "rules.changed"
"""The topic of the change log. Its payload is `null`."""


class SiteRule(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A rule: URLs that match `pattern` belong to one of `identities`.

    Patterns: see hatbox.site_rules.site_pattern. Regular expressions are tried in the order of `id`.
    """

    id: int
    pattern: str
    identities: tuple[str, ...]
    """cookieStoreIds; `firefox-default` is the store of no identity."""
    ask: bool = False
    """The user chooses between several identities. With one left, that one is used without a question."""
    limit: bool = False
    """The identities open nothing else: only URLs whose rule names them."""


class Decision(msgspec.Struct, frozen=True):
    """The answer of the rules for one URL."""

    rule: SiteRule | None = None
    """The winning rule; None if no rule matches, or if the URL is not http or https."""
    limited_by: SiteRule | None = None
    """A rule that blocks the URL in the identity that was asked about; None if the URL may open there."""

    @property
    def identities(self) -> tuple[str, ...]:
        """The cookieStoreIds that the URL belongs to: none, one, or several of which the user chooses one."""
        return self.rule.identities if self.rule else ()

    @property
    def is_ask(self) -> bool:
        """Whether the user has to choose between several identities."""
        return len(self.identities) > 1

    @property
    def identity(self) -> str | None:
        """The one cookieStoreId that the URL belongs to; None without a rule, or if the user has to choose."""
        return self.identities[0] if len(self.identities) == 1 else None

    @property
    def is_blocked(self) -> bool:
        """Whether a limit blocks the URL in the identity that was asked about."""
        return self.limited_by is not None


class RuleMatch(msgspec.Struct, frozen=True):
    """A rule that matches a URL, and why it wins or loses."""

    rule: SiteRule
    reason: str


class UrlExplanation(msgspec.Struct, frozen=True):
    """Why the rules decide as they do."""

    url: str
    """The URL as it is compared: without credentials and fragment. Empty if the URL is invalid."""
    decision: Decision
    matches: tuple[RuleMatch, ...] = ()
    """All matching rules, the winner first."""
    notes: tuple[str, ...] = ()
    """What else a user should know, such as a URL that is too long for regular expressions."""
