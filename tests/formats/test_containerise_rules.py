from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox import ContainerReference, InvalidInputFile, SiteRule
from hatbox.formats.containerise_rules import containerise_rules, read_containerise_file
from hatbox.site_rules.rule_index import RuleIndex


@pytest.mark.parametrize(
    ("line", "patterns"),
    [
        ("amazon.example , Work", ["amazon.example"]),
        ("Amazon.example,Work", ["amazon.example"]),
        ("*.amazon.example, Work", ["*.amazon.example"]),
        ("amazon.example/* , Work", ["amazon.example"]),
        ("amazon.example/ , Work", ["amazon.example"]),
        ("a.example/x/y , Work", ["a.example/x/y", "a.example/x/y?*", "a.example/x/y/*"]),
        ("a.example/x/* , Work", ["a.example/x", "a.example/x?*", "a.example/x/*"]),
        ("!*.amazon.example , Work", ["*.amazon.example"]),
        ("!*.amazon.example/* , Work", ["*.amazon.example"]),
        ("!*/shop?/* , Work", [r"regex:.*/shop.?/.*"]),
        (r"@.+\.amazon\.example$ , Work", [r"regex:.+\.amazon\.example$"]),
        ("@^https://a,b , Work", ["regex:^https://a,b"]),
        ("bücher.example , Work", ["xn--bcher-kva.example"]),
    ],
)
def test_a_line_is_translated(line: str, patterns: list[str]) -> None:
    bundle = read_containerise_file(f"# a comment\n\n{line}\n".encode(), "rules.csv")
    assert [each.pattern for each in bundle.rules] == patterns
    assert {each.container for each in bundle.rules} == {ContainerReference("Work")}
    assert not bundle.skipped


def test_a_path_is_compared_in_whole_segments_as_there() -> None:
    bundle = read_containerise_file(b"a.example/x , Work", "rules.csv")
    index = RuleIndex(
        [SiteRule(id=number, pattern=each.pattern, identities=("w",)) for number, each in enumerate(bundle.rules)]
    )
    for path, is_match in (("/x", True), ("/x/", True), ("/x/y", True), ("/x?q", True), ("/xy", False), ("/", False)):
        assert bool(index.decide(f"https://a.example{path}").rule) == is_match, path


def test_what_cannot_be_translated_is_reported_with_the_reason() -> None:
    lines = b"@(?=x)y , Work\n@[ , Work\na.*.example , Work\nok.example , Work\n"
    bundle = read_containerise_file(lines, "rules.csv")
    assert [each.pattern for each in bundle.rules] == ["ok.example"]
    assert [each.source for each in bundle.skipped] == ["@(?=x)y", "@[", "a.*.example"]
    assert "RE2" in bundle.skipped[0].reason


def test_no_container_is_the_default_store() -> None:
    (rule,) = read_containerise_file(b"a.example , No Container", "x").rules
    assert rule.container.cookie_store_id == "firefox-default"


@pytest.mark.parametrize("line", ["a.example", ", Work", "a.example ,", ","])
def test_a_line_without_pattern_or_container_is_refused_with_its_number(line: str) -> None:
    with pytest.raises(InvalidInputFile, match="line 3"):
        read_containerise_file(f"a.example , Work\n#\n{line}".encode(), "rules.csv")


def test_json_of_the_extension_is_read() -> None:
    storage: dict[str, Any] = {
        "map=a.example": {
            "host": "a.example",
            "containerName": "Work",
            "cookieStoreId": "firefox-container-9",
            "enabled": True,
        },
        "map=b.example": {"host": "b.example", "containerName": "Work", "enabled": False},
        "map=c.example": {"host": "c.example"},
        "map=d.example": 3,
        "pref=matchDomainOnly": {"value": True},
    }
    bundle = read_containerise_file(json.dumps(storage).encode(), "x.json")
    assert [(each.pattern, each.container) for each in bundle.rules] == [("a.example", ContainerReference("Work"))]
    assert [each.source for each in bundle.skipped] == ["b.example", "c.example", "d.example", "Match domain only"]
    same = containerise_rules(storage, "x", same_profile=True)
    assert same.rules[0].container == ContainerReference("Work", cookie_store_id="firefox-container-9")


@pytest.mark.parametrize("data", [b"{", b"{}", b'{"a": 1}', b"\xff,Work", b"{" * 100_000])
def test_another_file_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidInputFile, match="Nothing was imported"):
        read_containerise_file(data, "x")


@given(st.text(max_size=200))
def test_any_text_gives_rules_or_is_refused(text: str) -> None:
    with contextlib.suppress(InvalidInputFile):
        read_containerise_file(text.encode("utf-8", "surrogatepass"), "x")
