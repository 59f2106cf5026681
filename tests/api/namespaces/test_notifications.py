"""notifications: those that are open. What Firefox answers is compared in tests/conformance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatbox import Profile
from hatbox.extension_data import notifications
from tests.api.ui_actions import ID, PERSISTENT, browser_of, in_profile

BASIC = {"type": "basic", "title": "T", "message": "M"}


def test_notifications_need_the_permission(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        assert not hasattr(browser_of(profile, PERSISTENT), "notifications")

    in_profile(tmp_path, use)


def test_they_are_counted_and_never_twice_under_one_id(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = browser_of(profile, PERSISTENT, "notifications")
        received: list[Any] = []
        browser.notifications.onShown.addListener(lambda name: received.append(("shown", name)))
        browser.notifications.onClosed.addListener(lambda name, by_user: received.append(("closed", name, by_user)))
        browser_of(profile, PERSISTENT, "notifications", extension_id="o@x").notifications.onShown.addListener(
            received.append
        )
        assert await browser.notifications.create(BASIC) == "0"
        assert await browser.notifications.create("", BASIC) == "1"
        assert await browser.notifications.clear("1")
        assert not await browser.notifications.clear("1")
        assert await browser.notifications.create("", BASIC) == "2"
        assert await browser.notifications.create("0", {**BASIC, "title": "New"}) == "0"
        every = await browser.notifications.getAll()
        assert {name: options["title"] for name, options in every.items()} == {"2": "T", "0": "New"}
        assert received == [
            ("shown", "0"),
            ("shown", "1"),
            ("closed", "1", True),
            ("shown", "2"),
            ("closed", "0", True),
            ("shown", "0"),
        ]

    in_profile(tmp_path, use)


def test_a_click_closes_a_notification_and_is_not_user_input(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        browser = browser_of(profile, PERSISTENT, "notifications")
        received: list[Any] = []
        browser.notifications.onClicked.addListener(
            lambda name: received.append((name, browser._caller.is_handling_user_input))
        )
        browser.notifications.onClosed.addListener(lambda *args: received.append(args))
        await browser.notifications.create("a", BASIC)
        await profile.store.write(lambda each: notifications.click(each, ID, "a"))
        assert received == [("a", False), ("a", True)]
        assert await browser.notifications.getAll() == {}

    in_profile(tmp_path, use)
