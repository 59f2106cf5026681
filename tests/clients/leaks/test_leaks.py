"""No request of an identity with a proxy goes out another way, and no name is looked up: for each client and engine.

The web server is on loopback and reachable without the proxy, so a leak would succeed. The environment has a proxy of
its own and excludes hosts from it. What the client process looks up and connects to is recorded by an audit hook.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.clients.recording_proxy import (
    DROPS,
    MODES,
    PASSWORD,
    REFUSES,
    UP,
    RecordingProxy,
    RecordingSite,
    certificate,
)
from tests.postgres import address_of

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
CLIENTS = ("httpx", "async-httpx", "requests", "urllib", "aiohttp", "engine", "fetch")
_SECONDS = 120.0
_FAILING_SECONDS = 1.0  # for requests that must fail: one that times out before the proxy fails it is as good
_WORKER_SECONDS = 500.0
_WORKING = (UP, "locked")


class Net(NamedTuple):
    plain: RecordingSite
    secure: RecordingSite
    proxies: dict[str, RecordingProxy]
    environment: RecordingProxy

    def urls(self, path: str = "/") -> Iterator[str]:
        for scheme, site in (("http", self.plain), ("https", self.secure)):
            for host in ("127.0.0.1", "site.test"):
                yield f"{scheme}://{host}:{site.port}{path}"

    def outside(self) -> list[int]:
        """The ports of connections to the web servers that did not come from a proxy of the identity."""
        inside: set[int] = set().union(*(each.ports for each in self.proxies.values()))
        return [port for port in [*self.plain.peers, *self.secure.peers] if port not in inside]


@pytest.fixture
def net(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Net]:
    tls, _ = certificate(tmp_path)
    with ExitStack() as stack:
        plain, secure = stack.enter_context(RecordingSite()), stack.enter_context(RecordingSite(tls))
        inner = tls if getattr(request, "param", "") == "https" else None

        def proxy(mode: str, **options: Any) -> RecordingProxy:
            return stack.enter_context(RecordingProxy(plain.port, secure.port, mode, **options))

        proxies = {mode: proxy(mode, tls=inner) for mode in MODES}
        proxies["locked"] = proxy(UP, locked=True, tls=inner)
        yield Net(plain, secure, proxies, proxy(UP))


def run(client: str, profile: Path, net: Net, cases: list[dict[str, Any]]) -> dict[str, Any]:
    environment = {
        **os.environ,
        **{name: net.environment.url("http") for name in ("HTTP_PROXY", "http_proxy", "https_proxy", "all_proxy")},
        "no_proxy": "127.0.0.1",
    }
    job = {"client": client, "profile": address_of(profile), "cases": cases}
    done = subprocess.run(
        [sys.executable, "-m", "tests.clients.leaks.leak_worker"],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=_WORKER_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    assert len(report["results"]) == len(cases)
    return report


def check_events(result: dict[str, Any]) -> None:
    """The only address that was looked up or connected to is that of the proxy."""
    place = result["proxy"].rpartition("@")[2].rpartition("/")[2]
    for event, where in result["events"]:
        assert where == (place if event == "connect" else place.partition(":")[0]), (event, where, result)


@pytest.mark.parametrize("kind", ["http", "socks5"])
@pytest.mark.parametrize("client", CLIENTS)
def test_nothing_goes_out_beside_the_proxy_whatever_the_proxy_does(
    client: str, kind: str, net: Net, tmp_path: Path
) -> None:
    cases = [
        {
            "mode": mode,
            "proxy": proxy.url(kind),
            "url": url,
            "timeout": _SECONDS if mode in _WORKING else _FAILING_SECONDS,
        }
        for mode, proxy in net.proxies.items()
        for url in net.urls()
    ]
    report = run(client, tmp_path / "profile.db", net, cases)
    for result in report["results"]:
        check_events(result)
        expected = 200 if result["mode"] in _WORKING else 0
        if result["mode"] == REFUSES and kind == "http" and result["url"].startswith("http:"):
            assert result["status"] in (403, 0), result  # the answer of the proxy
        else:
            assert result["status"] == expected, result
    assert net.outside() == []
    assert net.environment.asked == []
    for mode, proxy in net.proxies.items():
        asked, expected_targets = {each.target for each in proxy.asked}, {url.split("/")[2] for url in net.urls()}
        assert asked == expected_targets if mode in _WORKING else asked <= expected_targets, mode
        names = [each for each in proxy.asked if each.target.startswith("site.test")]
        assert all(each.is_name for each in names), mode
    assert all(each.authorized for each in net.proxies["locked"].asked if each.kind == "SOCKS")
    assert PASSWORD not in json.dumps(report["logged"])
    assert not [each["error"] for each in report["results"] if PASSWORD in each["error"] or "s3cr3t" in each["error"]]
    assert not [line for line in report["logged"] if "s3cr3t" in line]


@pytest.mark.parametrize("client", CLIENTS)
def test_direct_uses_no_proxy_of_the_environment(client: str, net: Net, tmp_path: Path) -> None:
    urls = [f"http://127.0.0.1:{net.plain.port}/redirect", f"https://127.0.0.1:{net.secure.port}/"]
    cases = [{"mode": UP, "proxy": "direct", "url": url, "timeout": _SECONDS} for url in urls]
    report = run(client, tmp_path / "profile.db", net, cases)
    assert [each["status"] for each in report["results"]] == [200, 200]
    assert net.environment.asked == []
    assert len(net.outside()) >= 2


@pytest.mark.parametrize("net", ["https"], indirect=True)
@pytest.mark.parametrize("client", [each for each in CLIENTS if each not in ("fetch", "engine")])
def test_a_proxy_inside_of_tls_is_used_or_refused_before_anything_is_sent(
    client: str, net: Net, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "site.pem"))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "site.pem"))
    cases = [
        {
            "mode": mode,
            "proxy": net.proxies[mode].url("https"),
            "url": url,
            "timeout": _SECONDS if mode in _WORKING else _FAILING_SECONDS,
        }
        for mode in (UP, DROPS, "locked")
        for url in net.urls("/redirect")
    ]
    report = run(client, tmp_path / "profile.db", net, cases)
    for result in report["results"]:
        check_events(result)
        if client == "urllib" and result["url"].startswith("https:"):
            assert "SettingNotSupported" in result["error"]
            assert result["events"] == []
        elif result["mode"] != DROPS:
            assert result["status"] == 200, result
        else:
            assert result["status"] == 0, result
    assert net.outside() == []
