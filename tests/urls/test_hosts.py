from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.urls.hosts import canonical_host, is_ip, is_trustworthy_host
from tests.cookies.strategies import timeless


@pytest.mark.parametrize(
    ("host", "canonical"),
    [
        ("Site.Example", "site.example"),
        ("site.example.", "site.example."),
        ("localhost", "localhost"),
        ("under_score.example", "under_score.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("straße.example", "xn--strae-oqa.example"),  # not strasse: browsers do not use the transitional mapping
        ("日本。example", "xn--wgv71a.example"),
        ("💩.example", "xn--ls8h.example"),
        ("１２７.0.0.1", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0x7f.0.0.01", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("1.2.3.4.", "1.2.3.4"),
        ("::1", "[::1]"),
        ("[0:0:0::1]", "[::1]"),
        ("[2001:DB8::A]", "[2001:db8::a]"),
        ("", ""),
        (".example", ""),
        ("a..example", ""),
        ("a b.example", ""),
        ("a%20.example", ""),
        ("user@site.example", ""),
        ("1.2.3.256", ""),
        ("1.2.3.4.5", ""),
        ("1.2.3.08", ""),
        ("site.0x", ""),
        ("site.1", ""),
        ("[::1", ""),
        ("[::g]", ""),
        ("a" * 300 + ".example", ""),
        ("\ud800.example", ""),
    ],
)
def test_a_host_has_one_spelling(host: str, canonical: str) -> None:
    assert canonical_host(host) == canonical


@timeless
@given(st.text())
def test_a_canonical_host_stays_as_it_is(host: str) -> None:
    canonical = canonical_host(host)
    assert canonical.isascii()
    assert canonical_host(canonical) == canonical


def test_ip_addresses_are_distinguished_from_names() -> None:
    assert is_ip("1.2.3.4")
    assert is_ip("[::1]")
    assert not is_ip("site.example")
    assert not is_ip("site1")


@pytest.mark.parametrize(
    ("host", "trusted"),
    [
        ("localhost", True),
        ("a.b.localhost", True),
        ("127.0.0.1", True),
        ("127.255.0.3", True),
        ("[::1]", True),
        ("localhost.example", False),
        ("notlocalhost", False),
        ("127.example", False),
        ("128.0.0.1", False),
        ("[::2]", False),
    ],
)
def test_a_local_host_is_potentially_trustworthy(host: str, trusted: bool) -> None:
    assert is_trustworthy_host(host) is trusted


@pytest.mark.parametrize("host", ["ü" * 300_000, "a." * 500_000, "1." * 500_000, "xn--" + "ß" * 300_000, "a" * 1025])
def test_a_host_of_any_length_is_read_at_once(host: str) -> None:
    assert canonical_host(host) == ""
