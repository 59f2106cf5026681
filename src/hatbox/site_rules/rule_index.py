"""RuleIndex: which identity a URL belongs to. Pure: no store, no clock.

    index = RuleIndex(rules)
    index.decide(url)                      # the winning rule, and its identities
    index.decide(url, "firefox-container-2").is_blocked    # may this identity open it?
    index.explain(url)                     # every matching rule, and why it wins or loses

A limit: an identity that a rule with `limit` names opens only URLs whose winning rule names it. Several such rules
allow the URLs of all of them, and rules without `limit` that name the identity allow theirs too. Limits apply to http
and https only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from hatbox.errors import InvalidSiteRule
from hatbox.site_rules.compared_url import ComparedUrl, compared_url
from hatbox.site_rules.path_index import PathIndex, RankedRule
from hatbox.site_rules.regular_expression import MAX_REGEX_URL, RegularExpression
from hatbox.site_rules.site_pattern import parse_site_pattern
from hatbox.site_rules.site_rule import Decision, RuleMatch, SiteRule, UrlExplanation

__all__ = ["MAX_REGEX_RULES", "RuleIndex"]

MAX_REGEX_RULES: Final = 100
"""The maximum number of rules with a regular expression."""

_REASONS: Final = (
    "an exact host beats a wildcard host",
    "a longer wildcard host beats a shorter one",
    "a pattern with a port beats one without",
    "a longer path beats a shorter one",
    "a path with fewer stars beats one with more",
    "a pattern with a scheme beats one without",
    "equally specific: patterns are compared alphabetically",
)
"""Why a rule loses, by the first part of its specificity that differs."""

_REGEX_LOSES: Final = "a host beats a regular expression"
_REGEX_POSITION: Final = "the first regular expression beats the others"

_HostIndex = dict[str, dict[int | None, PathIndex]]


class RuleIndex:
    """Rules, indexed. The order of `rules` matters to regular expressions only: the first that matches wins."""

    def __init__(self, rules: Iterable[SiteRule] = ()) -> None:
        self._exact: _HostIndex = {}
        self._wildcard: _HostIndex = {}
        self._sites: list[RankedRule] = []
        self._by_host: dict[tuple[str, bool], list[RankedRule]] = {}  # by host and `subdomains`
        self._regexes: list[tuple[SiteRule, RegularExpression]] = []
        self._limits: dict[str, SiteRule] = {}
        self.invalid: tuple[SiteRule, ...] = ()
        """Rules that match nothing: this version cannot read the pattern, or too many are regular expressions."""
        for rule in rules:
            self._add(rule)

    def decide(self, url: str, identity: str | None = None) -> Decision:
        """The decision for a URL. With `identity`, a cookieStoreId, also whether a limit blocks it there."""
        compared = compared_url(url)
        if compared is None:
            return Decision()
        rule = self._winner(compared)
        if identity is None:
            return Decision(rule)
        return Decision(rule, None if rule and identity in rule.identities else self._limits.get(identity))

    def limit_of(self, identity: str) -> SiteRule | None:
        """A rule that limits an identity, given by its cookieStoreId; None if the identity may open every URL."""
        return self._limits.get(identity)

    @property
    def has_limits(self) -> bool:
        """Whether a rule limits an identity."""
        return bool(self._limits)

    def may_refuse_host(self, url: str, identity: str) -> bool:
        """Whether the winning rule of any page on the host of this URL may be one of another identity, or a limit.

        True in doubt: no host is known for a regular expression, so only a rule for the whole host excludes it.
        """
        compared = compared_url(url)
        if compared is None:
            return False
        rules = self._rules_of_host(compared.host)
        if any(identity not in ranked.rule.identities for ranked in rules):
            return True
        if any(ranked.pattern.is_whole_host for ranked in rules):
            return False
        return identity in self._limits or any(identity not in rule.identities for rule, _ in self._regexes)

    def explain(self, url: str, identity: str | None = None) -> UrlExplanation:
        """Every matching rule, the winner first, and why it wins or loses. Tries all rules."""
        compared = compared_url(url)
        if compared is None:
            return UrlExplanation("", Decision(), notes=("Rules apply to http and https URLs only.",))
        sites = sorted(ranked for ranked in self._sites if ranked.pattern.matches(compared))
        regexes = self._matching_regexes(compared)
        matches = [RuleMatch(ranked.rule, _reason(ranked, sites[0])) for ranked in sites]
        matches += [RuleMatch(rule, _REGEX_LOSES if sites else _REGEX_POSITION) for rule in regexes]
        if matches:
            matches[0] = RuleMatch(matches[0].rule, _winning_reason(matches, has_site=bool(sites)))
        notes = (f"The URL has more than {MAX_REGEX_URL:,} characters: regular expressions do not match it.",)
        too_long = bool(self._regexes) and len(compared.text) > MAX_REGEX_URL
        return UrlExplanation(compared.text, self.decide(url, identity), tuple(matches), notes if too_long else ())

    def _add(self, rule: SiteRule) -> None:
        if rule.limit:
            for identity in rule.identities:
                if identity not in self._limits or rule.id < self._limits[identity].id:
                    self._limits[identity] = rule
        try:
            pattern = parse_site_pattern(rule.pattern)
        except InvalidSiteRule:
            self.invalid += (rule,)
            return
        if isinstance(pattern, RegularExpression):
            if len(self._regexes) < MAX_REGEX_RULES:
                self._regexes.append((rule, pattern))
            else:
                self.invalid += (rule,)
            return
        ranked = RankedRule(pattern.specificity, rule.id, rule, pattern)
        self._sites.append(ranked)
        self._by_host.setdefault((pattern.host, pattern.subdomains), []).append(ranked)
        ports = (self._wildcard if pattern.subdomains else self._exact).setdefault(pattern.host, {})
        ports.setdefault(pattern.port, PathIndex()).add(ranked)

    def _winner(self, url: ComparedUrl) -> SiteRule | None:
        best = _best_of_ports(self._exact.get(url.host), url)
        if best is None and self._wildcard:
            best = self._best_wildcard(url)
        if best is not None:
            return best.rule
        if not self._regexes:
            return None
        return next(iter(self._matching_regexes(url, first=True)), None)

    def _best_wildcard(self, url: ComparedUrl) -> RankedRule | None:
        for suffix in _suffixes(url.host):
            ports = self._wildcard.get(suffix)
            best = _best_of_ports(ports, url) if ports is not None else None
            if best is not None:
                return best
        return None

    def _rules_of_host(self, host: str) -> list[RankedRule]:
        found = [*self._by_host.get((host, False), ())]
        for suffix in _suffixes(host):
            found += self._by_host.get((suffix, True), ())
        return found

    def _matching_regexes(self, url: ComparedUrl, *, first: bool = False) -> list[SiteRule]:
        text = url.text.encode()
        if len(text) > MAX_REGEX_URL:
            return []
        found = []
        for rule, regex in self._regexes:
            if regex.matches_text(text):
                found.append(rule)
                if first:
                    break
        return found


def _suffixes(host: str) -> Iterator[str]:
    """The host, its parent domains and the empty text, which is every host."""
    while host:
        yield host
        host = "" if host[0] == "[" else host.partition(".")[2]  # the labels of an IP address are no domain
    yield ""


def _best_of_ports(ports: dict[int | None, PathIndex] | None, url: ComparedUrl) -> RankedRule | None:
    if ports is None:
        return None
    of_port = ports.get(url.port)
    best = of_port.best(url) if of_port is not None else None
    if best is None:
        others = ports.get(None)
        best = others.best(url) if others is not None else None
    return best


def _reason(ranked: RankedRule, winner: RankedRule) -> str:
    for reason, own, best in zip(_REASONS, ranked.specificity, winner.specificity, strict=True):
        if own != best:
            return reason
    return "the same pattern: the older rule wins"


def _winning_reason(matches: list[RuleMatch], *, has_site: bool) -> str:
    if len(matches) == 1:
        return "the only rule that matches"
    return "the most specific rule that matches" if has_site else "the first regular expression that matches"
