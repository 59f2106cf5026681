from __future__ import annotations

from threading import Thread

import pytest

import hatbox.cookies
from hatbox.cookies import (
    ChangeCause,
    Cookie,
    CookieKey,
    CookieRejected,
    ExclusionReason,
    Jar,
    JarChange,
    JarLimits,
    Partition,
    RequestContext,
    SameSite,
    parse_request_url,
)
from hatbox.errors import HatboxError

NOW = 1_790_000_000.0
A = "https://a.site.example/dir/page"
PLAIN_A = "http://a.site.example/dir/page"


def told(changes: list[JarChange]) -> list[tuple[str, bool, str]]:
    return [(change.cookie.pair, change.removed, change.cause.value) for change in changes]


def test_public_names_are_listed_in_order() -> None:
    assert hatbox.cookies.__all__ == sorted(hatbox.cookies.__all__)


def test_a_new_cookie_is_one_change() -> None:
    (change,) = Jar().store("a=1; Max-Age=60; HttpOnly", A, NOW)
    assert change == JarChange(
        Cookie(
            name="a",
            value="1",
            domain="a.site.example",
            path="/dir",
            http_only=True,
            expires=NOW + 60,
            sequence=int(NOW * 1e6),
            created=NOW,
            last_access=NOW,
        ),
        removed=False,
        cause=ChangeCause.EXPLICIT,
    )


def test_replacing_a_cookie_is_two_changes() -> None:
    jar = Jar()
    jar.store("a=1", A, NOW)
    assert told(jar.store("a=2", A, NOW + 1)) == [("a=1", True, "overwrite"), ("a=2", False, "explicit")]
    (cookie,) = jar
    assert (cookie.created, cookie.last_access) == (NOW, NOW + 1)


def test_setting_a_cookie_as_it_is_changes_nothing() -> None:
    jar = Jar()
    jar.store("a=1; Secure", A, NOW)
    assert jar.store("a=1; Secure", A, NOW + 1) == []
    assert next(iter(jar)).last_access == NOW + 1
    assert told(jar.store("a=1", A, NOW + 1)) == [("a=1", True, "overwrite"), ("a=1", False, "explicit")]


@pytest.mark.parametrize("attributes", ["", "Secure; HttpOnly", "Secure; SameSite=Lax", "Secure; Max-Age=60"])
def test_setting_a_cookie_with_another_attribute_is_a_change(attributes: str) -> None:
    jar = Jar()
    jar.store("a=1; Secure", A, NOW)
    assert told(jar.store(f"a=1; {attributes}", A, NOW)) == [("a=1", True, "overwrite"), ("a=1", False, "explicit")]


def test_a_header_given_once_is_forgotten_with_each_change() -> None:
    jar = Jar()
    jar.store_all(["a=1", "b=1", "c=1; Max-Age=5"], A, NOW)
    assert jar.header(A, NOW) == "a=1; b=1; c=1"
    jar.remove(CookieKey("a.site.example", True, "/dir", "a"))
    assert jar.header(A, NOW) == "b=1; c=1"
    jar.store("b=; Max-Age=0", A, NOW)
    assert jar.header(A, NOW) == "c=1"
    jar.load([Cookie(name="d", value="1", domain="a.site.example")])
    assert jar.header(A, NOW) == "c=1; d=1"
    jar.clear()
    assert jar.header(A, NOW) == ""


def test_a_server_deletes_a_cookie_by_an_old_date() -> None:
    jar = Jar()
    jar.store("a=1", A, NOW)
    assert told(jar.store("a=; Max-Age=0", A, NOW)) == [("a=1", True, "expired_overwrite")]
    assert jar.store("a=; Max-Age=0", A, NOW) == []
    assert len(jar) == 0


