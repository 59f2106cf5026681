from __future__ import annotations

from typing import Any

import pytest

from hatbox.errors import ApiError
from hatbox.web_requests.proxies import DIRECT, is_loopback, read_proxies
from hatbox.web_requests.request_model import ProxyInfo

GOOD: dict[str, Any] = {"type": "http", "host": "proxy.example", "port": 8080}
MADE = ProxyInfo("http", "proxy.example", 8080)
BEFORE = (ProxyInfo("http", "before.example", 1),)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ("DIRECT", "proxyData must be an object or array of objects"),
        (7, "proxyData must be an object or array of objects"),
        ({}, 'Invalid proxy server type: "undefined"'),
        ([7], 'Invalid proxy server type: "undefined"'),
        ({"type": "nonsense"}, 'Invalid proxy server type: "nonsense"'),
        ({"type": 5}, 'Invalid proxy server type: "5"'),
        ({"type": "masque", "host": "a", "port": 1}, 'Invalid proxy masque template: "undefined"'),
        (GOOD | {"type": "MASQUE", "masqueTemplate": 5}, 'Invalid proxy masque template: "5"'),
        (GOOD | {"masqueTemplate": "/"}, 'masqueTemplate can only be used for "masque" proxies'),
        ({"type": "http"}, 'Invalid proxy server host: "undefined"'),
        (GOOD | {"host": ""}, "Proxy server host cannot be empty"),
        (GOOD | {"host": "a b"}, 'Invalid proxy server host: "a b"'),
        (GOOD | {"port": None}, 'Invalid proxy server port: "NaN"'),
        (GOOD | {"port": "x"}, 'Invalid proxy server port: "NaN"'),
        (GOOD | {"port": 0}, "Proxy server port 0 outside range 1 to 65535"),
        (GOOD | {"port": 70000}, "Proxy server port 70000 outside range 1 to 65535"),
        (GOOD | {"username": 5}, 'Invalid proxy server username: "5"'),
        (GOOD | {"password": 5}, 'Invalid proxy server password: "5"'),
        (GOOD | {"proxyDNS": "yes"}, 'Invalid proxyDNS value: "yes"'),
        (GOOD | {"proxyDNS": True}, "proxyDNS can only be true for SOCKS proxy servers"),
        (GOOD | {"failoverTimeout": 0}, 'Invalid failover timeout: "0"'),
        (GOOD | {"failoverTimeout": True}, 'Invalid failover timeout: "true"'),
        (GOOD | {"proxyAuthorizationHeader": 5}, 'Invalid proxy server authorization header: "5"'),
        (
            GOOD | {"type": "socks", "proxyAuthorizationHeader": "x"},
            'ProxyAuthorizationHeader requires type "https" or "http" or "masque"',
        ),
        (GOOD | {"connectionIsolationKey": 5}, 'Invalid proxy connection isolation key: "5"'),
        ([GOOD, {"type": "x"}], 'Invalid proxy server type: "x"'),
    ],
)
def test_what_is_no_proxy_is_told_in_firefoxs_words(answer: Any, problem: str) -> None:
    with pytest.raises(ApiError) as error:
        read_proxies(answer, None)
    assert str(error.value) == f"ProxyInfoData: {problem}"


@pytest.mark.parametrize(
    ("answer", "proxies", "after_another"),
    [
        (GOOD, (MADE,), (MADE, *BEFORE)),
        ([GOOD, GOOD], (MADE, MADE), (MADE, MADE, *BEFORE)),
        ({"type": "HTTP", "host": "proxy.example", "port": "8080"}, (MADE,), (MADE, *BEFORE)),
        ({"type": "proxy", "host": "proxy.example", "port": 8080}, (MADE,), (MADE, *BEFORE)),
        ({"type": "direct"}, (DIRECT,), BEFORE),
        ({"type": "Direct", "host": 5}, (DIRECT,), BEFORE),
        ([GOOD, {"type": "direct"}, {"type": "x"}], (MADE, DIRECT), (MADE, *BEFORE)),
        ([], None, BEFORE),
        ([None], (DIRECT,), (DIRECT,)),
        ([GOOD, None], (MADE,), (MADE,)),
    ],
)
def test_proxies_come_before_those_of_listeners_that_were_asked_earlier(
    answer: Any, proxies: Any, after_another: Any
) -> None:
    assert read_proxies(answer, None) == proxies
    assert read_proxies(answer, BEFORE) == after_another


def test_all_that_a_proxy_can_have_is_read() -> None:
    told = {
        "type": "socks",
        "host": "::1",
        "port": 1080,
        "username": "u",
        "password": "p",
        "proxyDNS": True,
        "failoverTimeout": 3,
        "connectionIsolationKey": "k",
    }
    assert read_proxies(told, None) == (ProxyInfo("socks", "::1", 1080, "u", "p", True, 3, None, "k"),)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST", "a.localhost", "localhost.", "127.0.0.1", "127.9.9.9", "::1"]
)
def test_this_machine_is_known_by_all_its_names(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["site.example", "notlocalhost", "localhost.example", "128.0.0.1", "::2", ""])
def test_others_are_not_this_machine(host: str) -> None:
    assert not is_loopback(host)
