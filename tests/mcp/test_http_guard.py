"""Which HTTP requests reach the MCP server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.mcp.http_guard import HttpGuard, RequestRefused

TOKEN = "hatbox_secret"
GUARD = HttpGuard(4000, TOKEN)
HEADERS = {"host": "127.0.0.1:4000", "authorization": f"Bearer {TOKEN}"}


def check(path: str = "/mcp", *more: tuple[str, str], **changes: str | None) -> str:
    pairs = [*(HEADERS | changes).items(), *more]
    return GUARD.check(path, [(name.encode(), value.encode()) for name, value in pairs if value is not None]).agent


def test_a_client_with_the_token_reaches_the_server() -> None:
    assert check() == ""
    assert check(host="localhost:4000") == ""
    assert check(origin="http://127.0.0.1:4000") == ""
    assert check(authorization=f"bearer {TOKEN}") == ""
    assert check("/mcp/agent1") == check("/mcp/agent1/") == "name agent1"
    assert check("/mcp/agent1", ("mcp-session-id", "abc")) == "session abc"


@pytest.mark.parametrize(
    ("status", "changes"),
    [
        *((421, {"host": host}) for host in (None, "", "evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:40000")),
        *((403, {"origin": origin}) for origin in ("http://evil.example", "null", "http://localhost:4000", "")),
        *((401, {"authorization": value}) for value in (None, "", "Bearer", "Bearer x", TOKEN, f"Basic {TOKEN}")),
        (401, {"authorization": f"Bearer {TOKEN}x"}),
        (401, {"authorization": f"Bearer {TOKEN} {TOKEN}"}),
    ],
)
def test_others_are_refused(status: int, changes: dict[str, str | None]) -> None:
    with pytest.raises(RequestRefused) as refused:
        check("/mcp", **changes)
    assert refused.value.status == status
    assert TOKEN not in str(refused.value)


@pytest.mark.parametrize("name", ["host", "authorization", "origin"])
def test_a_header_that_occurs_twice_is_refused(name: str) -> None:
    value = HEADERS.get(name, "http://127.0.0.1:4000")
    with pytest.raises(RequestRefused):
        check("/mcp", (name, value), origin="http://127.0.0.1:4000")


@pytest.mark.parametrize("path", ["/", "/mcp/a/b", "/mcp/" + "a" * 65, "/mcp/%2e", "/mcpx", "//mcp", "/mcp/ä"])
def test_other_paths_do_not_exist(path: str) -> None:
    with pytest.raises(RequestRefused) as refused:
        check(path)
    assert refused.value.status == 404


@given(st.lists(st.tuples(st.sampled_from([b"host", b"authorization", b"origin"]), st.binary())))
def test_nothing_without_the_token_is_accepted(headers: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(RequestRefused):
        GUARD.check("/mcp", headers)
