from __future__ import annotations

import random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox import SiteRule
from hatbox.site_rules import path_index
from hatbox.site_rules.regular_expression import MAX_REGEX_URL
from hatbox.site_rules.rule_index import MAX_REGEX_RULES, RuleIndex
from hatbox.site_rules.site_pattern import parse_site_pattern
from tests.site_rules.matrix import CASES, RULE_SETS, Case
from tests.site_rules.slow_model import slow_winner

WORK, HOME, BANK = "firefox-container-2", "firefox-container-1", "firefox-container-3"


def rule(number: int, pattern: str, *identities: str, ask: bool = False, limit: bool = False) -> SiteRule:
    return SiteRule(id=number, pattern=pattern, identities=identities or (WORK,), ask=ask, limit=limit)


def rules(*patterns: str) -> list[SiteRule]:
    return [rule(number, pattern) for number, pattern in enumerate(patterns, 1)]


# ------------------------------------------------------------------------------------------------------ the matrix


def test_the_matrix_has_at_least_200_urls() -> None:
    assert len(CASES) >= 200
    assert {case.rules for case in CASES} == set(RULE_SETS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rules}: {case.url!a}")
def test_the_expected_rule_decides(case: Case) -> None:
    for given_rules in (rules(*RULE_SETS[case.rules]), rules(*reversed(RULE_SETS[case.rules]))):
        if case.rules == "regex-order" and given_rules != rules(*RULE_SETS[case.rules]):
            continue
        if case.rules == "regex" and given_rules != rules(*RULE_SETS[case.rules]):
            continue
        index = RuleIndex(given_rules)
        decision = index.decide(case.url)
        found = "" if decision.rule is None else parse_site_pattern(decision.rule.pattern).text
        assert found == (parse_site_pattern(case.winner).text if case.winner else "")
        explained = index.explain(case.url)
        assert explained.decision == decision
        assert [match.rule for match in explained.matches[:1]] == [each for each in [decision.rule] if each]


# ---------------------------------------------------------------------------------------------- against a slow model

LABELS = st.sampled_from(["a", "b", "c", "aa"])
HOSTS = st.lists(LABELS, min_size=1, max_size=4).map(".".join)
PATHS = st.lists(st.sampled_from(["a", "b", "/", "ab", "/a/", "?"]), max_size=6).map(lambda each: "/" + "".join(each))


def normal(path: str) -> str:
    """A path that the URL parser does not change: an empty query is dropped."""
    return path[:-1] if path.endswith("?") and path.count("?") == 1 else path


GLOBS = st.lists(st.sampled_from(["a", "b", "/", "ab", "*", "/a/"]), max_size=6).map(
    lambda each: ("/" + "".join(each)).replace("**", "*").replace("**", "*")
)


@st.composite
def patterns(draw: st.DrawFn) -> str:
    if draw(st.integers(0, 9)) == 0:
        return "regex:" + draw(st.sampled_from(["a/", "^https", "b[.]c", "a+b", "(a|b)$", "://a"]))
    scheme = draw(st.sampled_from(["", "", "http://", "https://"]))
    host = draw(st.sampled_from(["", "", "*."])) + draw(HOSTS) if draw(st.integers(0, 5)) else "*"
    port = draw(st.sampled_from(["", "", ":80", ":8080"]))
    path = draw(st.just("") | GLOBS)
    return scheme + host + port + ("" if path == "/*" else path)


URLS = st.tuples(st.sampled_from(["http", "https"]), HOSTS, st.sampled_from([80, 443, 8080]), PATHS.map(normal))


