"""What a user of any HTTP client would notice: one case for each feature in which cookie jars of today differ.

A step is a URL and a Set-Cookie line that comes from it, or a URL and the header that goes there.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

from hatbox.cookies import Jar, RequestContext

NOW = 1_790_000_000.0
DAY = 86400.0
A = "https://a.example.com/"
PLAIN_A = "http://a.example.com/"
PARENT = "https://example.com/"
B = "https://b.example.com/"
SCRIPT = RequestContext(script=True)


class Set(NamedTuple):
    url: str
    line: str | bytes
    context: RequestContext = RequestContext()


class Get(NamedTuple):
    url: str
    header: str
    context: RequestContext = RequestContext()
    later: float = 0.0


BIG = "v" * 4095

FEATURES: dict[str, list[Set | Get]] = {
    "host-only cookie stays off subdomains": [Set(PARENT, "a=1"), Get(PARENT, "a=1"), Get(A, "")],
    "Domain cookie reaches subdomains": [
        Set(A, "a=1; Domain=example.com"),
        Get(PARENT, "a=1"),
        Get("https://x.y.example.com/", "a=1"),
    ],
    "leading dot in Domain ignored": [Set(A, "a=1; Domain=.example.com"), Get(PARENT, "a=1"), Get(B, "a=1")],
    "Domain compared case-insensitively": [Set(A, "a=1; Domain=EXAMPLE.com"), Get("https://B.Example.COM/", "a=1")],
    "foreign and half-label Domain refused": [
        Set(A, "a=1; Domain=other.com"),
        Set(A, "b=1; Domain=ample.com"),
        Set(A, "c=1; Domain=b.a.example.com"),
        Get(A, ""),
        Get("https://ample.com/", ""),
    ],
    "host-only and Domain cookie of one name coexist": [
        Set(PARENT, "a=host"),
        Set(PARENT, "a=domain; Domain=example.com"),
        Get(PARENT, "a=host; a=domain"),
        Get(A, "a=domain"),
    ],
    "TLD as Domain refused": [Set(A, "a=1; Domain=com"), Get(A, "")],
    "ICANN public suffix refused (co.uk)": [
        Set("https://x.co.uk/", "a=1; Domain=co.uk"),
        Get("https://x.co.uk/", ""),
    ],
    "private public suffix refused (github.io)": [
        Set("https://me.github.io/", "a=1; Domain=github.io"),
        Get("https://me.github.io/", ""),
        Get("https://you.github.io/", ""),
    ],
    "suffix naming itself becomes host-only": [
        Set("https://github.io/", "a=1; Domain=github.io"),
        Get("https://github.io/", "a=1"),
        Get("https://me.github.io/", ""),
    ],
    "ports share cookies": [Set("https://a.example.com:8443/", "a=1"), Get(A, "a=1")],
    "IPv4 host keeps a host-only cookie": [Set("http://127.0.0.1:80/", "a=1"), Get("http://127.0.0.1/", "a=1")],
    "IPv4 tail as Domain refused": [Set("http://127.0.0.1/", "a=1; Domain=0.0.1"), Get("http://127.0.0.1/", "")],
    "IPv6 host keeps a cookie": [Set("http://[::1]:80/", "a=1"), Get("http://[0:0::1]/", "a=1")],
    "single-label host keeps a cookie": [Set("http://intranet/", "a=1"), Get("http://intranet/", "a=1")],
    "IDN host and its punycode are one": [
        Set("https://bücher.example/", "a=1"),
        Get("https://xn--bcher-kva.example/", "a=1"),
        Get("https://BÜCHER.example/", "a=1"),
    ],
    "Domain in punycode on an IDN host": [
        Set("https://www.bücher.example/", "a=1; Domain=xn--bcher-kva.example"),
        Get("https://bücher.example/", "a=1"),
    ],
    "Secure not sent over http": [Set(A, "a=1; Secure"), Get(PLAIN_A, ""), Get(A, "a=1")],
    "Secure not accepted over http": [Set(PLAIN_A, "a=1; Secure"), Get(A, "")],
    "http cannot overwrite a Secure cookie": [
        Set(A, "a=1; Secure"),
        Set(PLAIN_A, "a=2"),
        Set(PLAIN_A, "a=; Max-Age=0"),
        Get(A, "a=1"),
    ],
    "... nor shadow it from another path or domain": [
        Set(A, "a=1; Secure; Path=/login"),
        Set(PLAIN_A, "a=2; Path=/login/en"),
        Set(PLAIN_A, "a=3; Path=/login; Domain=example.com"),
        Set("http://sub.a.example.com/", "a=4; Path=/login"),
        Get("https://a.example.com/login/en", "a=1"),
        Get("https://sub.a.example.com/login", ""),
    ],
    "... but may on an unrelated path": [
        Set(A, "a=1; Secure; Path=/login"),
        Set(PLAIN_A, "a=2; Path=/foo"),
        Set(PLAIN_A, "a=3; Path=/"),
        Get("https://a.example.com/foo", "a=2; a=3"),
    ],
    "http://localhost counts as secure": [
        Set("http://localhost:8000/", "a=1; Secure"),
        Get("http://localhost/", "a=1"),
        Set("http://app.localhost/", "b=1; Secure"),
        Get("http://app.localhost/", "b=1"),
        Set("http://127.3.2.1/", "c=1; Secure"),
        Get("http://127.3.2.1/", "c=1"),
        Set("http://[::1]/", "d=1; Secure"),
        Get("http://[::1]/", "d=1"),
    ],
    "SameSite=None without Secure refused": [
        Set(A, "a=1; SameSite=None"),
        Set(A, "b=1; SameSite=None; Secure"),
        Get(A, "b=1"),
    ],
    "__Secure- enforced": [Set(A, "__Secure-a=1"), Set(A, "__Secure-b=1; Secure"), Get(A, "__Secure-b=1")],
    "__Host- enforced": [
        Set(A, "__Host-a=1"),
        Set(A, "__Host-b=1; Secure"),
        Set(A, "__Host-c=1; Secure; Path=/x"),
        Set(A, "__Host-d=1; Secure; Path=/; Domain=a.example.com"),
        Set(A, "__Host-e=1; Secure; Path=/"),
        Get(A, "__Host-e=1"),
    ],
    "prefixes case-insensitive": [
        Set(A, "__SECURE-a=1"),
        Set(A, "__host-b=1; Secure"),
        Set(A, "__hOsT-c=1; Secure; Path=/"),
        Get(A, "__hOsT-c=1"),
    ],
    "__Http- and __Host-Http- enforced": [
        Set(A, "__Http-a=1; Secure"),
        Set(A, "__Http-b=1; HttpOnly"),
        Set(A, "__Host-Http-c=1; Secure; Path=/"),
        Set(A, "__Host-Http-d=1; Secure; HttpOnly"),
        Set(A, "__Http-e=1; Secure; HttpOnly"),
        Set(A, "__Host-Http-f=1; Secure; HttpOnly; Path=/"),
        Get(A, "__Http-e=1; __Host-Http-f=1"),
    ],
    "nameless value posing as a prefix refused": [
        Set(A, "=__Host-a; Secure; Path=/"),
        Set(A, "__secure-b; Secure"),
        Set(A, "__Http-c; Secure; HttpOnly"),
        Get(A, ""),
    ],
    "nameless cookie kept, sent without =": [Set(A, "foo"), Get(A, "foo"), Set(A, "=bar"), Get(A, "bar")],
    "empty name and value refused": [Set(A, ""), Set(A, "="), Set(A, " = ; Path=/"), Get(A, "")],
    "control character refuses the cookie": [
        Set(A, "a=1\x00"),
        Set(A, "b=1\x1f; Path=/"),
        Set(A, "c=1; Path=/\x7f"),
        Set(A, "d\r=1"),
        Get(A, ""),
    ],
    "TAB inside a value kept": [Set(A, "a\t=\tx\ty\t"), Get(A, "a=x\ty")],
    "value returned byte for byte (quotes, commas)": [Set(A, 'a="x, y"==\\'), Get(A, 'a="x, y"==\\')],
    "UTF-8 bytes returned byte for byte": [Set(A, "a=é€".encode()), Get(A, "a=é€".encode().decode("latin-1"))],
    "names with odd characters kept": [Set(A, "a[0]{b}@,(c)=1"), Get(A, "a[0]{b}@,(c)=1")],
    "4096 bytes of name+value kept": [Set(A, f"n={BIG}"), Get(A, f"n={BIG}")],
    "4097 bytes of name+value refused": [Set(A, f"nn={BIG}"), Get(A, "")],
    "attribute value over 1024 bytes ignored": [
        Set(A, f"a=1; Path=/; Path=/{'p' * 1024}"),
        Set(A, f"b=1; Path=/{'p' * 1023}"),
        Get(A, "a=1"),
        Get(f"{A}{'p' * 1023}", "b=1; a=1"),
    ],
    "last of repeated attributes wins": [
        Set(A, "a=1; Path=/x; Path=/"),
        Set(A, "b=1; Domain=other.com; Domain=example.com"),
        Set(A, "c=1; Max-Age=0; Max-Age=9"),
        Get(A, "a=1; b=1; c=1"),
        Get(B, "b=1"),
    ],
    "unknown attributes and empty parts ignored": [Set(A, "a=1;; ;foo;bar=baz;=;Path=/;"), Get(A, "a=1")],
    "default path is the directory": [
        Set("https://a.example.com/x/y/page", "a=1"),
        Get("https://a.example.com/x/y", "a=1"),
        Get("https://a.example.com/x/y/z", "a=1"),
        Get("https://a.example.com/x", ""),
    ],
    "Path stops at a / boundary": [
        Set(A, "a=1; Path=/foo"),
        Get(f"{A}foo", "a=1"),
        Get(f"{A}foo/bar", "a=1"),
        Get(f"{A}foobar", ""),
        Get(f"{A}foo?q", "a=1"),
    ],
    "Path=/foo/ does not match /foo": [Set(A, "a=1; Path=/foo/"), Get(f"{A}foo", ""), Get(f"{A}foo/", "a=1")],
    "Path not tied to the setting URL": [Set(f"{A}x/", "a=1; Path=/other"), Get(f"{A}other", "a=1")],
    "non-absolute Path means default": [
        Set(f"{A}x/y", "a=1; Path=foo"),
        Set(f"{A}x/y", "b=1; Path=/foo; Path="),
        Get(f"{A}x/z", "a=1; b=1"),
        Get(f"{A}foo", ""),
    ],
    "expired cookie deletes the old one": [
        Set(A, "a=1"),
        Set(A, "a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT"),
        Get(A, ""),
    ],
    "Max-Age=0 and negative delete": [
        Set(A, "a=1"),
        Set(A, "b=1"),
        Set(A, "a=1; Max-Age=0"),
        Set(A, "b=1; Max-Age=-5"),
        Get(A, ""),
    ],
    "Max-Age beats Expires": [
        Set(A, "a=1; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT"),
        Set(A, "b=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT; Max-Age=0"),
        Get(A, "a=1"),
    ],
    "malformed Max-Age ignored": [
        Set(A, "a=1; Max-Age="),
        Set(A, "b=1; Max-Age=-"),
        Set(A, "c=1; Max-Age=1.5"),
        Set(A, "d=1; Max-Age=+0"),
        Set(A, "e=1; Max-Age=0x0"),
        Get(A, "a=1; b=1; c=1; d=1; e=1", later=1000 * DAY),
    ],
    "huge Max-Age does not break": [
        Set(A, f"a=1; Max-Age={'9' * 1000}"),
        Get(A, "a=1", later=399 * DAY),
        Get(A, "", later=401 * DAY),
    ],
    "loose dates parsed (asctime, 2-digit, odd)": [
        Set(A, "a=1; Expires=Sun Nov  6 08:49:37 1994"),
        Set(A, "b=1; Expires=Sunday, 06-Nov-94 08:49:37 GMT"),
        Set(A, "c=1; Expires=6/nov/94T8:49:37Z 08:49:37"),
        Get(A, ""),
    ],
    "impossible date ignored": [
        Set(A, "a=1; Expires=Thu, 31 Feb 2000 00:00:00 GMT"),
        Set(A, "b=1; Expires=Thu, 01 Feb 2000 25:00:00 GMT"),
        Get(A, "a=1; b=1"),
    ],
    "longer paths first": [
        Set(A, "a=1; Path=/"),
        Set(A, "b=1; Path=/x/y"),
        Set(A, "c=1; Path=/x"),
        Get(f"{A}x/y", "b=1; c=1; a=1"),
    ],
    "then older first; replacing keeps the age": [
        Set(A, "a=1"),
        Set(A, "b=1"),
        Set(A, "a=2"),
        Get(A, "a=2; b=1"),
    ],
    "one name on two paths sent twice": [
        Set(A, "a=1; Path=/"),
        Set(A, "a=2; Path=/x"),
        Get(f"{A}x", "a=2; a=1"),
    ],
    "HttpOnly hidden from script": [Set(A, "a=1; HttpOnly"), Set(A, "b=1"), Get(A, "b=1", SCRIPT), Get(A, "a=1; b=1")],
    "script cannot set or replace HttpOnly": [
        Set(A, "a=1; HttpOnly"),
        Set(A, "a=2", SCRIPT),
        Set(A, "a=; Max-Age=0", SCRIPT),
        Set(A, "b=1; HttpOnly", SCRIPT),
        Get(A, "a=1"),
    ],
    # Beyond the table of features.
    "400-day cap on dates": [
        Set(A, "a=1; Expires=Fri, 01 Jan 2100 00:00:00 GMT"),
        Get(A, "a=1", later=399 * DAY),
        Get(A, "", later=401 * DAY),
    ],
    "nameless value holding = refused, as in both browsers": [Set(A, "=a=b"), Get(A, "")],
    "Domain naming its own address is host-only": [
        Set("http://127.0.0.1/", "a=1"),
        Set("http://127.0.0.1/", "a=2; Domain=127.0.0.1"),
        Get("http://127.0.0.1/", "a=2"),
    ],
    "empty Domain means none": [Set(A, "a=1; Domain="), Get(A, "a=1"), Get(B, "")],
    "Domain of a dot refused": [Set(A, "a=1; Domain=."), Get(A, "")],
    "Domain outside ASCII refused": [
        Set("https://bücher.example/", "a=1; Domain=bücher.example".encode()),
        Get("https://bücher.example/", ""),
    ],
    "Partitioned needs Secure": [
        Set(A, "a=1; Partitioned"),
        Set(A, "b=1; Partitioned; Secure; SameSite=None"),
        Get(A, "b=1"),
    ],
    "web sockets see the cookies of http": [Set(A, "a=1; Secure"), Get("wss://a.example.com/", "a=1")],
    "other schemes have no cookies": [Set("ftp://a.example.com/", "a=1"), Get("ftp://a.example.com/", "")],
}


@pytest.mark.parametrize("steps", FEATURES.values(), ids=FEATURES.keys())
def test_feature(steps: list[Set | Get]) -> None:
    jar = Jar()
    for number, step in enumerate(steps):
        now = NOW + number / 1000
        if isinstance(step, Set):
            jar.store(step.line, step.url, now, step.context)
        else:
            assert jar.header(step.url, now + step.later, step.context) == step.header


def test_every_feature_of_the_table_is_here() -> None:
    assert list(FEATURES).index("script cannot set or replace HttpOnly") == 58 - 1
