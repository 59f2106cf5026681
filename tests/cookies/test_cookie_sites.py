"""The sites of cookie stores, from the metadata of cookies."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies.cookie_sites import CookieSite, cookie_sites, host_of
from hatbox.cookies.sign_in_cookies import is_sign_in_cookie
from hatbox.store.base import CookieMetadata

NOW = 100.0


def test_hosts_of_one_registrable_domain_are_one_site() -> None:
    cookies = [
        (1, "site.example", "lang", 0, None, 1.0, 5.0),
        (1, "www.site.example", "sid", 1, None, 3.0, 9.0),
        (1, "127.0.0.1", "cart", 0, 200.0, 2.0, 2.0),
        (2, "site.example", "token", 0, 50.0, 2.0, 2.0),
        (3, "alice.github.io", "sid", 0, None, 4.0, 4.0),
        (3, "bob.github.io", "lang", 0, None, 6.0, 6.0),
    ]
    assert cookie_sites(cookies, NOW) == {
        1: [CookieSite("site.example", 2, 3.0, 9.0), CookieSite("127.0.0.1", 1, None, 2.0)],
        3: [CookieSite("bob.github.io", 1, None, 6.0), CookieSite("alice.github.io", 1, 4.0, 4.0)],
    }


def test_signed_in_since_the_oldest_sign_in_cookie_that_is_still_valid() -> None:
    def since(now: float, count: int = 5) -> float | None:
        cookies: list[CookieMetadata] = [
            (1, "site.example", "lang", 1, None, 1.0, 1.0),
            (1, "site.example", "old_session", 1, 50.0, 2.0, 2.0),
            (1, "site.example", "cart", 0, None, 3.0, 3.0),
            (1, "site.example", "token", 0, 500.0, 20.0, 20.0),
            (1, "site.example", "sid", 1, None, 10.0, 10.0),
        ]
        [site] = cookie_sites(cookies[:count], now)[1]
        return site.signed_in_since

    assert since(now=100) == 10
    assert since(now=10) == 2
    assert since(now=100, count=1) is None


times = st.integers(0, 200).map(float)
metadata = st.tuples(
    st.integers(0, 2),
    st.sampled_from(["a.example", "www.a.example", "b.example", "localhost"]),
    st.sampled_from(["sid", "lang", "cart"]),
    st.integers(0, 1),
    st.none() | times,
    times,
    times,
)


@given(st.lists(metadata))
def test_each_valid_cookie_is_counted_once_at_its_site(cookies: list[CookieMetadata]) -> None:
    found = cookie_sites(cookies, NOW)
    valid = [each for each in cookies if each[4] is None or each[4] > NOW]
    assert {(store, site.host) for store, sites in found.items() for site in sites} == {
        (each[0], host_of(each[1])) for each in valid
    }
    for store, sites in found.items():
        assert [-site.last_used for site in sites] == sorted(-site.last_used for site in sites)
        for site in sites:
            mine = [each for each in valid if each[0] == store and host_of(each[1]) == site.host]
            sign_ins = [
                made
                for _, _, name, flag, expires, made, _ in mine
                if is_sign_in_cookie(name, http_only=flag == 1, expires=expires, now=NOW)
            ]
            assert site.cookies == len(mine)
            assert site.last_used == max(each[6] for each in mine)
            assert site.signed_in_since == min(sign_ins, default=None)