def test_cookies_expire() -> None:
    jar = Jar()
    jar.store_all(["a=1; Max-Age=5", "b=1; Max-Age=9", "c=1"], A, NOW)
    jar.store("d=1; Max-Age=5", "https://other.example/", NOW)
    assert jar.expire(NOW + 4) == []
    assert [cookie.name for cookie in jar.all(NOW + 5)] == ["b", "c"]
    assert told(jar.expire(NOW + 5)) == [("a=1", True, "expired"), ("d=1", True, "expired")]
    assert told(jar.expire(NOW + 9)) == [("b=1", True, "expired")]
    assert [cookie.name for cookie in jar] == ["c"]


def test_an_expired_cookie_protects_nothing_and_passes_on_no_age() -> None:
    jar = Jar()
    jar.store("a=1; Secure; HttpOnly; Max-Age=5", A, NOW)
    assert told(jar.store("a=2", PLAIN_A, NOW + 5, RequestContext(script=True))) == [
        ("a=1", True, "expired"),
        ("a=2", False, "explicit"),
    ]
    assert next(iter(jar)).created == NOW + 5


def test_a_refused_cookie_changes_nothing() -> None:
    jar = Jar()
    jar.store("old=1; Max-Age=5", A, NOW)
    assert jar.store("a=1; Domain=com", A, NOW + 9) == []


def test_order_does_not_hang_on_the_clock() -> None:
    jar = Jar()
    for name, now in (("a", NOW), ("b", NOW), ("c", NOW - 1000)):
        jar.store(f"{name}=1", A, now)
    assert jar.header(A, NOW) == "a=1; b=1; c=1"


def test_a_header_follows_the_clock_both_ways() -> None:
    jar = Jar()
    jar.store_all(["a=1; Max-Age=5", "b=1"], A, NOW)
    for later, header in ((0, "a=1; b=1"), (4.9, "a=1; b=1"), (5, "b=1"), (1, "a=1; b=1"), (6, "b=1")):
        assert jar.header(A, NOW + later) == header


def test_many_paths_of_one_site_are_all_answered() -> None:
    jar = Jar()
    jar.store_all(["a=1; Path=/7", "b=1; Path=/"], A, NOW)
    for _ in range(2):
        for number in range(100):
            header = jar.header(f"https://a.site.example/{number}", NOW)
            assert header == ("a=1; b=1" if number == 7 else "b=1")


def test_cookies_are_selected_found_and_removed_one_by_one() -> None:
    jar = Jar()
    jar.store_all(["a=1", "b=1; Domain=site.example; Path=/dir/page"], A, NOW)
    assert [cookie.name for cookie in jar.select(A, NOW)] == ["b", "a"]
    key = CookieKey("site.example", False, "/dir/page", "b")
    found = jar.get(key)
    assert found is not None and found.key == key
    assert told(jar.remove(key)) == [("b=1", True, "explicit")]
    assert jar.remove(key) == [] and jar.get(key) is None
    assert jar.select("https://nowhere.example/", NOW) == []


def test_clearing_takes_a_domain_and_what_is_below_it() -> None:
    jar = Jar()
    for host in ("site.example", "a.site.example", "xsite.example", "1.2.3.4"):
        jar.store("a=1", f"https://{host}/", NOW)
    assert [change.cookie.domain for change in jar.clear(".Site.Example")] == ["site.example", "a.site.example"]
    assert jar.clear("") == jar.clear("nowhere.example") == []
    assert [change.cookie.domain for change in jar.clear("example")] == ["xsite.example"]
    assert {change.cause for change in jar.clear()} == {ChangeCause.EXPLICIT}
    assert len(jar) == 0


def test_loaded_cookies_are_as_they_were_and_new_ones_come_after_them() -> None:
    first = Jar()
    first.store_all(["a=1; Path=/", "b=1; Path=/; Secure; Partitioned", "c=1; Path=/; Max-Age=5"], A, NOW)
    second = Jar()
    second.load(first)
    assert list(second) == list(first)
    second.store("d=1; Path=/", A, NOW - 1000)
    assert second.header(A, NOW) == "a=1; b=1; c=1; d=1"
    assert second.header(A, NOW + 5) == "a=1; b=1; d=1"