@pytest.mark.parametrize("few", [0, 16], ids=["pieces by position", "pieces searched"])
@given(
    texts=st.lists(patterns(), max_size=12, unique=True),
    urls=st.lists(URLS, min_size=1, max_size=8),
    shuffle=st.randoms(),
)
def test_a_decision_is_that_of_trying_every_rule_and_does_not_depend_on_the_order(
    few: int, texts: list[str], urls: list[tuple[str, str, int, str]], shuffle: random.Random
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(path_index, "_FEW_PIECES", few)
        compare_with_the_slow_model(texts, urls, shuffle)


def compare_with_the_slow_model(
    texts: list[str], urls: list[tuple[str, str, int, str]], shuffle: random.Random
) -> None:
    ordered = rules(*texts)
    regexes = [each for each in ordered if each.pattern.startswith("regex:")]
    others = [each for each in ordered if each not in regexes]
    shuffle.shuffle(others)
    index, shuffled = RuleIndex(ordered), RuleIndex([*others, *regexes])
    assert not index.invalid
    for scheme, host, port, path in urls:
        url = f"{scheme}://{host}:{port}{path}"
        expected = slow_winner(ordered, scheme, host, port, path)
        assert index.decide(url).rule == expected
        assert shuffled.decide(url).rule == expected
        explained = index.explain(url)
        assert explained.decision.rule == expected
        # Total: without the winner, the second of the explanation wins, and so on.
        left = list(ordered)
        for match in explained.matches:
            assert RuleIndex(left).decide(url).rule == match.rule
            left.remove(match.rule)
        assert RuleIndex(left).decide(url).rule is None


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_a_pattern_or_is_refused_and_any_url_has_an_answer(pattern: str, url: str) -> None:
    index = RuleIndex([rule(1, pattern), rule(2, "*")])
    index.decide(url)
    index.explain(f"https://{url}")


# --------------------------------------------------------------------------------------------------- ask and limit


def test_a_rule_with_several_identities_asks_and_one_that_lost_the_others_does_not() -> None:
    index = RuleIndex([rule(1, "a.example", WORK, HOME, ask=True), rule(2, "b.example", WORK, ask=True)])
    asks = index.decide("https://a.example/")
    assert (asks.is_ask, asks.identities, asks.identity) == (True, (WORK, HOME), None)
    decided = index.decide("https://b.example/")
    assert (decided.is_ask, decided.identity) == (False, WORK)
    nothing = index.decide("https://c.example/")
    assert (nothing.rule, nothing.identities, nothing.is_ask, nothing.identity) == (None, (), False, None)


def test_a_limited_identity_opens_only_urls_whose_rule_names_it() -> None:
    index = RuleIndex(
        [
            rule(1, "*.work.example", WORK, limit=True),
            rule(2, "tools.example", WORK),
            rule(3, "sso.example", WORK, HOME, ask=True),
            rule(4, "mail.work.example/private/*", HOME),
            rule(5, "bank.example", BANK),
        ]
    )
    allowed = ["https://work.example/", "https://a.work.example/", "https://tools.example/", "https://sso.example/"]
    blocked = ["https://bank.example/", "https://unknown.example/", "https://mail.work.example/private/x"]
    for url in allowed:
        assert not index.decide(url, WORK).is_blocked, url
    for url in blocked:
        decision = index.decide(url, WORK)
        assert decision.is_blocked
        assert decision.limited_by == index.limit_of(WORK)
        assert decision.rule == index.decide(url).rule
    for url in allowed + blocked:
        assert not index.decide(url, HOME).is_blocked
        assert not index.decide(url).is_blocked
    for url in ("about:blank", "data:text/html,x", "file:///etc/passwd", "nonsense"):
        assert not index.decide(url, WORK).is_blocked, "limits are about http and https"


def test_two_limits_of_one_identity_allow_the_urls_of_both() -> None:
    limits = [rule(7, "b.example", WORK, limit=True), rule(3, "a.example", WORK, HOME, ask=True, limit=True)]
    for index in (RuleIndex(limits), RuleIndex(reversed(limits))):
        assert not index.decide("https://a.example/", WORK).is_blocked
        assert not index.decide("https://b.example/", WORK).is_blocked
        assert index.decide("https://b.example/", HOME).is_blocked
        blocked = index.decide("https://c.example/", WORK).limited_by
        assert blocked is not None
        assert blocked.id == 3, "the older rule is named, whatever the order"


def test_a_rule_that_cannot_be_read_matches_nothing_and_still_limits() -> None:
    index = RuleIndex([rule(1, "new-syntax://{x}", WORK, limit=True), rule(2, "a.example", HOME)])
    assert [each.id for each in index.invalid] == [1]
    assert index.decide("https://a.example/").identity == HOME
    assert index.decide("https://a.example/", WORK).is_blocked


# ------------------------------------------------------------------------------------------------------ explanation


def test_an_explanation_says_why_each_rule_loses() -> None:
    index = RuleIndex(
        rules(
            "regex:example",
            "regex:s",
            "*",
            "*.example",
            "*.s.example",
            "s.example",
            "s.example:8080",
            "s.example:8080/a*",
            "https://s.example:8080/ab*",
            "s.example:8080/ab*",
            "s.example:8080/a*b*",
        )
    )
    explained = index.explain("https://u:p@S.example:8080/abc#f")
    assert explained.url == "https://s.example:8080/abc"
    assert [(match.rule.pattern, match.reason) for match in explained.matches] == [
        ("https://s.example:8080/ab*", "the most specific rule that matches"),
        ("s.example:8080/ab*", "a pattern with a scheme beats one without"),
        ("s.example:8080/a*b*", "a path with fewer stars beats one with more"),
        ("s.example:8080/a*", "a longer path beats a shorter one"),
        ("s.example:8080", "a longer path beats a shorter one"),
        ("s.example", "a pattern with a port beats one without"),
        ("*.s.example", "an exact host beats a wildcard host"),
        ("*.example", "an exact host beats a wildcard host"),
        ("*", "an exact host beats a wildcard host"),
        ("regex:example", "a host beats a regular expression"),
        ("regex:s", "a host beats a regular expression"),
    ]
    only_regexes = RuleIndex(rules("regex:example", "regex:s")).explain("https://s.example/")
    assert [match.reason for match in only_regexes.matches] == [
        "the first regular expression that matches",
        "the first regular expression beats the others",
    ]
    assert RuleIndex(rules("s.example")).explain("https://s.example").matches[0].reason == "the only rule that matches"
    assert RuleIndex(rules("*.b.a", "*.a")).explain("https://b.a").matches[1].reason == (
        "a longer wildcard host beats a shorter one"
    )
    assert RuleIndex(rules("t/a*c", "t/ab*")).explain("https://t/abc").matches[1].reason == (
        "equally specific: patterns are compared alphabetically"
    )
    assert RuleIndex([rule(2, "a"), rule(1, "a")]).explain("https://a/").matches[1].rule.id == 2
    assert RuleIndex(rules("a")).explain("nonsense").notes == ("Rules apply to http and https URLs only.",)


@pytest.mark.parametrize(
    ("patterns", "refused"),
    [
        (["s.example/job/*"], True),
        (["https://s.example:8443"], True),
        (["*.example"], True),
        (["*"], True),
        (["t.example", "*.t.example", "s.example.t"], False),
        (["regex:nothing"], True),  # no host is known
        (["regex:nothing", "own:s.example"], False),  # a host beats regular expressions
        (["regex:nothing", "own:*.example"], False),
        (["regex:nothing", "own:s.example/own/*"], True),
        (["own:regex:nothing"], False),
        (["limit:t.example"], True),
        (["limit:t.example", "own:s.example"], False),
        (["limit:s.example"], False),
        (["limit:s.example", "s.example/job/*"], True),
        (["limit:https://s.example"], True),
    ],
)
def test_a_host_is_refused_to_an_identity_if_a_rule_may_decide_one_of_its_pages(
    patterns: list[str], refused: bool
) -> None:
    index = RuleIndex(
        SiteRule(
            id=number,
            pattern=pattern.removeprefix("own:").removeprefix("limit:"),
            identities=(HOME if pattern.startswith(("own:", "limit:")) else WORK,),
            limit=pattern.startswith("limit:"),
        )
        for number, pattern in enumerate(patterns, 1)
    )
    assert not index.invalid
    assert index.may_refuse_host("https://s.example/scope/", HOME) == refused
    assert not index.may_refuse_host("about:blank", HOME)


# --------------------------------------------------------------------------------------------------------- hostility


def test_a_huge_url_is_decided_by_its_host_and_path_and_not_by_regular_expressions() -> None:
    index = RuleIndex([rule(1, "a.example/job/*"), rule(2, "regex:a+$", WORK)])
    huge = "https://a.example/job/" + "a" * 2_000_000
    assert index.decide(huge).rule == rule(1, "a.example/job/*")
    other = "https://b.example/" + "a" * MAX_REGEX_URL
    assert index.decide(other).rule is None
    assert "more than 8,192 characters" in index.explain(other).notes[0]
    assert index.decide(other[: MAX_REGEX_URL - 1]).rule is not None
    assert not index.explain(other[: MAX_REGEX_URL - 1]).notes


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3000])
def test_a_huge_url_that_repeats_the_text_between_two_stars_takes_linear_time(count: int) -> None:
    index = RuleIndex(rules(*(f"a.example/*/x{number}/*y*z" for number in range(count))))
    start = process_time()
    assert index.decide("https://a.example" + "/x0" * 300_000).rule is None
    assert index.decide("https://a.example/" + "/x0/" * 300_000 + "y/z").rule is not None
    assert process_time() - start < 20, "trying the pattern at each place takes hours"


