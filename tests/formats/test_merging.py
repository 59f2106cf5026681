from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatbox.cookies import ChangeCause, Cookie, JarChange, JarLimits, Partition
from hatbox.cookies.storage_model import LIFETIME_SECONDS
from hatbox.formats import ImportReport
from hatbox.formats.cookie_merge import EVICTED, OVER_LIMIT, merge

NOW = 2_000_000_000.25
DAY = 86400.0
FEW = JarLimits(per_site=3, per_site_after_eviction=2, per_store=5, per_store_after_eviction=4)


def cookie(name: str = "sid", **more: Any) -> Cookie:
    return Cookie(**{"name": name, "value": "1", "domain": "site.example", **more})


class Shop:
    """A store in memory, into which things are imported at a time of day that goes on."""

    def __init__(self, known: Iterable[Cookie] = (), limits: JarLimits = FEW) -> None:
        self.now = NOW
        self.kept = {each.key: each for each in known}
        self._limits = limits

    def take(self, given: Iterable[Cookie]) -> tuple[ImportReport, list[JarChange]]:
        report = ImportReport()
        changes = merge(self.kept.values(), given, self.now, report, self._limits)
        for change in changes:
            if change.removed:
                del self.kept[change.cookie.key]
            else:
                self.kept[change.cookie.key] = change.cookie
        return report, changes

    @property
    def names(self) -> str:
        return " ".join(sorted(each.name for each in self.kept.values()))


# ------------------------------------------------------------------------------------------------------ 400 days


@pytest.mark.parametrize("source", [{}, {"created": 1e9, "sequence": 10**15, "last_access": 1e9}])
@pytest.mark.parametrize("later", [0.5, 2 * DAY, 300 * DAY])
@pytest.mark.parametrize("beyond", [1.5, 1.5 * DAY, 10_000 * DAY, 1e300])
def test_a_time_beyond_400_days_is_cut_once(source: dict[str, Any], later: float, beyond: float) -> None:
    far = cookie(expires=NOW + LIFETIME_SECONDS + beyond, **source)
    shop = Shop()
    shop.take([far])
    (kept,) = shop.kept.values()
    assert NOW + LIFETIME_SECONDS - 2 < (kept.expires or 0) <= NOW + LIFETIME_SECONDS
    shop.now += later
    report, changes = shop.take([far])
    assert (changes, report.cookies_unchanged) == ([], 1)


def test_a_time_that_was_cut_gives_way_to_what_really_changes() -> None:
    shop = Shop()
    shop.take([cookie(expires=NOW + 1000 * DAY)])
    shop.now += DAY
    for newer, expires in (
        (cookie(value="2", expires=NOW + 1000 * DAY), shop.now + LIFETIME_SECONDS),
        (cookie(value="2", expires=NOW + 10 * DAY), NOW + 10 * DAY),
        (cookie(value="2", expires=NOW + 20 * DAY), NOW + 20 * DAY),
        (cookie(value="2", expires=None), None),
        (cookie(value="2", expires=NOW + 20 * DAY), NOW + 20 * DAY),
    ):
        report, _ = shop.take([newer])
        assert report.cookies_changed == 1
        assert shop.kept[newer.key].expires == (pytest.approx(expires, abs=2) if expires else None)


def test_what_has_expired_here_comes_in_as_new() -> None:
    shop = Shop([cookie(expires=NOW - 1)])
    report, changes = shop.take([cookie(expires=NOW + 5)])
    assert (report.cookies_new, report.cookies_changed) == (1, 0)
    assert [(each.removed, each.cause) for each in changes] == [
        (True, ChangeCause.EXPIRED),
        (False, ChangeCause.EXPLICIT),
    ]


# -------------------------------------------------------------------------------------------------------- limits


def used(name: str, when: float, **more: Any) -> Cookie:
    return cookie(name, created=1.0, sequence=int(when), last_access=when, **more)


def test_of_an_overfull_site_the_newest_are_kept_but_secure_ones_first() -> None:
    shop = Shop([used("a", 40), used("b", 1)])
    report, changes = shop.take([used("c", 30), used("d", 20, secure=True), used("e", 10)])
    assert shop.names == "a c d"
    assert (report.cookies_new, report.skipped, report.dropped) == (2, {OVER_LIMIT: 1}, {EVICTED: 1})
    assert [(each.cookie.name, each.cause) for each in changes if each.removed] == [("b", ChangeCause.EVICTED)]
    report, changes = shop.take([used("c", 30), used("d", 20, secure=True), used("e", 10)])
    assert (changes, report.skipped, report.dropped) == ([], {OVER_LIMIT: 1}, {})


