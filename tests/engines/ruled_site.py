"""A site with many hosts on loopback. Records who sent each request: every identity has a cookie with its name."""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

import hatbox
from hatbox.testing.site import LoopbackSite, Request

COOKIE = "who"
DEFAULT = "firefox-default"


class Sent(NamedTuple):
    """A page request: the identity whose cookie it had, and the URL without scheme and port."""

    identity: str
    page: str


class RuledSite(LoopbackSite):
    """Every host below `localhost` is a site of its own, also for Chromium."""

    def sent(self, requests: Iterable[Request] | None = None) -> list[Sent]:
        """The requests so far, without icons."""
        return [
            Sent(request.cookies.get(COOKIE, "nobody"), request.host + request.path)
            for request in (self.requests if requests is None else requests)
            if not request.path.endswith("favicon.ico")
        ]

    def __enter__(self) -> RuledSite:
        super().__enter__()
        return self

    def at(self, page: str) -> str:
        """The URL of a host and path: `a.localhost/x`."""
        host, slash, path = page.partition("/")
        return self.url(slash + path, host=host)


async def sign_in_everywhere(profile: hatbox.Profile, identities: Iterable[str], hosts: Iterable[str]) -> None:
    """Give every identity a cookie with its name on every host."""
    for identity in identities:
        store = await profile.cookie_store(identity)
        for host in hosts:
            await store.set(f"http://{host}/", name=COOKIE, value=identity, path="/")


@contextmanager
def resolving_localhost(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Resolve every host below localhost to 127.0.0.1, as browsers do. Gives the resolved hosts."""
    resolved: list[str] = []
    original = socket.getaddrinfo

    def getaddrinfo(host: Any, *arguments: Any, **named: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if isinstance(name, str) and name.endswith(".localhost"):
            resolved.append(name)
            host = "127.0.0.1"
        return original(host, *arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield resolved
