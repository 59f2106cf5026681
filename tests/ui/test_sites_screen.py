"""Sites, and the cookies of an identity, in a real Chromium: what a person sees and does."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from playwright.async_api import expect

import hatbox
from hatbox.cookies import Cookie
from tests.ui.dropped_files import drop_file
from tests.ui.keyboard_walk import press_until
from tests.ui.manager import Manager

if TYPE_CHECKING:
    from playwright.async_api import Page


HOSTILE = "<img onerror=x>"
LINE = b"b.example\tFALSE\t/\tFALSE\t0\tdropped\t1\n"
EXPIRED = b"# Netscape HTTP Cookie File\nb.example\tFALSE\t/\tFALSE\t5\tsid\t1\n"


async def put(profile: hatbox.Profile, identity: str, url: str, *headers: str) -> str:
    store = await profile.cookie_store(identity)
    await store.receive(headers, url)
    return store.cookie_store_id


def toast(page: Page, text: str) -> Any:
    return page.locator(".toast", has_text=text)


async def test_sites_shows_who_is_signed_in_where_and_follows_changes(manager: Manager, manager_page: Page) -> None:
    profile, page = manager.profile, manager_page
    await profile.identities.create(HOSTILE, color="red", icon="pet")
    for identity in ("Personal", HOSTILE, "firefox-default"):
        await put(profile, identity, "https://forge.example/", "sid=1; HttpOnly")
    await put(profile, "Work", "https://news.example/", "visits=3")
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.goto(f"{manager.url}#/sites")
    forge, news = page.locator(".siterow", has_text="forge.example"), page.locator(".siterow", has_text="news.example")
    await forge.locator("text=3 identities").wait_for()
    await forge.locator("a.chip", has_text=HOSTILE).wait_for()
    await forge.locator("a.chip", has_text="No identity").wait_for()
    await news.locator("a.chip.maybe", has_text="Work").wait_for()
    await news.locator("text=Not signed in").wait_for()
    await put(profile, "Work", "https://news.example/", "sid=1; HttpOnly")
    await news.locator("text=1 identity").wait_for()
    await put(profile, "Personal", "https://new.example/", "sid=1; HttpOnly")
    await page.locator(".siterow", has_text="new.example").wait_for()
    await profile.identities.update("Personal", name="Renamed")
    await forge.locator("a.chip", has_text="Renamed").wait_for()
    await page.keyboard.press("/")
    await page.keyboard.type("renamed")
    await news.wait_for(state="detached")
    assert await page.locator(".siterow").count() == 2
    await page.set_viewport_size({"width": 360, "height": 740})
    await forge.locator("button.more").click()
    await page.locator(".site-rest a.chip", has_text=HOSTILE).click()
    await page.get_by_role("button", name="forge.example Signed in").wait_for()
    await page.goto(f"{manager.url}#/identity/firefox-default/cookies")
    await page.locator("h1", has_text="No identity").wait_for()
    await page.get_by_role("button", name="forge.example Signed in").wait_for()


async def test_a_phone_says_in_words_which_sites_have_cookies_only(manager: Manager, manager_page: Page) -> None:
    profile, page = manager.profile, manager_page
    await put(profile, "Personal", "https://forge.example/", "sid=1; HttpOnly")
    for site in ("forge.example", "news.example"):
        await put(profile, "Work", f"https://{site}/", "visits=3")
    await profile.store.write(lambda each: each.site_data.put(2, "https://a.example", b'{"local":[["a","b"]]}'))
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto(f"{manager.url}#/sites")
    words = page.locator(".siterow .host + .muted")
    await expect(page.get_by_title("news.example").locator("+ .muted")).to_have_text("Cookies only")
    await expect(page.get_by_title("a.example").locator("+ .muted")).to_have_text("Site data only")
    await expect(words.locator("visible=true")).to_have_count(2)
    await page.set_viewport_size({"width": 641, "height": 740})
    await expect(words.locator("visible=true")).to_have_count(0)  # that row says "Not signed in"


async def test_names_on_sites_are_whole_with_a_larger_default_font(manager: Manager, manager_page: Page) -> None:
    profile, page = manager.profile, manager_page
    for name in ("Personal", "Work", "Banking", "Shopping"):
        await put(profile, name, "https://forge.example/", "sid=1; HttpOnly")
    await page.set_viewport_size({"width": 1440, "height": 900})
    for size in (20, 24):
        await page.goto(f"{manager.url}#/identities")
        await page.evaluate("size => { document.documentElement.style.fontSize = `${size}px`; }", size)
        await page.goto(f"{manager.url}#/sites")
        await page.locator(".siterow a.chip").first.wait_for()
        cut = "each => each.filter(({scrollWidth, clientWidth}) => scrollWidth > clientWidth).map((e) => e.textContent)"
        assert await page.locator(".siterow .ellipsis").evaluate_all(cut) == []
        assert await page.locator(".nav span").evaluate_all(cut) == []
        heights = "each => [...new Set(each.map((link) => link.querySelector('span').offsetHeight))].length"
        assert await page.locator(".side .nav a").evaluate_all(heights) == 1  # no label has two lines


async def test_a_cookie_with_a_long_name_has_a_short_row(manager: Manager, manager_page: Page) -> None:
    page = manager_page
    work = await put(manager.profile, "Work", "https://forge.example/", f"{'n' * 300}=1", "short=1")
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.goto(f"{manager.url}#/identity/{work}/cookies")
    await page.get_by_title("forge.example", exact=True).click()
    rows = page.get_by_role("table", name="Cookies of forge.example").locator("tbody tr")
    await expect(rows).to_have_count(2)
    assert max(await rows.evaluate_all("each => each.map(({offsetHeight}) => offsetHeight)")) < 160


async def test_cookies_of_an_identity_are_shown_deleted_and_restored(manager: Manager, manager_page: Page) -> None:
    profile, page = manager.profile, manager_page
    work = await put(profile, "Work", "https://forge.example/", "sid=secret'1; HttpOnly", "theme=dark")
    await put(profile, "Work", "https://news.example/", "visits=3")
    before = await profile.store.read(lambda each: sorted(each.cookies.load(2)))
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto(f"{manager.url}#/identity/{work}/cookies")
    await page.locator("text=Signed in on 1 site. 3 cookies on 2 sites, which no other identity sees.").wait_for()
    # With the keyboard: open the site, show a value and hide it, delete a cookie.
    await page.get_by_role("button", name="forge.example Signed in").focus()
    await page.keyboard.press("Enter")
    await page.locator("td >> text=••••••••").nth(1).wait_for()
    await press_until(page, "Tab", "Show the value of sid")
    await page.keyboard.press("Enter")
    await page.locator("td code >> text=secret'1").wait_for()
    await page.keyboard.press("Space")
    await page.locator("td code >> text=secret'1").wait_for(state="detached")
    await press_until(page, "Tab", "Delete theme")
    await page.keyboard.press("Enter")
    await toast(page, "Deleted cookie theme of forge.example.").get_by_role("button", name="Undo").click()
    await page.get_by_role("button", name="Delete theme").wait_for()
    await press_until(page, "Shift+Tab", "Actions for forge.example")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("menuitem", name="Copy as curl")).to_be_focused()
    await page.keyboard.press("Enter")
    await toast(page, "Copied a curl command that is signed in on forge.example.").wait_for()
    assert "curl 'https://forge.example/' -H 'Cookie: sid=secret'\\''1" in await page.evaluate(
        "navigator.clipboard.readText()"
    )
    await page.get_by_role("button", name="Actions for forge.example").click()
    await page.get_by_role("menuitem", name="Delete cookies of this site").click()
    await toast(page, "Deleted 2 cookies of forge.example. Work is signed out there.").wait_for()
    await page.keyboard.press("Control+z")
    await page.get_by_role("button", name="Delete all").click()
    deleted = toast(page, "Deleted all cookies of Work. It is signed out everywhere.")
    await page.locator("h2 >> text=Signed in nowhere").wait_for()
    await deleted.get_by_role("button", name="Undo").click()
    await page.get_by_role("button", name="forge.example Signed in").wait_for()
    assert await profile.store.read(lambda each: sorted(each.cookies.load(2))) == before

    origin = "https://app.forge.example"
    await profile.store.write(lambda each: each.site_data.put(2, origin, b'{"local":[["a","b"]],"databases":[]}'))
    await put(profile, "Work", "https://news.example/", "visits=4")  # the page reads the sites again
    await page.locator("text=and 36 bytes of site data").wait_for()
    await page.get_by_role("button", name="Actions for forge.example").click()
    await page.get_by_role("menuitem", name="Delete cookies and site data").click()
    await page.get_by_role("dialog").get_by_role("button", name="Delete forever").click()
    await toast(page, "Deleted 2 cookies and the site data of forge.example. Work is signed out there.").wait_for()
    assert await profile.store.read(lambda each: each.site_data.origins(2)) == []
    await page.get_by_role("button", name="forge.example Signed in").wait_for(state="detached")


async def test_cookies_say_when_they_expire_and_were_used_and_hide_their_values_again(
    manager: Manager, manager_page: Page
) -> None:
    page, now = manager_page, manager.profile.store.time()
    noon = datetime(2020, 2, 4, 12).timestamp()

    def cookie(name: str, host: str, used: float, **fields: Any) -> Cookie:
        return Cookie(name=name, value=f"value of {name}", domain=host, created=noon, last_access=used, **fields)

    store = await manager.profile.cookie_store("Work")
    await store.put(
        [
            cookie("sid", "forge.example", now - 2.5 * 3600, expires=now + 3.5 * 86_400, http_only=True),
            cookie("theme", "forge.example", noon),
            cookie("visits", "news.example", now + 3600, expires=datetime(2099, 1, 1).timestamp()),
        ]
    )
    cookies = f"{manager.url}#/identity/{store.cookie_store_id}/cookies"
    await page.set_viewport_size({"width": 1440, "height": 900})
    await page.goto(cookies)
    forge, news = page.get_by_title("forge.example", exact=True), page.get_by_title("news.example", exact=True)
    await expect(forge).to_have_text("fforge.exampleSigned in since 4 Feb 2020Used 2 h ago2 cookies")
    await expect(news).to_have_text("nnews.exampleCookies onlyIn use now1 cookie")
    await forge.click()
    rows = page.get_by_role("table", name="Cookies of forge.example").locator("tbody tr")
    await expect(rows).to_have_count(2)
    assert await rows.locator("td:nth-child(3)").all_inner_texts() == ["in 3 days", "Session"]
    assert await rows.locator("td:nth-child(6)").all_inner_texts() == ["2 h ago", "4 Feb 2020"]
    assert await rows.locator("td:nth-child(6)").last.get_attribute("title") == "4 Feb 2020, 12:00:00"
    await page.set_viewport_size({"width": 360, "height": 740})
    assert (await rows.locator("td:nth-child(3)").first.inner_text()).split("\n") == ["in 3 days", "used 2 h ago"]

    # A value is hidden again when the site is closed, and when another tab or screen was shown.
    async def show(route: str) -> None:
        await page.evaluate("route => { location.hash = `#/${route}`; }", route)

    value, masked = page.locator("td code", has_text="value of sid"), page.locator("td code.masked")
    for other in ("", f"identity/{store.cookie_store_id}/tabs", "sites"):
        await page.get_by_role("button", name="Show the value of sid").click()
        await value.wait_for()
        await (show(other) if other else forge.click())
        await expect(rows.locator("visible=true")).to_have_count(0)
        await (show(f"identity/{store.cookie_store_id}/cookies") if other else forge.click())
        await expect(masked.locator("visible=true")).to_have_count(2)
        assert await value.count() == 0


async def test_cookies_go_to_files_and_come_from_files(manager: Manager, manager_page: Page) -> None:
    profile, page = manager.profile, manager_page
    work = await put(profile, "Work", "https://forge.example/", "sid=1; HttpOnly")
    await page.goto(f"{manager.url}#/identity/{work}/cookies")
    await page.get_by_role("button", name="Export").click()
    async with page.expect_download() as started:
        await page.get_by_role("menuitem", name="cookies.txt (for curl)").click()
    download = await started.value
    assert download.suggested_filename == "work-cookies.txt"
    await toast(page, "1 cookie of Work saved as work-cookies.txt.").wait_for()
    picker = page.locator("input[type=file]")
    for name, data, problem in (
        ("photo.png", b"\x89PNG\xff\x00", "photo.png is not a text file."),
        ("notes.txt", b"no cookies", "notes.txt: this is not a file of cookies."),
        ("old.txt", EXPIRED, "old.txt: no cookie was imported into Work. Left out: expired cookies (1)."),
    ):
        await picker.set_input_files({"name": name, "mimeType": "text/plain", "buffer": data})
        await page.locator(".panel .error", has_text=problem).wait_for()
    await drop_file(page, ".sidebar, nav", "dropped.txt", LINE)  # beside the target the page stays
    assert not await page.locator(".toast", has_text="dropped.txt").count()
    await drop_file(page, ".scroll", "dropped.txt", LINE)
    await toast(page, "dropped.txt: 1 cookie imported into Work.").wait_for()
    await page.get_by_role("button", name="b.example Cookies only").wait_for()
    await page.get_by_role("button", name="Undo").click()
    await page.get_by_role("button", name="b.example Cookies only").wait_for(state="detached")

    cookies = [Cookie(name=f"n{n % 10}", value="v", domain=f"s{n // 10:03}.example", created=5.0) for n in range(3000)]
    await (await profile.cookie_store("Personal")).put(cookies)
    personal = (await profile.identities.resolve("Personal")).cookie_store_id
    await page.goto(f"{manager.url}#/identity/{personal}/cookies")
    await page.locator("text=3,000 cookies on 300 sites").wait_for()
    assert await page.locator(".site").count() == 100
    await page.get_by_role("button", name="Show more").click()
    assert await page.locator(".site").count() == 200
    await page.get_by_label("Find a site").fill("s299")
    await page.get_by_role("button", name="s299.example Cookies only").wait_for()
    assert await page.locator(".site").count() == 1