def test_a_site_is_counted_with_all_its_domains_and_each_partition_apart() -> None:
    shop = Shop()
    here, there = ({"secure": True, "partition": Partition(f"https://{top}.example", True)} for top in "xy")
    shop.take([used("a", 1), used("b", 2, domain="a.site.example"), used("c", 3), used("d", 4, host_only=False)])
    assert shop.names == "b c d"
    shop.take([used("e", 1, **here), used("f", 1, **there)])
    assert shop.names == "b c d e f"


def test_of_an_overfull_store_the_newest_are_kept() -> None:
    shop = Shop([used(name, when, domain=f"{name}.example") for name, when in zip("abcde", range(5), strict=True)])
    shop.take([used("f", 2.5, domain="f.example"), used("g", 0.5, domain="g.example")])
    assert shop.names == "b c d e f"


def test_without_times_those_that_come_last_are_the_newest_also_the_second_time() -> None:
    shop = Shop([used("old", NOW)])
    names = [cookie(name) for name in "abcde"]
    shop.take(names)
    assert shop.names == "c d e"
    shop.now += DAY
    assert shop.take(names)[1] == []


def test_a_cookie_that_is_replaced_stays_as_new_as_it_was() -> None:
    shop = Shop([used("a", 50), used("b", 60), used("c", 70)])
    bundle = [used("a", 10, value="2"), used("d", 20)]  # a is used more here than there
    shop.take(bundle)
    assert shop.names == "a b c"
    assert shop.take(bundle)[1] == []


def test_of_equals_it_is_always_the_same_that_stay() -> None:
    bundle = [used(name, 5) for name in "abcde"]
    shop, other = Shop(), Shop()
    shop.take(bundle)
    other.take(bundle[::-1])
    assert shop.names == other.names
    assert shop.take(bundle[::-1])[1] == []


def test_what_is_used_here_stays_although_its_source_has_not_used_it() -> None:
    bundle = [used(name, when) for name, when in zip("abcd", range(4), strict=True)]
    shop = Shop()
    shop.take(bundle)
    shop.kept[bundle[1].key].last_access = NOW
    shop.take([*bundle, used("e", 10), used("f", 11)])
    assert shop.names == "b e f"


drawn = st.builds(
    used,
    st.sampled_from("abcd"),
    st.one_of(st.integers(0, 2).map(float), st.integers(-1, 2).map(lambda hours: NOW + hours * 3600)),
    value=st.sampled_from("12"),
    domain=st.sampled_from(["site.example", "a.site.example", "other.example", "third.example"]),
    secure=st.booleans(),
    expires=st.sampled_from([None, NOW - 1, NOW + 350 * DAY, NOW + 401 * DAY, NOW + 1000 * DAY]),
)


def without_times(cookie: Cookie) -> Cookie:
    return msgspec.structs.replace(cookie, created=0.0, sequence=0, last_access=0.0)


@pytest.mark.slow
@given(
    st.lists(drawn, max_size=12),
    st.lists(st.one_of(drawn, drawn.map(without_times)), max_size=16),
    st.lists(st.sampled_from([0.0, 1.0, 3600.0, 20 * DAY, 300 * DAY]), min_size=1, max_size=3),
    st.booleans(),
)
@settings(deadline=None, max_examples=600)  # it is about rare meetings, and quick
def test_whatever_is_known_and_given_the_limits_hold_and_the_second_time_nothing_changes(
    known: list[Cookie], bundle: list[Cookie], pauses: list[float], use_one: bool
) -> None:
    shop = Shop([each for each in known if each.last_access <= NOW])
    first, _ = shop.take(bundle)
    live = [each for each in shop.kept.values() if not each.expired(NOW)]
    assert len(live) <= FEW.per_store
    assert max(Counter(".".join(each.domain.split(".")[-2:]) for each in live).values(), default=0) <= FEW.per_site
    assert all(each.expires is None or each.expires <= NOW + LIFETIME_SECONDS for each in live if each not in known)
    for pause in pauses:
        shop.now = min(shop.now + pause, NOW + 349 * DAY)  # nothing expires meanwhile, which would make room
        if use_one and live:
            live[0].last_access = shop.now
        again, changes = shop.take(bundle)
        assert changes == []
        assert (again.skipped, again.dropped) == (first.skipped, {})
        assert again.cookies_unchanged == first.cookies_unchanged + first.cookies_new + first.cookies_changed
