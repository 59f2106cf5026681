"""Which rule decides about an address, and why, in the words of the manager page. Pure: the rule index is the judge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

import msgspec

from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.site_rules.regular_expression import RegularExpression
from hatbox.site_rules.site_pattern import parse_site_pattern
from hatbox.site_rules.site_rule import RuleMatch, SiteRule, UrlExplanation

__all__ = ["AddressVerdict", "ExplainedRule", "address_verdict", "identity_names"]

DEFAULT_STORE_NAME: Final = "the default store"

# By the first part of the specificity that differs between the deciding rule and the next one.
_WINS: Final = (
    "its host is exact",
    "its host is longer",
    "it names the port",
    "its path is longer",
    "its path has fewer stars",
    "it names the scheme",
    "its pattern comes first in the alphabet",
)
_ALPHABETICAL: Final = len(_WINS) - 1


class ExplainedRule(msgspec.Struct, frozen=True):
    """A rule that matches an address, and why it decides or not."""

    id: int
    pattern: str
    identities: tuple[str, ...]
    decides: bool
    reason: str


class AddressVerdict(msgspec.Struct, frozen=True):
    """Where an address opens."""

    url: str
    """The URL as it is compared: without credentials and fragment."""
    outcome: Literal["opens", "asks", "none", "blocked"]
    title: str
    identities: tuple[str, ...]
    """The cookieStoreIds that it opens in, or of which the user chooses one."""
    matches: tuple[ExplainedRule, ...]
    notes: tuple[str, ...]


def identity_names(names: Mapping[str, str], cookie_store_ids: Sequence[str]) -> str:
    """The names of identities, of which the user chooses one."""
    return " or ".join(_name(names, each) for each in cookie_store_ids)


def address_verdict(
    explanation: UrlExplanation, host: str, names: Mapping[str, str], here: str | None = None
) -> AddressVerdict:
    """The answer for an address. `here` is the cookieStoreId of the identity in which it was typed."""
    decision = explanation.decision
    matches = _decided_first(explanation)
    explained = tuple(_explained(each, place, matches, names) for place, each in enumerate(matches))
    outcome, title, opens_in = _outcome(explanation, names, here)
    notes = list(explanation.notes)
    if outcome == "blocked" and here is not None and decision.limited_by is not None:
        notes.append(f"The rule {decision.limited_by.pattern} limits it. Add a rule for {host}, or open it elsewhere.")
    elif not matches:
        add = f"It opens where you say. Add a rule to make {host} always open in one identity."
        notes.append(f"No rule names {host}." if here else add)
    return AddressVerdict(explanation.url, outcome, title, opens_in, explained, tuple(notes))


def _outcome(
    explanation: UrlExplanation, names: Mapping[str, str], here: str | None
) -> tuple[Literal["opens", "asks", "none", "blocked"], str, tuple[str, ...]]:
    decision = explanation.decision
    is_default = here == DEFAULT_COOKIE_STORE_ID
    as_here = "Opens here, in no identity" if is_default else f"Opens here, as {_name(names, here or '')}"
    identities = decision.identities
    if here is not None and decision.is_blocked:
        which = "addresses of its own rules" if identities else "addresses that have a rule"
        return "blocked", f"{_name(names, here)} opens only {which}", ()
    if not identities:
        return ("none", "No rule for this address", ()) if here is None else ("none", as_here, (here,))
    if here is not None and here in identities:
        return "opens", as_here, (here,)
    if decision.is_ask:
        return "asks", f"Asks: {identity_names(names, identities)}", identities
    name = _name(names, identities[0])
    return "opens", f"Opens in {name} instead" if here else f"Opens in {name}", identities


def _decided_first(explanation: UrlExplanation) -> list[RuleMatch]:
    """The matching rules; the one that the index has chosen is first, whatever the explanation says."""
    chosen = explanation.decision.rule
    return sorted(explanation.matches, key=lambda each: each.rule != chosen)


def _explained(match: RuleMatch, place: int, matches: Sequence[RuleMatch], names: Mapping[str, str]) -> ExplainedRule:
    rule, winner = match.rule, matches[0].rule
    if place == 0:
        reason = f"decides: {_why(rule, matches[1].rule) if len(matches) > 1 else 'the only rule that matches'}"
    else:
        also = " too" if rule.identities == winner.identities else ""
        reason = f"would be {identity_names(names, rule.identities)}{also}, but {_why_not(rule, winner)}"
    return ExplainedRule(rule.id, rule.pattern, rule.identities, place == 0, reason)


def _why(winner: SiteRule, second: SiteRule) -> str:
    if _is_regex(winner):
        return "it is the first regular expression that matches"
    if _is_regex(second):
        return "a host counts more than a regular expression"
    part = _first_difference(winner, second)
    return "it is the older rule for the same pattern" if part is None else _WINS[part]


def _why_not(rule: SiteRule, winner: SiteRule) -> str:
    if _is_regex(rule):
        return "is a later regular expression" if _is_regex(winner) else "is a regular expression"
    part = _first_difference(winner, rule)
    if part is None:
        return "is newer"
    return "comes later in the alphabet" if part == _ALPHABETICAL else "is less specific"


def _is_regex(rule: SiteRule) -> bool:
    return isinstance(parse_site_pattern(rule.pattern), RegularExpression)


def _first_difference(one: SiteRule, other: SiteRule) -> int | None:
    """The first part of the specificity that differs; None for the same pattern."""
    first, second = parse_site_pattern(one.pattern), parse_site_pattern(other.pattern)
    if isinstance(first, RegularExpression) or isinstance(second, RegularExpression):
        return None
    pairs = zip(first.specificity, second.specificity, strict=True)
    return next((part for part, (own, others) in enumerate(pairs) if own != others), None)


def _name(names: Mapping[str, str], cookie_store_id: str) -> str:
    if cookie_store_id == DEFAULT_COOKIE_STORE_ID:
        return DEFAULT_STORE_NAME
    return names.get(cookie_store_id, cookie_store_id)
