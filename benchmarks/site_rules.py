"""Site rules: one decision among 10,000 rules, against parsing the URL and against trying all rules.

    python -m benchmarks.site_rules

Every URL is new to the index, so nothing is cached. Times are CPU time, the best of several rounds; only their ratios
mean something on another machine. The last part has regular expressions at all their limits, and a URL that makes each
of them take as long as possible.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence
from time import process_time
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.bars import Bar, bars_table
from hatbox.identities.site_rules.compared_url import compared_url
from hatbox.identities.site_rules.regular_expression import MAX_REGEX_URL
from hatbox.identities.site_rules.rule_index import MAX_REGEX_RULES, RuleIndex
from hatbox.identities.site_rules.site_pattern import parse_site_pattern
from hatbox.identities.site_rules.site_rule import SiteRule
from hatbox.urls.url import parse_url

RULES: Final = 10_000
ROUNDS: Final = 5
MAX_MICROSECONDS: Final = 20.0
_WORST_EXPRESSION: Final = "(a|b)*a(a|b){92}"  # each character of the URL adds a state; nearly the largest allowed
_FREEZING: Final = "(a+)+$"


def index(patterns: Iterable[str]) -> RuleIndex:
    """An index of rules with these patterns."""
    rules = [
        SiteRule(id=number, pattern=each, identities=("firefox-container-2",)) for number, each in enumerate(patterns)
    ]
    return RuleIndex(rules)


def sets() -> dict[str, tuple[list[str], list[str]]]:
    """Patterns, and URLs which they decide, by name."""
    numbers = range(RULES)
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


def main() -> None:
    """Measure and print."""
    console = Console()
    table = Table(title=f"One decision among {RULES:,} rules, µs", title_justify="left")
    for heading in ("", "decision", "10 rules", "parsing the URL", "trying every rule"):
        table.add_column(heading, justify="right" if heading else "left")
    bars: list[Bar] = []
    for name, (patterns, urls) in sets().items():
        full, small = index(patterns), index(patterns[:10])
        assert (full.decide(urls[-1]).rule is None) == (name == "no rule matches")
        decision, few = per_call(full.decide, urls), per_call(small.decide, urls)
        parsing = per_call(parse_url.__wrapped__, urls)
        parsed = [parse_site_pattern(each) for each in patterns]

        def try_all(url: str, parsed: Sequence[object] = parsed) -> list[object]:
            compared = compared_url.__wrapped__(url)
            return [each for each in parsed if each.matches(compared)]  # type: ignore[attr-defined]

        trying = per_call(try_all, urls[:: RULES // 10])
        table.add_row(name, *(f"{each:,.1f}" for each in (decision, few, parsing, trying)))
        bars.append((f"{name}: µs", decision, "<=", MAX_MICROSECONDS))
        bars.append((f"{name}: 10,000 rules / 10 rules", decision / few, "<=", 5))
        bars.append((f"{name}: trying every rule / decision", trying / decision, ">=", 50))
    console.print(table)
    console.print(bars_table(bars))
    regular_expressions(console)


def regular_expressions(console: Console) -> None:
    """Regular expressions: ordinary ones, and the worst case."""
    ordinary = index(f"regex:^https://git{number}[.]site[.]example/(a|b)+/[0-9]+" for number in range(MAX_REGEX_RULES))
    urls = [f"https://www.other.example/some/path/here?query=value&b={number}" for number in range(300)]
    worst = index(f"regex:{_WORST_EXPRESSION}{number:02}" for number in range(MAX_REGEX_RULES))
    assert not worst.invalid
    letters = random.Random(1)
    prefix = "https://a.example/"
    hostile = prefix + "".join(letters.choice("ab") for _ in range(MAX_REGEX_URL - len(prefix)))
    start = process_time()
    worst.decide(hostile)
    seconds = process_time() - start
    freezing = re.compile(_FREEZING)
    start = process_time()
    freezing.search("a" * 24 + "!")
    console.print(
        f"{MAX_REGEX_RULES} ordinary regular expressions: {per_call(ordinary.decide, urls):,.0f} µs. "
        f"{MAX_REGEX_RULES} of the largest, with the longest and worst URL: {seconds:.2f} s. "
        f"Python's re, {_FREEZING} on 25 characters: {process_time() - start:.2f} s, and twice that for each more."
    )


if __name__ == "__main__":
    main()
