from __future__ import annotations

import asyncio

import pytest

from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization, authorize_token
from hatbox.engines.chromium.endpoint.http_requests import (
    EndpointPath,
    is_allowed_host,
    is_allowed_origin,
    is_of_browser,
    parse_path,
)


@pytest.mark.parametrize(
    ("path", "parsed"),
    [
        ("/T", EndpointPath("T", "browser")),
        ("/T/", EndpointPath("T", "browser")),
        ("/T?x=1", EndpointPath("T", "browser")),
        ("/T/json/version", EndpointPath("T", "version")),
        ("/T/json/version/", EndpointPath("T", "version")),
        ("/T/json/list?t=1", EndpointPath("T", "list")),
        ("/T/json", EndpointPath("T", "list")),
        ("/T/page/P", EndpointPath("T", "page", "P")),
        ("/", None),
        ("//", None),
        ("/T/devtools/browser/x", None),
        ("/T/page", None),
        (f"/{'T' * 500}", None),
    ],
)
def test_paths(path: str, parsed: EndpointPath | None) -> None:
    assert parse_path(path) == parsed
    assert parse_path(path, needs_token=False) == parsed


@pytest.mark.parametrize(
    ("path", "parsed"),
    [
        ("/json/version", EndpointPath("", "version")),
        ("/json/list/", EndpointPath("", "list")),
        ("/json", EndpointPath("", "list")),
        ("/devtools/browser/hatbox", EndpointPath("", "browser")),
        ("/devtools/page/P", EndpointPath("", "page", "P")),
        ("/devtools/page/", None),
        ("/json/new", None),
    ],
)
def test_paths_of_clients_without_a_token(path: str, parsed: EndpointPath | None) -> None:
    assert parse_path(path, needs_token=False) == parsed
    with_token = parse_path(path)
    assert with_token is None or with_token.token in ("json", "devtools")  # which no grant has


def test_a_path_does_not_show_its_token() -> None:
    assert "T0ken" not in repr(parse_path("/T0ken"))


def test_web_pages_are_not_allowed() -> None:
    assert is_allowed_host("127.0.0.1:9", 9)
    assert is_allowed_host("localhost:9", 9)
    assert is_allowed_host("127.0.0.1", 9)  # chromedriver
    for host in (None, "", "127.0.0.2", "127.0.0.1:8", "evil.test:9", "localhost.evil.test:9"):
        assert not is_allowed_host(host, 9)
    assert is_allowed_origin(None)
    assert is_allowed_origin("devtools://devtools")
    assert not is_of_browser(["Host", "User-Agent"])
    assert is_of_browser(["host", "sec-fetch-site"])
    for origin in ("", "null", "http://127.0.0.1:9", "chrome-extension://x", "devtools://devtools.evil.test"):
        assert not is_allowed_origin(origin)


def test_a_token_is_valid_until_its_authorization_ends() -> None:
    async def use() -> None:
        authorization = TokenAuthorization()
        authorize = authorize_token("secret", authorization)
        assert authorize("secret") is authorization
        for wrong in ("", "secre", "secret ", "Secret", "s\ud800"):
            assert authorize(wrong) is None
        authorization.end()
        authorization.end()
        assert authorize("secret") is None

    asyncio.run(use())
