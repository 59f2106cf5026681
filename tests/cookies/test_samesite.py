"""Which cookies go with a request of which page. A is the site, X another one."""

from __future__ import annotations

import pytest

from hatbox.cookies import Jar, Partition, RequestContext, SameSite

NOW = 1_790_000_000.0
A = "https://www.a.example/"
LINES = ["s=1; SameSite=Strict", "l=1; SameSite=Lax", "u=1", "n=1; SameSite=None; Secure"]
ALL = "s=1; l=1; u=1; n=1"
LAX = "l=1; u=1; n=1"
X = "https://x.example"


def sent(context: RequestContext, url: str = A, later: float = 0.0) -> str:
    jar = Jar()
    jar.store_all(LINES, A, NOW)
    return jar.header(url, NOW + later, context)


def kept(context: RequestContext, url: str = A) -> str:
    jar = Jar()
    jar.store_all(LINES, url, NOW, context)
    return jar.header(A, NOW)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("site", [None, "https://a.example", "https://other.a.example:8443/page"])
def test_a_page_of_the_site_gets_all_cookies(site: str | None, method: str) -> None:
    context = RequestContext(site_for_cookies=site, method=method)
    assert sent(context) == kept(context) == ALL


@pytest.mark.parametrize("site", [X, "null", "", "http://a.example", "https://example", "data:text/html,"])
def test_a_part_of_another_page_gets_and_sets_only_unrestricted_cookies(site: str) -> None:
    context = RequestContext(site_for_cookies=site)
    assert sent(context) == kept(context) == "n=1"


def test_a_link_from_another_page_takes_lax_cookies_and_may_set_all() -> None:
    context = RequestContext(site_for_cookies=X, navigation=True)
    assert sent(context) == LAX
    assert kept(context) == ALL


@pytest.mark.parametrize(
    ("method", "header"),
    [("HEAD", LAX), ("OPTIONS", LAX), ("TRACE", LAX), ("get", LAX), ("PUT", "u=1; n=1"), ("DELETE", "u=1; n=1")],
)
def test_only_safe_methods_take_lax_cookies(method: str, header: str) -> None:
    assert sent(RequestContext(site_for_cookies=X, navigation=True, method=method)) == header


@pytest.mark.parametrize(("later", "header"), [(0.0, "u=1; n=1"), (120.0, "u=1; n=1"), (120.5, "n=1")])
def test_a_form_from_another_page_takes_new_cookies_that_say_nothing(later: float, header: str) -> None:
    context = RequestContext(site_for_cookies=X, navigation=True, method="POST")
    assert sent(context, later=later) == header
    assert kept(context) == ALL


def test_a_new_cookie_grows_old_between_two_forms() -> None:
    jar = Jar()
    jar.store("u=1", A, NOW)
    context = RequestContext(site_for_cookies=X, navigation=True, method="POST")
    assert [jar.header(A, NOW + later, context) for later in (0, 119, 121, 119)] == ["u=1", "u=1", "", "u=1"]


def test_the_age_of_a_replaced_cookie_is_that_of_the_first() -> None:
    jar = Jar()
    jar.store("u=1", A, NOW)
    jar.store("u=2", A, NOW + 100)
    assert jar.header(A, NOW + 130, RequestContext(site_for_cookies=X, navigation=True, method="POST")) == ""


def test_a_script_in_a_foreign_frame_sees_and_sets_only_unrestricted_cookies() -> None:
    context = RequestContext(site_for_cookies="null", script=True, navigation=True)
    assert sent(context) == kept(context) == "n=1"


def test_redirects_count_where_they_are_given() -> None:
    there_and_back = RequestContext(site_for_cookies="https://a.example", redirects=(A, f"{X}/login"))
    assert sent(there_and_back) == "n=1"
    assert sent(RequestContext(site_for_cookies="https://a.example", redirects=(A, "https://b.a.example/"))) == ALL
    assert sent(RequestContext(site_for_cookies="https://a.example")) == ALL


def test_a_web_socket_is_of_the_site_of_its_page() -> None:
    assert sent(RequestContext(site_for_cookies="https://a.example"), "wss://www.a.example/") == ALL


def test_sites_under_a_public_suffix_are_strangers() -> None:
    jar = Jar()
    jar.store("a=1; SameSite=Lax", "https://me.github.io/", NOW)
    assert jar.header("https://me.github.io/", NOW, RequestContext(site_for_cookies="https://you.github.io")) == ""


def test_a_partitioned_cookie_is_seen_only_under_its_top_level_site() -> None:
    jar = Jar()
    under_x = RequestContext(site_for_cookies="null", partition=Partition(X, cross_site_ancestor=True))
    under_y = RequestContext(
        site_for_cookies="null", partition=Partition("https://y.example", cross_site_ancestor=True)
    )
    line = "p={}; Secure; SameSite=None; Partitioned"
    jar.store(line.format("x"), A, NOW, under_x)
    jar.store(line.format("y"), A, NOW, under_y)
    jar.store(line.format("own"), A, NOW)
    jar.store("p=shared; Secure; SameSite=None", A, NOW)
    assert jar.header(A, NOW, under_x) == "p=x; p=shared"
    assert jar.header(A, NOW, under_y) == "p=y; p=shared"
    assert jar.header(A, NOW) == "p=own; p=shared"
    assert jar.header(A, NOW, RequestContext(partition=Partition("https://a.example"))) == "p=own; p=shared"
    assert jar.header("https://a.example/", NOW, under_x) == ""


def test_a_page_of_another_site_is_an_ancestor_also_where_nobody_says_so() -> None:
    jar = Jar()
    said = RequestContext(site_for_cookies="null", partition=Partition(X, cross_site_ancestor=True))
    unsaid = RequestContext(site_for_cookies="null", partition=Partition(X))
    jar.store("p=1; Secure; SameSite=None; Partitioned", A, NOW, unsaid)
    assert jar.header(A, NOW, said) == jar.header(A, NOW, unsaid) == "p=1"
    jar.set(A, NOW, name="p", value="2", secure=True, same_site=SameSite.NONE, partition=Partition(X), context=said)
    assert [(cookie.pair, cookie.partition) for cookie in jar] == [("p=2", Partition(X, cross_site_ancestor=True))]


def test_the_own_partition_of_a_page_goes_by_its_scheme() -> None:
    jar = Jar()
    jar.store("p=1; Secure; Partitioned", "http://localhost/", NOW)
    assert jar.header("http://localhost/", NOW) == "p=1"
    assert jar.header("https://localhost/", NOW) == ""


def test_a_change_in_one_partition_is_seen_at_once() -> None:
    jar = Jar()
    under_x = RequestContext(site_for_cookies="null", partition=Partition(X))
    for value in "123":
        jar.store(f"p={value}; Secure; SameSite=None; Partitioned", A, NOW, under_x)
        assert jar.header(A, NOW, under_x) == f"p={value}"
        assert jar.header(A, NOW) == ""
