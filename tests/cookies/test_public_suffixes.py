from __future__ import annotations

import pytest

from hatbox.cookies.public_suffixes import HostInfo, PublicSuffixes, default_public_suffixes


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("site.example", "site.example"),
        ("a.b.site.example", "site.example"),
        ("a.site.co.uk", "site.co.uk"),
        ("a.me.github.io", "me.github.io"),
        ("a.b.c.kobe.jp", "b.c.kobe.jp"),  # a rule with a star
        ("a.city.kobe.jp", "city.kobe.jp"),  # and the exception from it
        ("a.site.xn--p1ai", "site.xn--p1ai"),
        ("a.site.example.", "site.example."),
        ("a.site.unheard-of", "site.unheard-of"),
    ],
)
def test_the_site_is_one_label_below_the_suffix(host: str, site: str) -> None:
    assert default_public_suffixes().site(host) == site
    assert not default_public_suffixes().is_suffix(host)


@pytest.mark.parametrize("host", ["com", "co.uk", "github.io", "localhost", "co.uk.", "c.kobe.jp", "xn--p1ai"])
def test_a_suffix_is_a_site_of_its_own(host: str) -> None:
    assert default_public_suffixes().host_info(host) == HostInfo(host, (host,), is_suffix=True)


@pytest.mark.parametrize("host", ["1.2.3.4", "[::1]", ""])
def test_an_address_is_a_site_and_no_suffix(host: str) -> None:
    assert default_public_suffixes().host_info(host) == HostInfo(host, (host,), is_suffix=False)


def test_a_host_sees_the_cookies_of_its_parents_up_to_the_site() -> None:
    assert default_public_suffixes().host_info("a.b.site.co.uk").domains == (
        "a.b.site.co.uk",
        "b.site.co.uk",
        "site.co.uk",
    )


def test_places_of_long_hosts_are_not_cached() -> None:
    suffixes = PublicSuffixes(default_public_suffixes()._list)
    long = "a." * 100 + "site.example"
    assert suffixes.host_info(long).domains[-1] == suffixes.site("site.example") == "site.example"
    assert suffixes._cached.cache_info().currsize == 1
