"""The person sees that a program is connected, on every page of the identity; the page itself does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Page
from websockets.exceptions import InvalidStatus

import hatbox
from tests.engines.chromium.endpoint.raw_client import RawClient
from tests.engines.chromium.real import with_browser
from tests.engines.chromium.test_identity_indicator import READABLE, marked
from tests.site import Site
from tests.waiting import until_awaited


async def mark(page: Page) -> str:
    """The text of the mark; empty without one."""
    session = await page.context.new_cdp_session(page)
    await marked(page)
    await session.send("DOM.enable")
    await session.send("CSS.enable")
    root = (await session.send("DOM.getDocument", {"depth": -1, "pierce": True}))["root"]
    html = next(each for each in root["children"] if each["nodeName"] == "HTML")
    shadow = next(each for each in html["children"] if each.get("shadowRoots"))["shadowRoots"][0]
    badge = next(each for each in shadow["children"] if each["nodeName"] == "DIV")
    program = next(each for each in badge["children"] if each["nodeName"] == "B")
    (after,) = [each for each in program.get("pseudoElements", []) if each["pseudoType"] == "after"] or [None]
    if after is None:  # not displayed
        return ""
    style = await session.send("CSS.getComputedStyleForNode", {"nodeId": after["nodeId"]})
    await session.detach()
    return next(str(each["value"]) for each in style["computedStyle"] if each["name"] == "content")


@with_browser
async def test_pages_show_which_programs_are_connected(browser: str, path: Path, site: Site) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser, indicator=True) as runner:
        page = await runner.new_page("Work", site.url("/page/1"))
        other = await runner.new_page("Personal", site.url("/page/1"))
        assert await mark(page) == ""
        endpoint = await runner.open_endpoint("Work")
        actions = ["pages", "cookieValues"]
        grant, token = await profile.grants.create(
            'night"ly \\ re{port}', identities="Work", actions=actions, hosts=["<all_urls>"]
        )
        _, weak = await profile.grants.create(identities="Work", actions=["pages"])
        with pytest.raises(InvalidStatus) as refused:
            await RawClient(endpoint.url(weak)).__aenter__()
        assert refused.value.response.status_code == 403
        assert b"does not allow the action cookieValues" in refused.value.response.body
        second, other_token = await profile.grants.create(
            "second", identities="Work", actions=actions, hosts=["<all_urls>"]
        )

        async def shows(text: str) -> bool:
            return text in await mark(page)

        async def is_gone() -> bool:
            return await mark(page) == ""

        async with RawClient(endpoint.url(token)) as client:
            shown = r'"A program is connected: night\"ly \\ re{port}"'
            await until_awaited(lambda: shows(shown))
            assert await mark(other) == ""
            readable = await page.evaluate(READABLE)
            assert "program" not in readable
            assert "night" not in readable
            await page.goto(site.url("/page/2"))  # a new document, and a new page
            assert await mark(page) == shown
            opened = await runner.new_page("Work", site.url("/page/3"))
            assert await mark(opened) == shown
            await profile.identities.update("firefox-container-2", name="Job", color="red")
            await until_awaited(lambda: shows("night"))
            async with RawClient(endpoint.url(other_token)):
                await until_awaited(lambda: shows("2 programs are connected: night"))
            await until_awaited(lambda: shows("A program is connected"))
            await profile.grants.revoke(grant.id)
            await client.closed.wait()
        await until_awaited(is_gone)
        await profile.grants.revoke(second.id)
