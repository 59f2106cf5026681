"""The URLs and the cookie of the manager page."""

from __future__ import annotations

import pytest

from hatbox.extension_data.content_script_matching import is_restricted
from hatbox.ui.access_keys import COOKIE, AccessKeys
from hatbox.urls.protected_pages import is_protected_cookie


def test_no_extension_may_inject_anything_into_the_manager_page() -> None:
    base = f"http://127.0.0.1:8080/{AccessKeys().prefix}/"
    for url in (base, f"{base}#/sites", f"{base}bridge".replace("http", "ws"), "http://127.0.0.1/hatbox-open/token"):
        assert is_restricted(url), url


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:8080/", "http://localhost/hatbox-x/", "https://site.example/hatbox-x/", "http://127.0.0.1/x"],
)
def test_other_pages_of_this_machine_are_not_protected(url: str) -> None:
    assert not is_restricted(url)


def test_the_cookie_is_protected_by_its_name_and_host() -> None:
    assert is_protected_cookie(COOKIE, "127.0.0.1")
    assert not is_protected_cookie(COOKIE, "site.example") and not is_protected_cookie("session", "127.0.0.1")
