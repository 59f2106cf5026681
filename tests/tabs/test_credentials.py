"""A user name or a password in a URL does not get into the profile."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox.tabs.credentials import without_credentials, without_secrets
from hatbox.tabs.pages import PageState, page_navigated_itself, update_page
from hatbox.tabs.tab_model import Tab

SECRET = "hunter2-in-a-url"


def test_the_path_of_the_manager_page_is_cut_out() -> None:
    url = "http://me:secret@127.0.0.1:8000/hatbox-open/token?query#fragment"
    assert without_secrets(url) == "http://127.0.0.1:8000/hatbox-withheld?query#fragment"
    assert without_secrets("https://127.0.0.1.example/hatbox-x/") == "https://127.0.0.1.example/hatbox-x/"


@pytest.mark.parametrize(
    ("url", "clean"),
    [
        ("https://me:secret@site.example/", "https://site.example/"),
        ("https://token@site.example:8443?x", "https://site.example:8443?x"),
        ("https://me:p@ss@site.example/a@b?c=d@e#f@g", "https://site.example/a@b?c=d@e#f@g"),
        ("HTTP:/\\/me:secret@site.example\\x@y", "HTTP:/\\/site.example\\x@y"),
        ("http:me:secret@site.example", "http:site.example"),
        ("ht\ntp://me:sec\tret@site.example/", "http://site.example/"),
        (" http://me:secret@site.example/", " http://site.example/"),
        ("view-source:http://me:secret@site.example/", "view-source:http://site.example/"),
        ("moz-extension://me:secret@uuid/page.html", "moz-extension://uuid/page.html"),
        ("https://me:secret@[::1]/", "https://[::1]/"),
        ("https://@site.example/", "https://site.example/"),
    ],
)
def test_user_names_and_passwords_are_cut_out(url: str, clean: str) -> None:
    assert without_credentials(url) == clean


@pytest.mark.parametrize(
    "url",
    [
        "https://site.example/@me",
        "https://site.example?to=me@x",
        "about:blank",
        "mailto:me@site.example",
        "data:,a@b",
        "",
    ],
)
def test_other_urls_stay_as_they_are(url: str) -> None:
    assert without_credentials(url) == url


@given(st.text(alphabet="htps:/\\@?#. \tab", max_size=40))
def test_cutting_twice_changes_nothing(url: str) -> None:
    once = without_credentials(url)
    assert without_credentials(once) == once


def test_no_file_of_the_profile_has_a_password_that_was_in_a_url(tmp_path: Path) -> None:
    url = f"https://me:{SECRET}@site.example/"

    path = tmp_path / "profile.db"

    async def use() -> list[Tab]:
        async with hatbox.open(path) as profile:
            tab = await profile.tabs.open("Work", url)
            await profile.tabs.navigate(tab.id, f"{url}2")
            await profile.tabs.write(lambda each: page_navigated_itself(each, tab.id, 2, f"{url}3"))
            page = PageState(f"{url}4", "Title", f"{url}icon.png", error=f"{url}4 is not an address")
            await profile.tabs.write(lambda each: update_page(each, tab.id, 3, page))
            assert not any(SECRET.encode() in file.read_bytes() for file in path.parent.iterdir() if file.is_file())
            return await profile.tabs.query()

    (tab,) = asyncio.run(use())
    assert tab.url == "https://site.example/4"
    assert tab.icon == "https://site.example/icon.png"
    assert not any(SECRET.encode() in file.read_bytes() for file in path.parent.iterdir() if file.is_file())
