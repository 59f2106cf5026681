"""The window for a person: what a client of an endpoint, the profile and a rule see of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

import hatbox
from hatbox.engines.chromium.endpoint.authorization import TokenAuthorization, authorize_token
from hatbox.engines.chromium.identity_indicator import request_text
from hatbox.engines.person_windows import PERSON_ANSWERED, PERSON_REQUESTED, PersonWindowRequest
from hatbox.errors import EngineError
from hatbox.store.processes import ProcessId, host_id
from tests.engines.chromium.endpoint.protocol_description import arguments, description, methods
from tests.engines.chromium.endpoint.raw_client import RawClient
from tests.engines.chromium.endpoint.test_connected_clients import mark
from tests.engines.chromium.person import pages_of_person, press, strip_text
from tests.engines.chromium.real import running, with_browser
from tests.mcp.sign_in_site import SignInSite
from tests.waiting import until

PASSWORD = "hunter2marker"
MESSAGE = "Please <b>sign in</b>"
WORK = "firefox-container-2"
INSTALL = "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 1)"
DOMAINS = ("Browser", "DOMStorage", "Network", "Page", "ServiceWorker", "Storage", "Target")
DISRUPTIVE = re.compile(
    r"[cC]lose|clear|delete|setAutoAttach|detachFrom|Page.navigate|emulate|block|setBypass|Override"
)


@pytest.mark.usefixtures("display")
@with_browser
async def test_no_client_and_no_tab_sees_the_window_of_a_person(browser: str, path: Path) -> None:
    with SignInSite() as site:
        async with hatbox.open(path) as profile, profile.chromium(browser=browser, identities="Work") as runner:
            agent = await runner.new_page("Work", site.url("/account"))
            await agent.evaluate(INSTALL)
            tabs = await _urls(profile)
            endpoint = await runner.open_endpoint("Work", authorize_token(PASSWORD[::-1], TokenAuthorization()))
            async with RawClient(endpoint.url(PASSWORD[::-1])) as client:
                await client.result("Target.setDiscoverTargets", {"discover": True, "filter": [{}]})
                attach = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
                await client.result("Target.setAutoAttach", attach)
                assert "service_worker" in await _types(client)
                window = await runner.open_for_person("Work", site.url("/login"), MESSAGE)
                (page,) = pages_of_person(runner)
                assert "service_worker" not in await _types(client)
                assert MESSAGE in await strip_text(page)
                assert "A program is connected" in await mark(agent)
                assert await mark(page) == ""
                assert await page.evaluate("window.opener") is None
                await page.locator("[name=user]").fill("ann")
                await page.locator("#password").fill(PASSWORD)
                for name in ("#popup", "#alone"):
                    async with page.context.expect_page() as opened:
                        await page.locator(name).click()
                    await (await opened.value).wait_for_load_state()
                await until(lambda: len(pages_of_person(runner)) == 3)
                await page.get_by_role("button", name="Sign in").click()
                await page.wait_for_url("**/welcome**")
                await _try_all(client, browser, page, runner)
                assert [text for text in client.received if PASSWORD in text] == []
                assert not [each for each in client.received if "/login" in each or "/welcome" in each]
                assert await _urls(profile) == tabs
                await press(page, "Done")
                assert await window.answer == "done"
                await window.close()
                assert pages_of_person(runner) == []
                await client.result("Browser.getVersion")
                assert [text for text in client.received if PASSWORD in text] == []
            assert await _urls(profile) == tabs
            assert PASSWORD not in str(await profile.history.search())
            await agent.reload()
            assert "Hello ann" in await agent.inner_text("body")
            assert "stored: local" in await agent.inner_text("body")
            assert ("127.0.0.1", "/leak") not in site.paths
            await agent.goto(site.url("/login"))  # the page of an agent uses the service worker
            await agent.locator("#password").fill("x")
            await agent.get_by_role("button", name="Sign in").click()
            await until(lambda: ("127.0.0.1", "/leak") in site.paths)
        assert site.passwords == [PASSWORD, "x"]


async def _urls(profile: hatbox.Profile) -> list[str]:
    """The URLs of the tabs."""
    return [each.url for each in await profile.tabs.query()]


async def _types(client: RawClient) -> set[str]:
    """The types of the targets that a client sees."""
    found = await client.result("Target.getTargets", {"filter": [{}]})
    return {each["type"] for each in found["targetInfos"]}


async def _try_all(client: RawClient, browser: str, page: Any, runner: Any) -> None:
    """Every method, at the root and in the page of the agent, with the ids of the page of the person."""
    infos = (await running(runner).env.session.send("Target.getTargets"))["targetInfos"]
    assert PASSWORD in json.dumps(infos)  # what an unfiltered client would see
    target = next(each["targetId"] for each in infos if each["url"] == page.url)
    ids = {"targetId": target, "frameId": target, "url": "about:blank", "sessionId": "0" * 32}
    refused = await client.call("Target.createTarget", {"url": "about:blank"})
    assert "A person is using this identity" in refused["error"]["message"]
    own = (await client.event("Target.attachedToTarget"))["sessionId"]
    described = description(browser)
    for method, command in methods(described):
        if method.partition(".")[0] in DOMAINS and not DISRUPTIVE.search(method):
            for each in ("", own):
                await client.start(method, arguments(described, method, command, ids), each)
    await client.result("Browser.getVersion")


@pytest.mark.usefixtures("display")
@with_browser
async def test_a_person_refuses_or_closes_the_window_and_rules_hold(browser: str, path: Path) -> None:
    with SignInSite() as site:
        async with hatbox.open(path) as profile, profile.chromium(browser=browser, identities="Work") as runner:
            await profile.rules.add("*://localhost/*", "Personal")
            window = await runner.open_for_person("Work", site.url("/login"), MESSAGE)
            (page,) = pages_of_person(runner)
            await page.locator("#elsewhere").wait_for()
            await page.evaluate("document.querySelectorAll('x-edge, x-edge *').forEach(each => each.click())")
            await page.locator("#elsewhere").click()
            await page.get_by_text("This page was not opened").wait_for()
            assert ("localhost", "/popup") not in site.paths
            assert not window.answer.done()
            await press(page, "Cannot do it")
            assert await window.answer == "refused"
            await window.close()
            window = await runner.open_for_person("Work", site.url("/login"), MESSAGE)
            (page,) = pages_of_person(runner)
            await page.close()
            assert await window.answer == "closed"
            await window.close()
            assert await profile.tabs.query() == []
            with pytest.raises(EngineError, match="does not serve"):
                await runner.open_for_person("Personal", site.url("/login"), MESSAGE)


@pytest.mark.usefixtures("display")
@with_browser
async def test_a_program_that_is_attached_opens_the_window_in_the_browser_of_the_person(
    browser: str, path: Path
) -> None:
    with SignInSite() as site:
        async with (
            hatbox.open(path) as profile,
            profile.chromium(browser=browser, identities="Work") as runner,
            hatbox.open(path) as other,
            other.chromium(headless=True, identities="Work") as attached,
        ):
            assert attached.has_windows
            for label, answer in (("Done", "done"), ("Cannot do it", "refused")):
                window = await attached.open_for_person("Work", site.url("/login"), MESSAGE)
                (page,) = pages_of_person(runner)
                await page.locator("#elsewhere").wait_for()
                await press(page, label)
                assert await window.answer == answer
                assert pages_of_person(runner) == []
                await window.close()
            window = await attached.open_for_person("Work", site.url("/login"), MESSAGE)
            assert len(pages_of_person(runner)) == 1
            await window.close()
            assert pages_of_person(runner) == []
            killed = ProcessId(host_id(), 1, "another start")
            request = PersonWindowRequest("0" * 32, WORK, killed, await _since(profile), site.url("/login"), MESSAGE)
            answers: list[bytes] = []
            other._store.subscribe(lambda each: answers.append(each.payload) if each.topic == PERSON_ANSWERED else None)
            payload = msgspec.json.encode(request)
            await other._store.write(lambda each: each.changes.append(PERSON_REQUESTED, payload))
            await until(lambda: answers)
            assert pages_of_person(runner) == []


async def _since(profile: hatbox.Profile) -> float:
    engine = await profile.running_engine("Work")
    assert engine is not None
    return engine.since or 0


def test_the_message_is_one_line_without_invisible_characters() -> None:
    assert request_text("a\nb\u202ec\x00" + "x" * 1000) == {"message": "a b c " + "x" * 493 + "…"}


@with_browser
async def test_without_windows_no_person_is_asked(browser: str, path: Path) -> None:
    async with hatbox.open(path) as profile, profile.chromium(headless=True, browser=browser) as runner:
        with pytest.raises(EngineError, match="no windows"):
            await runner.open_for_person("Work", "https://site.example/", MESSAGE)
