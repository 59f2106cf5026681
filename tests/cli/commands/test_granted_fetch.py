"""hatbox fetch --grant: a request within the limits of a grant."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.commands.test_grants import create
from tests.cli.conftest import Cli
from tests.clients.server import Site

pytestmark = pytest.mark.slow

VARIABLE = "REPORT_TOKEN"


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.stop()


def test_a_request_with_a_grant_is_limited_recorded_and_shows_no_cookies(
    cli: Cli, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")  # of the program: it would get the cookies
    grant, token = create(cli, "-i", "Work", "--host", "127.0.0.1")
    with_values, values_token = create(
        cli, "-i", "Work", "--host", "*", "--host", "127.0.0.1", "--action", "cookieValues", "--action", "fetch"
    )

    def fetch(*arguments: str, token: str = token) -> tuple[int, str, str]:
        monkeypatch.setenv(VARIABLE, token)
        result = cli("fetch", "--grant", VARIABLE, *arguments)
        assert token not in result.out + result.err
        return result.status, result.out, result.err

    status, out, _ = fetch("Work", site.url("/login", set="sid=secret; Path=/"), "-i")
    assert status == 0 and "200" in out and "secret" not in out and "set-cookie" not in out.lower()
    assert site.seen[-1].path == "/login"
    assert fetch("firefox-container-2", site.url("/me"))[:2] == (0, "sid=secret")  # what the site itself shows
    assert "set-cookie" not in fetch("Work", site.url("/", set="b=c"), "--json", "-X", "POST", "-d", "x")[1].lower()
    assert "b=secret" in fetch("Work", site.url("/", set="b=secret"), "-i", token=values_token)[1]

    seen = len(site.seen)
    outside = site.url("/me").replace("127.0.0.1", "localhost")
    status, _, err = fetch("Work", outside)
    assert status == 1 and "does not include the host of 'http://localhost" in err and "Allowed: *://127.0.0.1/*" in err
    status, _, err = fetch("Work", site.url("/", to=outside), "-L")
    assert status == 1 and "localhost" in err
    assert {each.path for each in site.seen[seen:]} == {"/"}
    for identity in ("Personal", "firefox-default", "Wrok"):
        status, _, err = fetch(identity, site.url("/me"))
        assert (status, "Allowed: Work (firefox-container-2)" in err) == (1, True)
    status, _, err = fetch("Work", site.url("/me"), "-X", "TRACE")
    assert status == 1 and "TRACE is not allowed" in err
    status, _, err = fetch("Work", site.url("/me"), "-H", "Host: other.example")
    assert status == 1 and "Host header" in err
    for options in (["-k"], ["-v"], ["-x", "direct"]):
        status, _, err = fetch("Work", site.url("/me"), *options)
        assert status == 2 and "a grant does not allow it" in err

    cli("grant", "revoke", grant)
    status, _, err = fetch("Work", site.url("/me"))
    assert status == 1 and f"the grant {grant} was revoked" in err
    monkeypatch.delenv(VARIABLE, raising=False)
    status, _, err = cli("fetch", "--grant", VARIABLE, "Work", site.url("/me"))
    assert status == 2 and f"the environment variable {VARIABLE} has no token" in err
    rows = cli("activity", "--grant", grant, "--json").json
    assert {(each["action"], each["host"], each["outcome"]) for each in rows} == {
        ("fetch", "127.0.0.1", "ok"),
        ("fetch", "127.0.0.1", "refused"),
        ("fetch", "localhost", "refused"),
        ("fetch", "", "refused"),
        ("connect", "", "refused"),
    }
    assert cli("activity", "--grant", with_values, "--json").json
