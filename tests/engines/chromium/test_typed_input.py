"""Typed text is filled in again after hide and show, or its loss is reported."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.async_api import Page

import hatbox
from hatbox.engines.chromium import typed_input
from hatbox.engines.chromium.chromium_runner import ChromiumRunner
from hatbox.engines.chromium.identity_context import IdentityContext
from hatbox.engines.chromium.live_page import LivePage
from hatbox.engines.chromium.page_saving import save_site_data, save_snapshot
from hatbox.engines.chromium.page_typed_input import PageTypedInput
from hatbox.engines.chromium.typed_input import Field, Form, Step, TypedInput
from tests.engines.chromium.desktop import Keyboard
from tests.engines.chromium.real import browser_process, running, with_browser
from tests.site import Site
from tests.waiting import until_awaited

WORK = "firefox-container-2"
SECRET = "correct-horse-battery"

# ----------------------------------------------------------------------------------------------------------- parsing


def form(url: str = "https://site.example/", place: Sequence[int] = (), value: str = "typed") -> Form:
    return Form(url, [*place], [Field([Step("input", "name", "", 0)], "text", value)])


def result(of: Form, **lost: int) -> str:
    return msgspec.json.encode(msgspec.to_builtins(of) | {"lost": lost}).decode()


def test_results_of_documents_are_parsed() -> None:
    one, two = form(), form(place=[0, 2])
    typed = typed_input.parse_typed_input([result(one, password=1), result(two, password=2, file=1)])
    assert typed.forms == [one, two]
    assert typed_input.describe_lost(typed.lost) == ["1 chosen file", "3 passwords"]


@given(st.none() | st.text() | st.integers() | st.recursive(st.none() | st.text(), st.lists).map(str))
def test_an_invalid_result_is_a_loss(invalid: object) -> None:
    typed = typed_input.parse_typed_input([invalid, result(form())])
    assert (typed.forms, typed.lost) == ([form()], {typed_input.FROZEN: 1})


def test_stored_text_is_bounded() -> None:
    typed = typed_input.parse_typed_input(result(form(place=[each], value="x" * 190_000)) for each in range(20))
    assert len(typed.forms) == 5
    assert typed.lost == {"too much": 15}


def test_text_that_is_not_filled_in_yet_is_saved_again() -> None:
    now, before, other = form(value="new"), form(value="old"), form(place=[1])
    assert typed_input.merge_forms([now], [before, other]) == [now, other]


# ---------------------------------------------------------------------------------------------------- in the browser


async def the_tab(profile: hatbox.Profile) -> int:
    (tab,) = await profile.tabs.query("Work")
    return tab.id


async def hide(profile: hatbox.Profile, runner: ChromiumRunner) -> None:
    """Hide Work after the engine has received the messages of its pages, which precede a result on the same session."""
    for live in list(running(runner).pages.values()):
        await live.world.evaluate_in_main_frame("0")
    await profile.identities.hide(WORK)
    await runner.wait_until_settled()


async def hidden_and_shown(profile: hatbox.Profile, runner: ChromiumRunner) -> tuple[Page, list[str]]:
    """Hide Work and show it; returns its page, and what was lost."""
    lost: list[str] = []
    profile.tabs.on_hidden.add_listener(lambda hidden: lost.extend(hidden.not_saved))
    await hide(profile, runner)
    await profile.identities.show(WORK)
    return await runner.page(await the_tab(profile)), lost


def stored(path: Path, text: str) -> bool:
    return any(text.encode() in file.read_bytes() for file in path.parent.iterdir() if file.is_file())


async def fill_all(page: Page) -> None:
    await page.fill("#name", "Ada")
    await page.locator("[name=twin]").nth(1).fill("second")
    await page.fill("[name=text]", "new\ntext")
    await page.focus("[name=select]")
    await page.keyboard.press("c")
    await page.check("#check")
    await page.check("#two")
    await page.fill("#open input", "in a shadow root")
    await page.click("#editable")
    await page.keyboard.type("edited <b>")
    await page.frame_locator("iframe").locator("#text").fill("in a frame")


VALUES = """() => [
    document.getElementById("name").value,
    [...document.querySelectorAll("[name=twin]")].map((each) => each.value),
    document.querySelector("[name=text]").value,
    document.querySelector("[name=select]").value,
    [document.getElementById("check").checked, document.getElementById("two").checked],
    document.getElementById("open").shadowRoot.firstChild.value,
    document.getElementById("editable").innerText,
    frames[0].document.getElementById("text").value,
]"""
FILLED = ["Ada", ["", "second"], "new\ntext", "c", [True, True], "in a shadow root", "edited <b>", "in a frame"]


SHOWN_PASSWORDS = """() => {
    const fields = `<input type="password" id="first"><input type="text" name="pass"><div id="host"></div>`;
    document.body.insertAdjacentHTML("beforeend", fields);
    document.getElementById("host").attachShadow({mode: "open"}).innerHTML = `<input type="password">`;
}"""


@with_browser
async def test_typed_text_is_filled_in_again(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/fields"))
        await fill_all(page)
        assert await page.evaluate(VALUES) == FILLED
        page, lost = await hidden_and_shown(profile, runner)

        async def is_filled() -> bool:
            return bool(await page.evaluate(VALUES) == FILLED)

        await until_awaited(is_filled)
        assert lost == []
        assert await page.evaluate("inputs") > 0  # the page gets input events
        page, lost = await hidden_and_shown(profile, runner)  # filled text counts as typed
        await until_awaited(is_filled)
        assert lost == []


@with_browser
async def test_typed_text_is_removed_from_the_profile_when_it_is_filled_in(
    browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:

        async def snapshot() -> bytes:
            return await profile.tabs.read(lambda each: each.tabs.page_snapshot(tab)) or b""

        page = await runner.new_page("Work", site.url("/form"))
        tab = await the_tab(profile)
        await page.fill("#text", SECRET)
        await hide(profile, runner)
        assert SECRET.encode() in await snapshot()
        await profile.identities.show(WORK)
        page = await runner.page(tab)
        await page.wait_for_function("document.querySelector('#text').value !== ''")

        async def is_scrubbed() -> bool:
            return SECRET.encode() not in await snapshot()

        await until_awaited(is_scrubbed)


@with_browser
async def test_secrets_are_never_stored_and_their_loss_is_reported(
    browser: str, path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/fields"))
            await page.fill("#name", "Ada")
            for field in ("#card", "#code", "#off"):
                await page.fill(field, SECRET)
            await page.fill("#password", SECRET)
            await page.evaluate("document.getElementById('password').type = 'text'")  # "show the password"
            await page.click("#closed")
            await page.keyboard.type("in a closed shadow root")
            assert not stored(path, SECRET)
            page, lost = await hidden_and_shown(profile, runner)
            await page.wait_for_function("document.getElementById('name').value === 'Ada'")
            assert not stored(path, SECRET)
            assert lost == [
                "3 fields that their site does not allow to be stored",
                "1 password",
                "1 field that cannot be found again",
            ]
            assert await page.evaluate("document.getElementById('password').value") == ""
            assert "typed text is not saved: 3 fields that their site" in caplog.text
            assert SECRET not in caplog.text
        assert not stored(path, SECRET)


@pytest.mark.parametrize("field", ["#first", "#host input", "[name=pass]"])
@with_browser
async def test_a_password_that_is_shown_before_it_is_typed_is_never_stored(
    field: str, browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/form"))
        await page.evaluate(SHOWN_PASSWORDS)
        await page.click(field)
        await page.locator(field).evaluate("field => { field.type = 'text' }")  # "show the password"
        await page.fill(field, SECRET)
        page, lost = await hidden_and_shown(profile, runner)
        assert lost == ["1 password"]
        assert not stored(path, SECRET)


@with_browser
async def test_a_page_without_typed_text_is_closed(
    browser: str, path: Path, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/form"))
        await page.evaluate("document.getElementById('text').value = 'by a script'")
        await page.evaluate("document.getElementById('text').dispatchEvent(new Event('input', {bubbles: true}))")
        assert not running(runner).pages[await the_tab(profile)].typed_input.is_possible
        page, lost = await hidden_and_shown(profile, runner)
        assert await page.evaluate("document.getElementById('text').value") == ""
        assert lost == []
        await page.fill("#text", "sent")
        await page.fill("#text", "")  # as after a message was sent
        await hide(profile, runner)
        assert lost == []


@with_browser
async def test_a_field_that_appears_late_is_filled_in_and_the_user_has_the_last_word(
    browser: str, path: Path, site: Site
) -> None:
    late = """() => {
        const field = Object.assign(document.createElement("input"), { id: "late" });
        document.body.append(field);
    }"""
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/form"))
        await page.fill("#text", "first")
        await page.evaluate(late)
        await page.fill("#late", "late")
        await hide(profile, runner)
        await profile.identities.show(WORK)
        page = await runner.page(await the_tab(profile))
        await page.wait_for_function("document.getElementById('text').value === 'first'")
        await page.fill("#text", "changed by hand")
        page, _ = await hidden_and_shown(profile, runner)  # text without a field is saved again
        await page.wait_for_function("document.getElementById('text').value === 'changed by hand'")
        await page.evaluate(late)
        await page.wait_for_function("document.getElementById('late').value === 'late'")


@with_browser
async def test_typed_text_survives_the_end_of_the_browser(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            await (await runner.new_page("Work", site.url("/form"), keep=True)).fill("#text", "typed")
            await hide(profile, runner)
        await profile.identities.show(WORK)
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.page(await the_tab(profile))
            await page.wait_for_function("document.getElementById('text').value === 'typed'")


@with_browser
async def test_typed_text_survives_if_the_browser_is_stopped_while_it_hides_the_page(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_hiding = asyncio.Event()
    read = PageTypedInput.read

    async def slow_at_first(page: PageTypedInput) -> TypedInput:
        if not is_hiding.is_set():
            is_hiding.set()
            await asyncio.Event().wait()
        return await read(page)

    monkeypatch.setattr(PageTypedInput, "read", slow_at_first)
    async with hatbox.open(path) as profile:
        async with profile.chromium(headless=True, browser=browser) as runner:
            await (await runner.new_page("Work", site.url("/form"), keep=True)).fill("#text", "typed")
            await profile.identities.hide(WORK)
            await is_hiding.wait()
        await profile.identities.show(WORK)
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.page(await the_tab(profile))
            await page.wait_for_function("document.getElementById('text').value === 'typed'")


@with_browser
async def test_a_snapshot_without_typed_text_never_replaces_the_last_one(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_saved = asyncio.Event()

    async def noting(*arguments: Any) -> None:
        await save_snapshot(*arguments)
        is_saved.set()

    async def slowly(context: IdentityContext, page: LivePage) -> None:
        page.snapshots.schedule()  # a page that has scrolled, or is still loading, does this at any time
        await is_saved.wait()
        page.snapshots._debouncer.flush()
        await page.snapshots.snapshot(())  # which takes as many round trips as that one, and began later
        await save_site_data(context, page)

    monkeypatch.setattr("hatbox.engines.chromium.engine.save_snapshot", noting)
    monkeypatch.setattr("hatbox.engines.chromium.engine.save_site_data", slowly)
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await (await runner.new_page("Work", site.url("/form"))).fill("#text", "typed")
        page, _ = await hidden_and_shown(profile, runner)
        await page.wait_for_function("document.getElementById('text').value === 'typed'")


@with_browser
async def test_closing_a_tab_removes_its_typed_text(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        await (await runner.new_page("Work", site.url("/form"))).fill("#text", SECRET)
        await hide(profile, runner)
        tab = await the_tab(profile)
        await profile.tabs.close(tab)
        assert await profile.tabs.read(lambda each: each.tabs.page_snapshot(tab)) is None


HOSTILE = {
    "a hundred thousand fields": """document.body.insertAdjacentHTML("afterbegin", "<input hidden>".repeat(1e5));
        document.getElementById("text").removeAttribute("id")""",
    "an endless value": "document.getElementById('text').value = 'x'.repeat(3e6)",
    "getters": """for (const name of ["value", "defaultValue", "type", "form"])
        Object.defineProperty(HTMLInputElement.prototype, name, { get() { for (;;); } });
        Array.prototype.toJSON = String.prototype.toJSON = () => { for (;;); };""",
    "clobbered members": """for (const name of ["getElementById", "querySelectorAll", "createTreeWalker"])
        document.body.insertAdjacentHTML("beforeend", `<img name="${name}"><form name="${name}"></form>`)""",
    "a deep tree": """let at = document.body;
        for (let depth = 0; depth < 400; depth++) at = at.appendChild(document.createElement("div"));
        at.append(document.getElementById("text"))""",
    "an editable page": """document.getElementById("text").blur(); document.body.contentEditable = true;
        document.body.insertAdjacentHTML("beforeend", "<p>x</p>".repeat(1e5)); document.body.focus()""",
}
FRAME = "url => document.body.append(Object.assign(document.createElement('iframe'), {src: url}))"
SPENT = "(() => { const since = performance.now(); hatboxTyped(); return performance.now() - since })()"


@pytest.mark.parametrize("script", HOSTILE.values(), ids=HOSTILE)
@with_browser
async def test_a_hostile_page_neither_delays_hide_nor_breaks_it(
    script: str, browser: str, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/form"))
        await page.click("#text")
        await page.keyboard.type("a")
        await page.evaluate(f"void (() => {{ {script} }})()")
        if "contentEditable" in script:
            await page.keyboard.type("b")
        spent = float(await in_isolated_world(runner, SPENT))
        assert spent < 2000  # 50 ms on an idle machine
        await hide(profile, runner)
        assert page.is_closed()
        (tab,) = await profile.tabs.query("Work")
        assert (tab.hidden, tab.error) == (True, "")
        data = await profile.tabs.read(lambda each: each.tabs.page_snapshot(tab.id))
        assert data is not None
        assert len(data) < 1_100_000


@with_browser
async def test_a_page_that_hangs_is_hidden_and_the_loss_is_reported(
    browser: str, path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hatbox.engines.chromium.isolated_world._EVALUATE_TIMEOUT", 0.5)
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/form"))
        await page.fill("#text", "typed")
        await page.evaluate("setTimeout(() => { while (true); })")
        lost: list[str] = []
        profile.tabs.on_hidden.add_listener(lambda hidden: lost.extend(hidden.not_saved))
        await hide(profile, runner)
        assert page.is_closed()
        assert lost == ["all typed text: the page does not answer"]


@with_browser
async def test_text_in_a_page_that_is_not_from_the_web_is_reported_as_lost(
    browser: str, path: Path, tmp_path: Path
) -> None:
    file = tmp_path / "form.html"
    file.write_text("<!doctype html><input id=text>", "utf-8")
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", file.as_uri())
        await page.fill("#text", "typed")
        _, lost = await hidden_and_shown(profile, runner)
        assert lost == ["1 field of a page that is not from the web"]


async def in_isolated_world(runner: ChromiumRunner, script: str) -> Any:
    (live,) = running(runner).pages.values()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hatbox.engines.chromium.isolated_world._EVALUATE_TIMEOUT", 60)  # for a busy machine
        return await live.world.evaluate_in_main_frame(script)


@with_browser
async def test_text_in_a_frame_of_another_site_is_reported_as_lost(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        other = site.url("/form", host="localhost")
        await page.evaluate(FRAME, other)
        field = page.frame_locator("iframe").locator("#text")
        await field.wait_for()
        _, lost = await hidden_and_shown(profile, runner)
        assert lost == []  # nothing is typed
        page = await runner.page(await the_tab(profile))
        await page.evaluate(FRAME, other)
        field = page.frame_locator("iframe").locator("#text")
        await field.click()
        await page.keyboard.type("typed")
        _, lost = await hidden_and_shown(profile, runner)
        assert lost == ["text in 1 frame of another site"]


# ------------------------------------------------------------------------------------------------------- in windows


@with_browser
async def test_a_page_with_typed_text_stays_alive_in_a_minimised_window(
    browser: str, desktop: Keyboard, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/fields"))
        plain = await runner.new_page("Work", site.url("/page/2"))
        tabs = await profile.tabs.query("Work")
        await page.fill("#password", SECRET)
        await page.evaluate("window.memory = 'in memory'")
        lost: list[str] = []
        profile.tabs.on_hidden.add_listener(lambda hidden: lost.extend(hidden.not_saved))
        await hide(profile, runner)
        assert (page.is_closed(), plain.is_closed()) == (False, True)
        assert runner.engine.tabs == set()
        assert await window_state(runner, page) == "minimized"
        assert not stored(path, SECRET)
        await profile.identities.show(WORK)
        again = await runner.page(tabs[0].id)
        assert again is page
        assert await window_state(runner, page) == "normal"
        assert await page.evaluate("[memory, document.getElementById('password').value]") == ["in memory", SECRET]
        assert lost == []
        await runner.page(tabs[1].id)
        await page.goto(site.url("/page/3"))  # it is the page of its tab again

        async def is_reported() -> bool:
            return (await profile.tabs.get(tabs[0].id)).title == "Page 3"

        await until_awaited(is_reported)


async def window_state(runner: ChromiumRunner, page: Page) -> str:
    session = await page.context.new_cdp_session(page)
    window = await session.send("Browser.getWindowForTarget")
    return str(window["bounds"]["windowState"])


@with_browser
async def test_closing_a_tab_closes_its_minimised_page(browser: str, desktop: Keyboard, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(browser=browser) as runner:
        await runner.new_page("Personal", site.url("/page/1"))
        page = await runner.new_page("Work", site.url("/form"))
        await page.fill("#text", "typed")
        await hide(profile, runner)
        assert not page.is_closed()
        closed = asyncio.ensure_future(page.wait_for_event("close"))
        await profile.tabs.close(await the_tab(profile))
        await closed


@with_browser
async def test_a_minimised_window_that_the_user_brings_back_shows_the_identity(
    browser: str, desktop: Keyboard, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/form"))
        await page.fill("#text", "typed")
        await hide(profile, runner)
        session = await page.context.new_cdp_session(page)
        window = (await session.send("Browser.getWindowForTarget"))["windowId"]
        await session.send("Browser.setWindowBounds", {"windowId": window, "bounds": {"windowState": "normal"}})

        async def is_shown() -> bool:
            return not (await profile.identities.get(WORK)).hidden

        await until_awaited(is_shown)
        assert await runner.page(await the_tab(profile)) is page


@with_browser
async def test_typed_text_of_a_minimised_page_survives_the_end_of_the_browser(
    browser: str, desktop: Keyboard, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile:
        async with profile.chromium(browser=browser) as runner:
            page = await runner.new_page("Work", site.url("/form"), keep=True)
            await page.fill("#text", "typed")
            await hide(profile, runner)
            os.kill(await browser_process(runner), signal.SIGKILL)
            await page.wait_for_event("close")
        await profile.identities.show(WORK)
        async with profile.chromium(headless=True, browser=browser) as runner:
            page = await runner.page(await the_tab(profile))
            await page.wait_for_function("document.getElementById('text').value === 'typed'")


@with_browser
async def test_a_single_tab_that_shares_its_window_is_closed_and_filled_in_again(
    browser: str, desktop: Keyboard, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/form"))
        beside = await runner.new_page("Work", site.url("/page/1"))
        await page.fill("#text", "typed")
        tab, other = (each.id for each in await profile.tabs.query("Work"))
        script = profile.browser(["tabHide"])

        async def is_hidden() -> bool:
            await profile.tabs.activate(other)  # an active tab is not hidden alone
            return bool(await script.tabs.hide(tab) == [tab])

        await until_awaited(is_hidden)
        await runner.wait_until_settled()
        assert (page.is_closed(), await window_state(runner, beside)) == (True, "normal")
        await script.tabs.show(tab)
        again = await runner.page(tab)
        await again.wait_for_function("document.getElementById('text').value === 'typed'")


@with_browser
async def test_without_a_window_manager_typed_text_is_filled_in_again(
    browser: str, display: None, path: Path, site: Site
) -> None:
    async with hatbox.open(path) as profile, profile.chromium(browser=browser) as runner:
        page = await runner.new_page("Work", site.url("/form"))
        await page.fill("#text", "typed")
        again, lost = await hidden_and_shown(profile, runner)
        assert page.is_closed()
        await again.wait_for_function("document.getElementById('text').value === 'typed'")
        assert lost == []
