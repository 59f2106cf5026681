"""A grant reaches no host of this machine and of private networks that it does not name."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox import PermissionDenied
from hatbox.clients import checked_network
from hatbox.grants import grant as grants
from hatbox.grants.grant import ALL_PUBLIC, Grant
from hatbox.urls.hosts import canonical_host, is_private_address, is_private_host
from hatbox.urls.match_patterns import ALL_URLS
from tests.site import Site
from tests.store.in_loop import in_loop

PRIVATE = (
    *("localhost", "a.localhost", "localhost.", "127.0.0.1", "127.1", "0.0.0.0", "[::1]", "[::]", "10.0.0.1"),
    *("172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "2130706433", "0x7f.1", "[fe80::1]", "[fd00::1]"),
    *("[::ffff:10.0.0.1]", "[64:ff9b::a00:1]", "[2002:a00:1::]", "224.0.0.1", "router", "nas.local", "db.internal"),
    *("printer.home.arpa", "255.255.255.255", "198.18.0.1", "240.0.0.1", "192.0.0.9", "[fec0::1]", "[::127.0.0.1]"),
    *("[::ffff:0:7f00:1]", "[64:ff9b:1::7f00:1]", "[64:ff9b:1::101:101]", "[3fff::1]", "[2001:db8::1]", "[2001::1]"),
    *("[100::1]", "[5f00::1]", "[ff02::1]", "[4000::1]", "[2002:7f00:1::]"),
)
PUBLIC = (
    *("site.example", "1.1.1.1", "[2606:4700::1111]", "localhost.example", "10.0.0.1.example", "172.15.0.1"),
    *("[2001:4860:4860::8888]", "[2002:101:101::]", "[64:ff9b::101:101]", "[::ffff:1.1.1.1]"),
)


def grant(*hosts: str) -> Grant:
    return Grant(
        id="g",
        purpose="",
        identities=("firefox-container-2",),
        hosts=hosts or None,
        actions=frozenset({"fetch"}),
        created=0.0,
        expires=None,
        revoked=None,
        program="",
        machine="",
    )


async def resolved_once(host: str, port: int, **options: Any) -> list[Any]:
    """The first answer of a name server that answers the next time with a private address."""
    if options.get("flags") or options.get("type") != socket.SOCK_STREAM:
        raise AssertionError(options)
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1" if host != "localhost" else "1.1.1.1", port))]


def test_private_hosts_have_to_be_named() -> None:
    for host in PRIVATE:
        named = f"*://{canonical_host(host)}:8000/*"
        for scheme in ("http", "https"):
            url = f"{scheme}://{host}:8000/"
            assert not grant().allows_url(url), host
            assert not grant(ALL_PUBLIC, "*://other.example/*").allows_url(url), host
            assert grant(ALL_URLS).allows_url(url), host
            assert grant(ALL_PUBLIC, named).allows_url(url), host
            assert not grant(ALL_PUBLIC, named).allows_url(f"{scheme}://{host}:8001/"), host
        assert not grant().allows_cookie(canonical_host(host), host_only=True, secure=False)
        assert grant(ALL_PUBLIC, named).allows_cookie(canonical_host(host), host_only=True, secure=False)
    for host in PUBLIC:
        assert grant().allows_url(f"https://{host}/"), host
        assert grant(ALL_PUBLIC, "*://localhost/*").allows_url(f"https://{host}/"), host
        assert not grant("*://localhost/*").allows_url(f"https://{host}/"), host
        assert grant().allows_cookie(host, host_only=True, secure=False)
    assert not grant(ALL_URLS).allows_url("file:///etc/passwd")
    assert grant().shows_url("about:blank") and not grant("*://localhost/*").shows_url("about:blank")
    assert not grant().shows_url("http://localhost/")
    for before in ("view-source:http://", "blob:http://", "View-Source: Blob:http://", "ftp://"):
        assert not grant().shows_url(f"{before}127.0.0.1:8000/"), before
        assert grant(ALL_PUBLIC, "*://127.0.0.1:8000/*").shows_url("blob:http://127.0.0.1:8000/id")
        assert grant(ALL_URLS).shows_url(f"{before}127.0.0.1:8000/"), before
        assert grant().shows_url(f"{before}site.example/"), before
    assert not grant(ALL_URLS).shows_url("view-source:http://127.0.0.1:1/hatbox-secret/")
    assert grant(ALL_PUBLIC).pattern_of("site.example") == ""


@given(st.integers(0, 2**32 - 1))
def test_an_address_is_private_in_each_form(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    expected = is_private_address(str(address))
    assert expected == (not address.is_global or address.is_multicast)
    assert is_private_host(canonical_host(str(number))) is expected
    for prefix in (0xFFFF << 32, 0x64FF9B << 96):
        assert is_private_address(str(ipaddress.IPv6Address(prefix + number))) is expected


@in_loop
async def test_a_name_with_a_private_address_is_not_connected_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Site() as site:
        named, rebound = site.url("/page/1"), site.url("/page/1", host="localhost")
        async with hatbox.open(tmp_path / "profile.db") as profile:
            grant, token = await profile.grants.create(identities="Work", hosts=["*", "127.0.0.1"])
            async with await profile.granted_httpx(token) as client:
                assert (await client.get(named)).status_code == 200
                with pytest.raises(PermissionDenied, match="all public hosts, "):
                    await client.get(rebound)
                monkeypatch.setattr(grants, "is_private_host", lambda _: False)  # as a name of the public DNS
                with pytest.raises(PermissionDenied, match="has an address of"):
                    await client.get(rebound)
                # Another answer for the connection than for the check: nothing is sent.
                monkeypatch.setattr(checked_network, "is_private_address", lambda address: address == "127.0.0.1")
                monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolved_once)
                with pytest.raises(PermissionDenied, match="has an address of"):
                    await client.get(rebound)
            await profile.identities.set_settings("Work", proxy="direct")  # a transport of its own
            async with await profile.granted_httpx(token) as client:
                assert (await client.get(named)).status_code == 200
                with pytest.raises(PermissionDenied, match="has an address of"):
                    await client.get(rebound)
            assert len(site.seen) == 2
            entries = await profile.activity_log.query(grant=grant.id)
        assert {(each.host, each.outcome, each.times) for each in entries} == {
            ("127.0.0.1", "ok", 2),
            ("localhost", "refused", 4),
        }
