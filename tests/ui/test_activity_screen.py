"""The screen of the activity in Chromium: live, filtered, and without what was deleted for ever."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.async_api import expect

from hatbox.activity_log.activity_rows import write_entries
from hatbox.store.grant_tables import ActivityRow
from tests.store.other_process import OtherProcess
from tests.ui.manager import Manager

if TYPE_CHECKING:
    from playwright.async_api import Page


RETENTION = "Changes are stored for about 10 minutes, while a program has the profile open. What programs with a grant"

# The name and the text of the newest entry: whether each is cut off, and its share of the line in percent.
LINE = """() => {
  const line = document.querySelector(".act .what");
  return [...line.querySelectorAll(".ellipsis")].map((each) => [
    each.scrollWidth > each.clientWidth,
    Math.round(100 * each.getBoundingClientRect().width / line.clientWidth),
  ]);
}"""


async def test_changes_of_any_program_appear_and_vanish_with_their_identity(
    manager: Manager, manager_page: Page
) -> None:
    page, profile = manager_page, manager.profile
    await page.goto(f"{manager.url}#/activity")
    await expect(page.get_by_role("heading", name="No recent activity")).to_be_visible()
    await expect(page.locator("main")).to_contain_text(RETENTION)
    rows = page.locator(".act")
    lair = await profile.identities.create("<img onerror=alert(1)>")
    await expect(rows.first).to_contain_text("<img onerror=alert(1)> Created")
    with OtherProcess(Path(profile.address)) as other:
        other.identities("create", "From afar")
    await expect(rows.first).to_contain_text("From afar Created")
    await expect(page.get_by_role("heading", name="Today")).to_be_visible()
    assert await rows.count() == 2

    await expect(page.locator("main")).to_contain_text(RETENTION)

    await page.keyboard.press("/")
    await page.keyboard.type("afar")
    await expect(rows).to_have_count(1)
    await page.keyboard.press("Escape")
    await expect(rows).to_have_count(2)

    await profile.identities.remove(lair.cookie_store_id)
    await expect(rows.first).to_contain_text("Moved to the trash")
    await profile.trash.remove(lair.cookie_store_id)
    await expect(rows.first).to_contain_text("An identity was deleted forever")
    await expect(page.locator("main")).not_to_contain_text("onerror")


async def test_what_programs_did_in_the_last_30_days_is_in_the_same_list(manager: Manager, manager_page: Page) -> None:
    page, profile = manager_page, manager.profile
    work = await profile.identities.find("Work")
    day = 86_400.0
    old = [
        ActivityRow(0, time.time() - 20 * day + n, "", "nightly.py", "nas", 2, "fetch", f"h{n}.example", "sent", 1)
        for n in range(300)
    ]
    await profile.store.write(lambda transaction: write_entries(transaction, old))
    await page.goto(f"{manager.url}#/activity")
    rows = page.locator(".act")
    await expect(rows.first).to_contain_text("Work Fetch on h299.example")
    await expect(rows.first).to_contain_text("nightly.py, nas")
    profile.activity_log.record(work.cookie_store_id, "tabs.create", host="site.example", grant="g1", outcome="refused")
    await expect(rows.first).to_contain_text("Work tabs.create on site.example: refused")
    await expect(rows.first).to_contain_text("grant g1")
    await profile.identities.create("Travel")
    await expect(rows.first).to_contain_text("Travel Created")
    await page.keyboard.press("/")
    await page.keyboard.type("h0.example")  # of a page that was not read at the start
    await expect(rows).to_have_count(1)
    await expect(page.locator("main")).to_contain_text(RETENTION)
    await page.keyboard.press("Escape")
    await profile.identities.remove(work.cookie_store_id)
    await expect(rows.first).to_contain_text("Moved to the trash")
    await expect(rows.nth(2)).to_contain_text("Work tabs.create")
    await profile.trash.remove(work.cookie_store_id)
    await expect(page.locator("main")).not_to_contain_text("tabs.create")


async def test_the_settings_of_an_identity_switch_its_recording_on_and_off(
    manager: Manager, manager_page: Page
) -> None:
    page, log = manager_page, manager.profile.activity_log
    await page.goto(f"{manager.url}#/identity/firefox-container-2/settings")
    switch = page.get_by_role("switch", name="Record activity")
    await switch.check()
    await page.locator(".toast", has_text="The activity of Work is recorded now.").wait_for()
    assert await log.is_recorded("Work")
    await page.locator("h1").click()
    await page.keyboard.press("Control+z")
    await expect(switch).not_to_be_checked()
    assert not await log.is_recorded("Work")


async def test_a_long_name_leaves_room_for_what_changed(manager: Manager, manager_page: Page) -> None:
    page, profile = manager_page, manager.profile
    await page.goto(f"{manager.url}#/activity")
    newest = page.locator(".act").first
    await page.set_viewport_size({"width": 360, "height": 740})
    work = await profile.identities.create("Wilhelmina Accounts of Lumen X")
    await expect(newest).to_contain_text("Wilhelmina Accounts of Lumen X Created")
    name, text = await page.evaluate(LINE)
    assert not text[0]  # "Created" can be read, and the name has the rest
    assert name[1] > 60
    await profile.identities.update(work.cookie_store_id, name="Work")
    await profile.identities.update(work.cookie_store_id, color="red")
    await expect(newest).to_contain_text("Work Name, color or icon changed")
    name, text = await page.evaluate(LINE)
    assert not name[0]  # a short name is never cut
    await page.set_viewport_size({"width": 1440, "height": 900})
    await profile.identities.update(work.cookie_store_id, name="x" * 200)
    await profile.tabs.open(work.cookie_store_id, f"https://site.example/{'y' * 300}")
    await expect(newest).to_contain_text("Tab opened")
    (is_name_cut, name_share), (is_text_cut, text_share) = await page.evaluate(LINE)
    assert is_name_cut
    assert is_text_cut
    assert 45 <= name_share <= 50
    assert 45 <= text_share <= 50