@pytest.mark.slow
def test_a_huge_url_takes_no_seconds_if_rules_have_texts_of_many_lengths_between_stars() -> None:
    index = RuleIndex(rules(*(f"h.example/*/{'p' * (number + 1)}/*" for number in range(199))))
    start = process_time()
    assert index.decide("https://h.example/" + "/" * 1_000_000).rule is None
    assert index.decide("https://h.example/" + "/" * 1_000_000 + "/pp/").rule is not None
    assert process_time() - start < 10, "looking up every length at each slash takes a minute"


@pytest.mark.parametrize(
    "expression",
    ["(a+)+$", "(a|aa)+$", "(a|a)*$", "(.*)*x", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$", "(a|b)*a(a|b){60}"],
)
def test_no_regular_expression_takes_exponential_time(expression: str) -> None:
    index = RuleIndex(rules(f"regex:{expression}"))
    assert not index.invalid
    letters = random.Random(1)
    start = process_time()
    for text in ("a" * 8000 + "!", "".join(letters.choice("ab") for _ in range(8000)), "x" * 8000):
        index.decide(f"https://s.example/{text}")
    # Python's re takes longer than the age of the universe. RE2 takes milliseconds.
    assert process_time() - start < 10


def test_at_most_100_regular_expressions_are_used() -> None:
    index = RuleIndex(rules(*(f"regex:no{number}" for number in range(MAX_REGEX_RULES)), "regex:yes"))
    assert [each.pattern for each in index.invalid] == ["regex:yes"]
    assert index.decide("https://yes.example/").rule is None
