"""200 URLs, several rule sets, and what each identity should send: computed here, without the engine of rules."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["EXPECTED", "HOSTS", "IDENTITIES", "NOBODY", "RULE_SETS", "URLS", "received"]

NOBODY = "nobody"
IDENTITIES = ("Personal", "Work", "Banking", "Shopping")
_SITES = ("a", "b", "www.b", "x.y.b", "bank", "shop", "git", "idp", "notb", "c")
HOSTS = tuple(f"{site}.localhost" for site in _SITES)
_PATHS = (
    "/",
    "/one",
    "/job",
    "/job/",
    "/job/x",
    "/job/x/y?z=1",
    "/jobs",
    "/home/job/x",
    "/a/b/c",
    "/a/b/d",
    "/search?q=job",
    "/search?q=shop",
    "/%6aob/y",
    "/JOB/x",
    "/a/../job/z",
    "/u/1",
    "/u/2",
    "/u/12",
    "/file.pdf",
    "/file.html",
)
URLS = tuple(f"{host}{path}" for host in HOSTS for path in _PATHS)

RULE_SETS: dict[str, list[tuple[str, str]]] = {
    "hosts": [("b.localhost", "Work"), ("bank.localhost", "Banking"), ("shop.localhost", "Shopping")],
    "wildcards": [("*.b.localhost", "Work"), ("www.b.localhost", "Personal"), ("*.localhost", "Shopping")],
    "paths": [("git.localhost/job/*", "Work"), ("git.localhost", "Personal"), ("*/a/b/c", "Banking")],
    "regexes": [("regex:^http://[a-z]+[.]localhost:[0-9]+/u/[0-9]$", "Work"), ("bank.localhost", "Banking")],
    "none": [],
}


def received(page: str) -> str:
    """The host and path that the server receives."""
    return page.replace("/a/../", "/")


def _by_host(page: str) -> str:
    hosts = {"b.localhost": "Work", "bank.localhost": "Banking", "shop.localhost": "Shopping"}
    return hosts.get(page.partition("/")[0], NOBODY)


def _by_wildcard(page: str) -> str:
    host = page.partition("/")[0]
    if host == "www.b.localhost":
        return "Personal"
    return "Work" if host in ("b.localhost", "x.y.b.localhost") else "Shopping"


def _by_path(page: str) -> str:
    host, _, path = received(page).replace("%6a", "j").partition("/")
    if host == "git.localhost":
        return "Work" if path.startswith("job/") else "Personal"
    return "Banking" if path == "a/b/c" else NOBODY


def _by_regex(page: str) -> str:
    host, _, path = page.partition("/")
    if host == "bank.localhost":
        return "Banking"
    return "Work" if path in ("u/1", "u/2") and host.count(".") == 1 else NOBODY


EXPECTED: dict[str, Callable[[str], str]] = {
    "hosts": _by_host,
    "wildcards": _by_wildcard,
    "paths": _by_path,
    "regexes": _by_regex,
    "none": lambda _: NOBODY,
}
"""The identity whose cookie each URL gets: that of the rule, else none in the default store."""