def test_a_loaded_cookie_of_what_is_now_a_public_suffix_is_not_sent() -> None:
    jar = Jar()
    jar.load([Cookie(name="a", value="1", domain="github.io", host_only=False)])
    assert jar.header("https://me.github.io/", NOW) == jar.header("https://github.io/", NOW) == ""


def test_a_cookie_can_be_set_by_its_fields() -> None:
    jar = Jar()
    partition = Partition("https://top.example", cross_site_ancestor=True)
    (change,) = jar.set(
        A,
        NOW,
        name="a",
        value="é€",
        domain="Site.Example",
        path="/",
        secure=True,
        http_only=True,
        same_site=SameSite.NONE,
        expires=NOW + 10**9,
        partition=partition,
    )
    cookie = change.cookie
    assert cookie.key == CookieKey("site.example", False, "/", "a", partition)
    assert cookie.value.encode("latin-1").decode() == "é€"
    assert cookie.expires == NOW + 400 * 86400
    assert jar.header(A, NOW) == ""
    assert jar.header(A, NOW, RequestContext(partition=partition)) == cookie.pair


def test_set_goes_with_the_url_where_nothing_is_said() -> None:
    (change,) = Jar().set(A, NOW, name="a")
    assert change.cookie.key == CookieKey("a.site.example", True, "/dir", "a")


@pytest.mark.parametrize(
    ("reason", "url", "fields"),
    [
        (ExclusionReason.EMPTY, A, {"name": ""}),
        (ExclusionReason.SIZE, A, {"value": "v" * 4096}),
        (ExclusionReason.CHARACTERS, A, {"value": "1;2"}),
        (ExclusionReason.CHARACTERS, A, {"value": "1\n"}),
        (ExclusionReason.CHARACTERS, A, {"value": " 1"}),
        (ExclusionReason.CHARACTERS, A, {"name": "a=b"}),
        (ExclusionReason.CHARACTERS, A, {"path": "dir"}),
        (ExclusionReason.CHARACTERS, A, {"path": "/;"}),
        (ExclusionReason.CHARACTERS, A, {"path": "/" + "p" * 1024}),
        (ExclusionReason.IMPERSONATES, A, {"name": "", "value": "a=b"}),
        (ExclusionReason.HOST, "about:blank", {}),
        (ExclusionReason.DOMAIN, A, {"domain": "other.example"}),
        (ExclusionReason.PUBLIC_SUFFIX, A, {"domain": "example"}),
        (ExclusionReason.INSECURE, PLAIN_A, {"secure": True}),
        (ExclusionReason.SCRIPT, A, {"http_only": True, "context": RequestContext(script=True)}),
        (ExclusionReason.OVERLAYS_SECURE, PLAIN_A, {"name": "secure"}),
        (ExclusionReason.CROSS_SITE, A, {"context": RequestContext(site_for_cookies="https://x.example")}),
        (ExclusionReason.NONE_INSECURE, A, {"same_site": SameSite.NONE}),
        (ExclusionReason.PARTITIONED_INSECURE, A, {"partition": Partition("https://x.example")}),
        (ExclusionReason.PREFIX, A, {"name": "__Host-a"}),
        (ExclusionReason.REPLACES_HTTP_ONLY, A, {"name": "hidden", "context": RequestContext(script=True)}),
    ],
)
def test_a_refusal_says_why(reason: ExclusionReason, url: str, fields: dict[str, object]) -> None:
    jar = Jar()
    jar.store_all(["secure=1; Secure", "hidden=1; HttpOnly"], A, NOW)
    before = list(jar)
    with pytest.raises(CookieRejected) as refusal:
        jar.set(url, NOW, **({"name": "a"} | fields))  # type: ignore[arg-type]
    assert refusal.value.reason is reason
    assert reason.value in str(refusal.value)
    assert list(jar) == before


def test_a_refusal_is_an_error_of_hatbox() -> None:
    with pytest.raises(HatboxError, match="Cookie “__Host-a” rejected: it does not satisfy the prefix"):
        Jar().set(A, NOW, name="__Host-a")


