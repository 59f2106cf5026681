from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from hatbox.cookies import ChangeCause, Cookie, CookieKey, Jar, JarLimits, Partition, RequestContext
from hatbox.cookies.eviction import store_cookies_to_evict, within_limits
from tests.cookies.strategies import FEW

NOW = 1_790_000_000.0
A = "https://a.site.example/"
B = "https://b.site.example/"


def names(jar: Jar) -> list[str]:
    return [cookie.name for cookie in jar]


def test_a_site_is_cleared_to_150_when_it_has_more_than_180() -> None:
    jar = Jar()
    for number in range(180):
        jar.store(f"c{number}=1", A if number % 2 else B, NOW + number)
    assert len(jar) == 180
    changes = jar.store("last=1", A, NOW + 180)
    assert len(jar) == 150
    assert [change.cookie.name for change in changes] == ["last", *(f"c{number}" for number in range(31))]
    assert {change.cause for change in changes[1:]} == {ChangeCause.EVICTED}
    assert all(change.removed for change in changes[1:])


def test_320_cookies_on_one_host_leave_165_as_in_browsers() -> None:
    jar = Jar()
    for number in range(320):
        jar.store(f"c{number}=1", A, NOW + number)
    assert names(jar) == [f"c{number}" for number in range(155, 320)]


def test_expired_cookies_go_first_and_may_be_enough() -> None:
    jar = Jar(JarLimits(per_site=3, per_site_after_eviction=2))
    jar.store_all(["a=1", "b=1; Max-Age=5", "c=1"], A, NOW)
    changes = jar.store("d=1", A, NOW + 5)
    assert [(change.cookie.name, change.cause) for change in changes] == [
        ("b", ChangeCause.EXPIRED),
        ("d", ChangeCause.EXPLICIT),
    ]
    assert names(jar) == ["a", "c", "d"]


def test_insecure_cookies_go_before_secure_ones() -> None:
    jar = Jar(JarLimits(per_site=3, per_site_after_eviction=3))
    for number, line in enumerate(["a=1; Secure", "b=1", "c=1; Secure", "d=1; Secure", "e=1; Secure"]):
        jar.store(line, A, NOW + number)
    assert names(jar) == ["c", "d", "e"]
    jar = Jar(JarLimits(per_site=3, per_site_after_eviction=3))
    for number, line in enumerate(["a=1; Secure", "b=1", "c=1", "d=1; Secure"]):
        jar.store(line, A, NOW + number)
    assert names(jar) == ["a", "c", "d"]


def test_a_cookie_that_was_sent_outlives_one_that_was_not() -> None:
    jar = Jar(JarLimits(per_site=3, per_site_after_eviction=3))
    jar.store("a=1; Path=/used", A, NOW)
    jar.store("b=1; Path=/unused", A, NOW + 1)
    jar.store("c=1; Path=/used", A, NOW + 2)
    for later in (3, 4):  # the second time from memory
        assert jar.header(f"{A}used", NOW + later) == "a=1; c=1"
    jar.store("d=1", A, NOW + 5)
    assert names(jar) == ["a", "c", "d"]


def test_looking_at_cookies_is_not_using_them() -> None:
    jar = Jar(JarLimits(per_site=1, per_site_after_eviction=1))
    jar.store("a=1", A, NOW)
    jar.select(A, NOW + 5)
    assert next(iter(jar)).last_access == NOW


def test_a_store_is_cleared_to_3000_when_it_has_more_than_3300() -> None:
    jar = Jar()
    for number in range(3300):
        jar.store("a=1", f"https://site{number}.example/", NOW + number)
    assert len(jar) == 3300
    jar.header("https://site0.example/", NOW + 4000)
    jar.store("a=1", A, NOW + 4001)
    assert len(jar) == 3000
    assert jar.header("https://site0.example/", NOW + 4002) == "a=1"
    assert jar.header("https://site1.example/", NOW + 4002) == ""


def test_a_visit_of_a_hostile_site_does_not_sign_others_out() -> None:
    jar = Jar()
    jar.store("sid=1", A, NOW)
    for number in range(31):
        flood = [f"c{each}=1; Max-Age=99999" for each in range(150)]
        jar.store_all(flood, f"https://hop{number}.example/", NOW + 1)
    assert jar.header(A, NOW + 2) == "sid=1"


_COOKIES = st.lists(st.tuples(st.integers(0, 3), st.floats(0, 60), st.booleans()), max_size=40)


@given(stored=_COOKIES, kept=st.integers(0, 20))
def test_sites_with_few_cookies_and_cookies_in_use_are_evicted_last(
    stored: list[tuple[int, float, bool]], kept: int
) -> None:
    day = 24 * 3600.0
    sites: list[list[Cookie]] = [[] for _ in range(4)]
    for number, (site, age, is_expired) in enumerate(stored):
        expires = NOW - 1 if is_expired else None
        used = NOW - age * day
        sites[site].append(Cookie(name=str(number), value="", domain="", expires=expires, last_access=used))
    evicted = store_cookies_to_evict(sites, JarLimits(per_store=20, per_store_after_eviction=kept), NOW)
    assert len(evicted) == (len(stored) - kept if len(stored) > 20 else 0)
    names = {cookie.name for cookie in evicted}
    remaining = [[cookie for cookie in site if cookie.name not in names] for site in sites]

    def rank(cookie: Cookie) -> int:
        return 0 if cookie.expired(NOW) else 1 if cookie.last_access < NOW - 30 * day else 2

    assert [rank(cookie) for cookie in evicted] == sorted(map(rank, evicted))
    for all_of_it, left in zip(sites, remaining, strict=True):
        for lost in (cookie for cookie in all_of_it if cookie.name in names):
            for other in (cookie for each in remaining for cookie in each):
                assert rank(other) >= rank(lost)
            rivals = [each for each in remaining if any(rank(other) == rank(lost) for other in each)]
            assert all(len(rival) <= len(left) + 1 for rival in rivals)


def test_each_partition_of_a_site_has_its_own_room() -> None:
    jar = Jar(JarLimits(per_site=2, per_site_after_eviction=1))
    for top in ("x", "y", "z"):
        context = RequestContext(site_for_cookies="null", partition=Partition(f"https://{top}.example"))
        jar.store_all([f"{top}{n}=1; Secure; SameSite=None; Partitioned" for n in range(2)], A, NOW, context)
    assert len(jar) == 6


def test_what_was_left_out_of_a_full_store_stays_out_when_it_is_offered_again() -> None:
    limits = JarLimits(per_site=2, per_store=3)
    hosts = ["site.test", "a.site.test", "b.site.test", "one.co.test", "two.co.test"]
    for order in permutations([CookieKey(host, True, "/", "sid") for host in hosts]):
        kept = list(within_limits(order, limits, FEW))
        assert len(kept) == 3
        assert sum(key.domain.endswith("site.test") for key in kept) <= 2
        for offered in order:
            assert list(within_limits([key for key in order if key in {*kept, offered}], limits, FEW)) == kept
