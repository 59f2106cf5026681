"""Site rules: one decision among 10,000 rules, against parsing the URL and against trying all rules.

    python -m benchmarks.site_rules

Every URL is new to the index, so nothing is cached. Times are CPU time, the best of several rounds. The last part has
regular expressions at all their limits, and a URL that makes each of them take as long as possible.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from time import process_time
from typing import Final

from benchmarks.benchmark import Benchmark, Figure, Measured
from hatbox.site_rules.compared_url import compared_url
from hatbox.site_rules.regular_expression import MAX_REGEX_URL
from hatbox.site_rules.rule_index import MAX_REGEX_RULES, RuleIndex
from hatbox.site_rules.site_pattern import parse_site_pattern
from hatbox.site_rules.site_rule import SiteRule
from hatbox.urls.url import parse_url

ROUNDS: Final = 5
REGEX: Final = "100 regular expressions"
WORST_REGEX: Final = "the largest expressions and the worst URL that are allowed"
_WORST_EXPRESSION: Final = "(a|b)*a(a|b){92}"  # each character of the URL adds a state; nearly the largest allowed


def index(patterns: Iterable[str]) -> RuleIndex:
    """An index of rules with these patterns."""
    rules = [
        SiteRule(id=number, pattern=each, identities=("firefox-container-2",)) for number, each in enumerate(patterns)
    ]
    return RuleIndex(rules)


def sets(rules: int) -> dict[str, tuple[list[str], list[str]]]:
    """Patterns, and URLs which they decide, by name."""
    numbers = range(rules)
    return {
        "hosts": (
            [f"site{number}.example" for number in numbers],
            [f"https://site{number}.example/path/page?id={number}" for number in numbers],
        ),
        "wildcard hosts": (
            [f"*.site{number}.example" for number in numbers],
            [f"https://a.b.site{number}.example/path/page?id={number}" for number in numbers],
        ),
        "paths of one host": (
            [f"github.example/org-{number}/*" for number in numbers],
            [f"https://github.example/org-{number}/repository/issues?page=2" for number in numbers],
        ),
        "hosts, ports, paths, schemes": (
            [
                f"{('', 'https://')[number % 2]}{('', '*.')[number % 3 == 0]}s{number % 500}.example"
                f"{('', ':8443')[number % 5 == 0]}/{number % 7}/*/{number}*"
                for number in numbers
            ],
            [f"https://s{number % 500}.example/{number % 7}/x/{number}/y?z={number}" for number in numbers],
        ),
        "paths with text between stars": (
            [f"github.example/*/team-{number}/*" for number in numbers],
            [f"https://github.example/organization/team-{number}/repository/issues?page=2" for number in numbers],
        ),
        "no rule matches": (
            [f"*.site{number}.example/job/*" for number in numbers],
            [f"https://www.other{number}.example/job/page?id={number}" for number in numbers],
        ),
    }


def per_call(function: Callable[[str], object], texts: Sequence[str]) -> float:
    """The CPU time of one call, in microseconds: the best of several rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = process_time()
        for text in texts:
            function(text)
        best = min(best, process_time() - start)
    return best / len(texts) * 1e6


def measure(_: Path, rules: int, regex_rules: int) -> Measured:
    """All figures."""
    figures: dict[str, float | tuple[float, float]] = {}
    for name, (patterns, urls) in sets(rules).items():
        full, few = index(patterns), index(patterns[:10])
        assert (full.decide(urls[-1]).rule is None) == (name == "no rule matches")
        parsed = [parse_site_pattern(each) for each in patterns]

        def try_all(url: str, parsed: Sequence[object] = parsed) -> list[object]:
            compared = compared_url.__wrapped__(url)
            return [each for each in parsed if each.matches(compared)]  # type: ignore[attr-defined]

        decision = per_call(full.decide, urls)
        figures[name] = decision
        figures[f"{name}, to 10 rules"] = (decision, per_call(few.decide, urls))
        figures[f"{name}, to parsing"] = (decision, per_call(parse_url.__wrapped__, urls))
        figures[f"{name}, to every rule"] = (decision, per_call(try_all, urls[:: rules // 10]))
    ordinary = index(f"regex:^https://git{number}[.]site[.]example/(a|b)+/[0-9]+" for number in range(regex_rules))
    urls = [f"https://www.other.example/some/path/here?query=value&b={number}" for number in range(300)]
    figures[REGEX] = per_call(ordinary.decide, urls)
    figures[WORST_REGEX] = worst_expressions(regex_rules)
    return figures


def worst_expressions(count: int) -> float:
    """Seconds for the largest expressions with the worst URL that are allowed."""
    worst = index(f"regex:{_WORST_EXPRESSION}{number:02}" for number in range(count))
    assert not worst.invalid
    letters = random.Random(1)
    prefix = "https://a.example/"
    hostile = prefix + "".join(letters.choice("ab") for _ in range(MAX_REGEX_URL - len(prefix)))
    start = process_time()
    worst.decide(hostile)
    return process_time() - start


BENCHMARK = Benchmark(
    measure,
    [
        *(Figure(name, "µs", at_most=20) for name in sets(10)),
        *(Figure(f"{name}, to 10 rules", "µs", "10 rules", at_most=5) for name in sets(10)),
        *(Figure(f"{name}, to every rule", "µs", "every rule", at_least=50) for name in sets(10)),
        *(Figure(f"{name}, to parsing", "µs", "parsing the URL") for name in sets(10)),
        Figure(REGEX, "µs"),
        Figure(WORST_REGEX, "s"),
    ],
    rules=(10_000, 20),
    regex_rules=(MAX_REGEX_RULES, 2),
)

if __name__ == "__main__":
    BENCHMARK.main()