def test_every_reason_is_tested() -> None:
    (cases,) = (mark.args[1] for mark in test_a_refusal_says_why.pytestmark)  # type: ignore[attr-defined]
    assert {case[0] for case in cases} == set(ExclusionReason)


def test_threads_do_not_disturb_each_other() -> None:
    jar = Jar(JarLimits(per_site=20, per_site_after_eviction=10, per_store=60, per_store_after_eviction=40))
    target = parse_request_url(A)
    failures: list[BaseException] = []

    def hammer(own: int) -> None:
        try:
            for number in range(400):
                now = NOW + number
                jar.store(f"t{own}-{number}=1; Max-Age={number % 7}", target, now)
                jar.store(f"mine={number}; Path=/", f"https://thread{own}.example/", now)
                assert jar.header(f"https://thread{own}.example/", now) in (f"mine={number}", "")
                jar.header(target, now)
                jar.select(target, now)
                jar.all(now)
                jar.expire(now)
                if number % 50 == own:
                    jar.clear("site.example")
        except BaseException as failure:  # noqa: BLE001 - a thread must not swallow what it saw
            failures.append(failure)

    threads = [Thread(target=hammer, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failures
    assert len(jar) == len(list(jar)) <= 60


def test_a_cookie_that_its_giver_answers_for_is_taken_in_against_the_rules_but_not_past_the_limits() -> None:
    jar = Jar(JarLimits(per_site=3, per_site_after_eviction=2))
    for name in ("__Host-a", "__Secure-b", "c"):
        (change,) = jar.put(Cookie(name=name, value="1", domain="a.example", path="x", host_only=False), NOW)
        assert (change.removed, change.cause) == (False, ChangeCause.EXPLICIT)
    replaced = jar.put(Cookie(name="c", value="2", domain="a.example", path="x", host_only=False), NOW)
    assert [(change.removed, change.cause) for change in replaced] == [
        (True, ChangeCause.OVERWRITE),
        (False, ChangeCause.EXPLICIT),
    ]
    changes = jar.put(Cookie(name="d", value="1", domain="a.example"), NOW)
    assert [change.cause for change in changes] == [ChangeCause.EXPLICIT, ChangeCause.EVICTED, ChangeCause.EVICTED]
    (gone,) = jar.put(Cookie(name="d", value="1", domain="a.example", expires=NOW - 1), NOW)
    assert (gone.removed, gone.cause) == (True, ChangeCause.EXPIRED_OVERWRITE)


@pytest.mark.parametrize("domain", ["Domain=.", "Domain=site.example; Domain=.", "Domain=; Domain=.", "Domain= . "])
@pytest.mark.parametrize("name", ["a", "__Host-a"])
def test_a_domain_that_is_a_dot_refuses_the_cookie(name: str, domain: str) -> None:
    jar = Jar()
    assert jar.store(f"{name}=1; Secure; Path=/; {domain}", A, NOW) == []
    assert jar.header(A, NOW) == ""


@pytest.mark.parametrize("domain", ["Domain=.; Domain=site.example", "Domain=.; Domain="])
def test_a_later_domain_counts_instead_of_a_dot(domain: str) -> None:
    jar = Jar()
    jar.store(f"a=1; {domain}", A, NOW)
    assert jar.header(A, NOW) == "a=1"


def test_a_cookie_cannot_be_set_for_a_dot() -> None:
    with pytest.raises(CookieRejected) as refused:
        Jar().set(A, NOW, name="a", value="1", domain=".")
    assert refused.value.reason is ExclusionReason.DOMAIN


@pytest.mark.parametrize("date", ["Sat, 01 Jan 1600 00:00:00 GMT", "01 Jan 0999 10:00:00", "29 Feb 1600 00:00:00"])
def test_a_date_before_1601_expires_a_cookie(date: str) -> None:
    jar = Jar()
    jar.store("a=1", A, NOW)
    assert told(jar.store(f"a=2; Expires={date}", A, NOW)) == [("a=1", True, "expired_overwrite")]
    assert jar.header(A, NOW) == ""
