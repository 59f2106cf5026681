"""The words about rules never contradict the index that decides."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.site_rules.rule_index import RuleIndex
from hatbox.site_rules.rule_reasons import address_verdict
from hatbox.site_rules.site_rule import SiteRule

WORK, LUMEN, SHOP = (f"firefox-container-{number}" for number in (2, 7, 4))
NAMES = {WORK: "Work", LUMEN: "Lumen Studio", SHOP: "Shopping"}

HOSTS = st.sampled_from(["forge.example", "*.forge.example", "*.example", "*", "dev.forge.example"])
PORTS = st.sampled_from(["", ":8080"])
PATHS = st.sampled_from(["", "/", "/lumen/*", "/lumen/site/*", "/*/site", "/lumen/site", "/*lumen*"])
SCHEMES = st.sampled_from(["", "https://", "http://"])
SITES = st.builds(lambda *parts: "".join(parts), SCHEMES, HOSTS, PORTS, PATHS)
REGEXES = st.sampled_from(["regex:forge", "regex:^https://.*lumen", "regex:site$", "regex:8080"])
PATTERNS = st.lists(st.one_of(SITES, REGEXES), max_size=8)
URLS = st.builds(
    lambda *parts: "".join(parts),
    st.sampled_from(["http://", "https://"]),
    st.sampled_from(["forge.example", "dev.forge.example", "shop.example"]),
    PORTS,
    st.sampled_from(["/", "/lumen/x", "/lumen/site", "/lumen/site/board", "/a/site"]),
)


def rules(*patterns: str) -> list[SiteRule]:
    stores = (WORK, LUMEN, SHOP)
    return [
        SiteRule(id=number, pattern=pattern, identities=(stores[number % 3],))
        for number, pattern in enumerate(patterns, 1)
    ]


@given(PATTERNS, URLS, st.sampled_from([None, WORK, LUMEN]))
def test_the_rule_that_is_said_to_decide_is_the_one_that_the_index_returns(
    patterns: list[str], url: str, here: str | None
) -> None:
    index = RuleIndex(rules(*patterns))
    verdict = address_verdict(index.explain(url, here), "forge.example", NAMES, here)
    decided = index.decide(url).rule
    assert [each.id for each in verdict.matches if each.decides] == ([decided.id] if decided else [])
    if decided is None:
        assert verdict.outcome == "none"
    else:
        assert verdict.outcome == "opens"
        assert verdict.identities == decided.identities
    for each in verdict.matches:
        assert each.reason.startswith("decides: " if each.decides else "would be ")


@pytest.mark.parametrize(
    ("winner", "loser", "why", "why_not"),
    [
        ("forge.example/lumen/*", "forge.example", "its path is longer", "is less specific"),
        ("forge.example", "*.forge.example", "its host is exact", "is less specific"),
        ("*.forge.example", "*.example", "its host is longer", "is less specific"),
        ("forge.example:443", "forge.example", "it names the port", "is less specific"),
        ("https://forge.example", "forge.example", "it names the scheme", "is less specific"),
        ("forge.example", "regex:forge", "a host counts more than a regular expression", "is a regular expression"),
        ("regex:forge", "regex:lumen", "it is the first regular expression that matches", "is a later regular"),
        ("forge.example/*umen/*", "forge.example/lume*/*", "its pattern comes first in the alphabet", "comes later"),
    ],
)
def test_reasons_say_what_made_the_difference(winner: str, loser: str, why: str, why_not: str) -> None:
    index = RuleIndex(rules(winner, loser))
    first, second = address_verdict(index.explain("https://forge.example/lumen/site"), "forge.example", NAMES).matches
    assert (first.pattern, first.reason) == (winner, f"decides: {why}")
    assert second.reason.startswith(f"would be Shopping, but {why_not}")


def test_an_address_opens_here_elsewhere_or_asks() -> None:
    asks = SiteRule(id=9, pattern="shop.example", identities=(WORK, SHOP), ask=True)
    limits = SiteRule(id=10, pattern="lumen.example", identities=(LUMEN,), limit=True)
    index = RuleIndex([*rules("work.example"), asks, limits])

    def title(host: str, here: str | None = None) -> str:
        return address_verdict(index.explain(f"https://{host}/", here), host, NAMES, here).title

    assert title("work.example") == "Opens in Lumen Studio"
    assert title("work.example", WORK) == "Opens in Lumen Studio instead"
    assert title("work.example", LUMEN) == "Opens here, as Lumen Studio"
    assert title("shop.example") == "Asks: Work or Shopping"
    assert title("shop.example", SHOP) == "Opens here, as Shopping"
    assert title("news.example") == "No rule for this address"
    assert title("news.example", WORK) == "Opens here, as Work"
    assert title("news.example", LUMEN) == "Lumen Studio opens only addresses that have a rule"
