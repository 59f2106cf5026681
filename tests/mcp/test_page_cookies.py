"""Which cookies are hidden from what an agent gets of a page. Without a browser."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from hatbox.mcp.page_cookies import PageCookies

SECRET = "a-session-value"


def page_at(url: str, domain: str) -> Any:
    async def cookies() -> list[dict[str, Any]]:
        return [{"value": SECRET, "httpOnly": True, "domain": domain}]

    page = SimpleNamespace(url=url, frames=[SimpleNamespace(url=url)], context=SimpleNamespace(cookies=cookies))
    page.context.pages = [page]
    return page


@pytest.mark.parametrize(
    ("url", "domain", "is_hidden"),
    [
        ("https://www.site.example/a", ".site.example", True),
        ("https://site.example/a", "www.site.example", True),
        ("blob:https://site.example/b9e0", "site.example", True),
        ("https://other.example/", "site.example", False),
        ("http://127.0.0.1:8000/", "127.0.0.1", True),
        ("http://[::1]:8000/", "[::1]", True),
        ("http://[::1]:8000/", "[::2]", False),
    ],
)
def test_the_values_of_the_site_of_a_page_are_hidden(url: str, domain: str, is_hidden: bool) -> None:
    hidden = PageCookies(page_at(url, domain))
    asyncio.run(hidden.read())
    assert (SECRET not in hidden.hide(f"<{SECRET}>")) is is_hidden
