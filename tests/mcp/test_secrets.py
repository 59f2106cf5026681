"""What an agent does not get: the clipboard of the user, and passwords in addresses, images and responses."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hatbox.mcp import agent_tab
from hatbox.mcp.agent_session import AgentOptions
from hatbox.mcp.response_secrets import HIDDEN_COOKIE
from tests.mcp.agent_client import reference
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.waiting import until, until_awaited

pytestmark = pytest.mark.slow


@pytest.mark.browser
def test_the_clipboard_of_the_user_is_not_used(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        page = await call("browser_navigate", url=site.url("/form"))
        target = reference(page, "Text")
        for key in ("Control+V", "Shift+Insert", "Control+C", "Meta+x"):
            assert f"{key} is off. The clipboard belongs to the user" in await call("browser_press_key", key=key)
        assert "the middle button is off" in await call("browser_click", target=target, button="middle")
        await call("browser_click", target=target)
        assert "Unknown key" in await call("browser_press_key", key="Control+Unknown")
        assert 'textbox "Text"' in (shown := await call("browser_press_key", key="v"))
        assert shown.count(": v\n") == 1  # without Control: that was released

    run(tmp_path, test)


@pytest.mark.browser
def test_passwords_are_hidden_wherever_a_page_shows_them(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        page = await call("browser_navigate", url=site.url("/keys"))
        outputs = [page, await call("browser_click", target=reference(page, "Show"))]
        await _check_images(call, page)
        await call("browser_click", target=reference(page, "Key"))
        await call("browser_press_key", key="Home")
        outputs.append(await call("browser_press_key", key="Delete"))  # not the password any more, but nearly
        outputs.append(await call("browser_click", target=reference(page, "Tell")))
        await call("browser_handle_dialog", accept=True)
        outputs.append(await call("browser_click", target=reference(page, "Send")))
        await until(lambda: "/form?key=" in call.session.pages.current_url)  # in a new tab
        outputs += [await call("browser_snapshot"), await call("browser_tabs", action="list")]
        assert "contains a password" in await call("ask_person", message="Sign in")
        for output in outputs:
            assert "(hidden)" in output or "same as before" in output or "New lines" in output
            for secret in ("secret", "unter", "secr%C3%A9t", "=77", ": 77", ': "77"'):
                assert secret not in output
        assert "/form?key=(hidden)&pin=(hidden)" in outputs[-2]

    run(tmp_path, test)


@pytest.mark.browser
def test_cookies_that_scripts_cannot_read_are_hidden_wherever_a_page_shows_them(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        pages = call.session.pages
        await call("browser_navigate", url=site.url("/set-other"))
        outputs = [await call("browser_navigate", url=site.url(path)) for path in ("/set-long", "/set-long", "/echo")]
        outputs.append(await call("browser_navigate", url=site.url("/echo-json")))
        outputs.append(await call("browser_navigate", url=site.url("/echo-redirect")))
        assert "/form?" in outputs[-1]
        outputs.append(await call("browser_tabs", action="list"))
        page = await call("browser_navigate", url=site.url("/echo-dialog"))

        async def is_echoed() -> bool:
            return "Page title: body" in await call("browser_snapshot")

        await until_awaited(is_echoed)
        outputs.append(await call("browser_click", target=reference(page, "Tell")))
        outputs.append(await call("browser_press_key", key="a"))
        outputs.append(await call("browser_handle_dialog", accept=True))
        await call("browser_click", target=reference(page, "Save"))
        await until(lambda: pages.downloads.listed())
        outputs.append(await call("downloads"))
        outputs.append(await call("browser_click", target=reference(page, "Write")))  # shows the new page
        assert "Page URL: about:blank" in outputs[-1]
        pages.select(0)
        for output in outputs[1:]:
            assert HIDDEN_COOKIE in output
            for secret in ("other value", "long-value", "value/", "other%20value", "u0061"):
                assert secret not in output
        await (await pages.current()).page.context.clear_cookies()
        assert HIDDEN_COOKIE in (after := await call("browser_snapshot"))  # the page still shows the values
        assert "long-value" not in after

    run(tmp_path, test)


@pytest.mark.browser
@pytest.mark.parametrize("label", ["Area", "Line", "Editor"])
def test_an_agent_that_types_into_a_hidden_value_does_not_see_its_parts(
    tmp_path: Path, label: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agent_tab, "_WAIT_SECONDS", 1.0)

    async def test(call: Caller, site: AgentSite) -> None:
        await call("fetch", url=site.url("/set-hidden"))
        page = await call("browser_navigate", url=site.url("/fields"))
        assert page.count(HIDDEN_COOKIE) == 3
        await call("browser_click", target=reference(page, label))
        keys = ["End", *["ArrowLeft"] * len("SecondHalf"), "x", "Enter", "Backspace", "x", "y"]
        outputs = [await call("browser_press_key", key=key) for key in keys]
        outputs.append(await call("browser_wait_for", text="FirstHalf"))
        for output in outputs:
            assert "FirstHalf" not in output
            assert "SecondHalf" not in output
        assert "did not appear" in outputs[-1]

    run(tmp_path, test)


async def _check_images(call: Caller, page: str) -> None:
    """An image is the same for other passwords of the same length."""
    tab = (await call.session.pages.current()).page
    for label, selector in (("Key", "#key"), ("Notes", "#passphrase")):
        before = await call.image(reference(page, label))
        await tab.locator(selector).evaluate("each => each.value = [...each.value].reverse().join('')")
        assert await call.image(reference(page, label)) == before
        assert await tab.locator(selector).screenshot() != before
        await tab.locator(selector).evaluate("each => each.value = [...each.value].reverse().join('')")


def test_fetch_shows_no_cookies_and_no_passwords(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        await call("fetch", url=site.url("/set"))
        paths = ("/set-other", "/echo", "/echo-redirect", "/echo-host", "/echo-json", "/password")
        outputs = [await call("fetch", url=site.url(path)) for path in paths]
        for output in outputs[1:5]:
            assert "(a cookie is omitted)" in output
        assert "x-echo: session=(a cookie is omitted)" in outputs[1]
        for output in outputs:
            for secret in (
                "cookie-value",
                "other value/",
                "other%20value",
                "other+value",
                "u0061",
                "hunter2",
                '"77"',
                "=77",
            ):
                assert secret not in output
        assert outputs[-1].count("(hidden)") == 2
        assert "cannot be opened" in await call("fetch", url=site.url("/backslash"))

    run(tmp_path, test, ["127.0.0.1"], runs=asyncio.run)


def test_fetch_shows_no_parts_in_which_a_value_cannot_be_found(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        await call("fetch", url=site.url("/set"))
        assert "session=cookie" not in (shown := await call("fetch", url=site.url("/part")))
        assert "Status: 206" in shown
        requests = len(site.requests)
        for name in ("Range", "if-range", "Request-Range", "X-Range", "A-IM", "Accept-Encoding"):
            assert "Omit it" in await call("fetch", url=site.url("/echo"), headers={name: "bytes=0-11"})
        assert len(site.requests) == requests

    run(tmp_path, test, runs=asyncio.run)


def test_a_read_only_agent_sends_nothing_that_a_site_may_take_for_another_method(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        assert "Status: 200" in await call("fetch", url=site.url("/form"), headers={"Accept": "text/html"})
        requests = len(site.requests)
        for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-URL", "Content-Type"):
            assert "read-only" in await call("fetch", url=site.url("/form"), headers={name: "DELETE"})
        assert "read-only" in await call("fetch", url=site.url("/form"), body="_method=DELETE")
        assert len(site.requests) == requests

    run(tmp_path, test, options=AgentOptions(read_only=True), runs=asyncio.run)
