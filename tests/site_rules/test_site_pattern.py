from __future__ import annotations

import pytest

from hatbox import InvalidSiteRule
from hatbox.site_rules.regular_expression import MAX_REGEX_SIZE
from hatbox.site_rules.site_pattern import MAX_PATTERN, parse_site_pattern


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("GitHub.com", "github.com"),
        ("github.com.", "github.com"),
        ("github.com/*", "github.com"),
        ("*://github.com/*", "github.com"),
        ("HTTPS://GitHub.com/A", "https://github.com/A"),
        ("github.com:*", "github.com"),
        ("github.com:0443", "github.com:443"),
        ("*.GitHub.com/a/**/b***", "*.github.com/a/*/b*"),
        ("github.com/a/../b", "github.com/b"),
        ("github.com/a/./b/%2e%2e/c", "github.com/a/c"),
        ("github.com/%77ork", "github.com/work"),
        ("github.com/caf%c3%a9", "github.com/caf%C3%A9"),
        ("github.com/café", "github.com/caf%C3%A9"),
        ("github.com?q=1", "github.com/?q=1"),
        ("github.com/a?", "github.com/a"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("b%C3%BCcher.example", "xn--bcher-kva.example"),
        ("127.1", "127.0.0.1"),
        ("[0:0::1]:80", "[::1]:80"),
        ("*", "*"),
        ("*://*", "*"),
        ("*:8080", "*:8080"),
        ("regex:A", "regex:A"),
        ("s.example/?u=https://x/", "s.example/?u=https://x/"),
    ],
)
def test_patterns_with_the_same_meaning_have_the_same_spelling(spelling: str, canonical: str) -> None:
    parsed = parse_site_pattern(spelling)
    assert parsed.text == canonical
    assert parse_site_pattern(parsed.text) == parsed


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("", "no host"),
        ("/job/", "regex:EXPRESSION"),
        ("https://", "no host"),
        ("*.", "no host"),
        (":8080", "no host"),
        ("git*.example", "first label"),
        ("*git.example", "first label"),
        ("a.*.example", "first label"),
        ("*.*.example", "first label"),
        ("*.127.0.0.1", "no subdomains"),
        ("*.[::1]", "not a valid host"),
        ("::1", "no host"),
        ("[::1", "not a valid host"),
        ("[::g]", "not a valid host"),
        ("256.1.1.1", "not a valid host"),
        ("a..example", "not a valid host"),
        (".a.example", "not a valid host"),
        ("<all_urls>", "not a valid host"),
        ("a.example:x", "not a port"),
        ("a.example:", "not a port"),
        ("a.example:65536", "not a port"),
        ("a.example:99999999999999999999", "not a port"),
        ("a.example:²", "not a port"),
        ("user@a.example", "user name or password"),
        ("https://u:p@a.example/", "user name or password"),
        ("ftp://a.example", "http and https only"),
        ("file:///etc", "http and https only"),
        ("moz-extension://x/", "http and https only"),
        ("a b.example", "space"),
        ("a.example/a b", "space"),
        ("a.example/\n", "space"),
        ("a.example\\x", "backslash"),
        ("a.example/#x", "#"),
        ("x" * 300 + ".example", "not a valid host"),
        ("a.example/" + "x" * MAX_PATTERN, "characters"),
        ("regex:[", "RE2"),
        ("regex:(?=x)", "RE2"),
        ("regex:(a)\\1", "RE2"),
        ("regex:a{100000}", "RE2"),
        ("regex:((a{99}){99}){99}", "RE2"),
        ("regex:(a|b){500}", f"more than {MAX_REGEX_SIZE}"),
        ("regex:\\pL{50}", "too large"),
    ],
)
def test_an_invalid_pattern_is_refused_with_the_reason_and_an_example(pattern: str, problem: str) -> None:
    with pytest.raises(InvalidSiteRule) as refused:
        parse_site_pattern(pattern)
    assert problem in str(refused.value)
    assert "Examples: github.com" in str(refused.value)
    assert len(str(refused.value)) < 3000
