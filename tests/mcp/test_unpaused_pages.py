"""What Chromium shows or saves without a request that could be paused, and what an image shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.mcp.agent_session import AgentOptions
from tests.mcp.agent_client import reference
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.waiting import until, until_awaited

pytestmark = pytest.mark.browser

INSTALL_WORKER = (
    "navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready).then(() => 1)"
)


def test_service_workers_of_other_hosts_show_no_page_to_an_agent(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        page = await call("browser_navigate", url=site.url("/leave"))
        runner = call.session.browser._runner
        assert runner is not None
        tab = await call.session.profile.tabs.open("Work", site.url("/form", "localhost"))
        own = await runner.page(tab.id)
        await own.evaluate(INSTALL_WORKER)
        await own.goto(site.url("/secret?user", "localhost"))
        assert ("localhost", "/answered?user") in site.requests  # the user's pages use it
        outputs = [await call("browser_click", target=reference(page, "plain"))]
        assert "not allowed" in outputs[0]
        assert call.session.pages.current_url == site.url("/leave")
        assert ("localhost", "/answered?plain") not in site.requests
        for number, label in enumerate(("opened", "blank"), 1):  # new windows load before the bypass
            call.session.pages.select(0)
            outputs.append(await call("browser_click", target=reference(page, label)))
            await until(lambda expected=number: len(call.session.pages.tabs) == expected + 1)  # type: ignore[misc]
            outputs.append(await call("browser_snapshot"))
            await until(lambda: call.session.pages.tabs[-1].page.url == "about:blank")
            outputs.append(await call("browser_snapshot"))
            call.session.pages.select(0)
            page = await call("browser_snapshot")
        assert not [each for each in outputs if "content of the worker" in each]

    run(tmp_path, test, ["127.0.0.1"])


def test_a_download_from_another_host_is_cancelled_and_not_saved(tmp_path: Path) -> None:
    downloads = tmp_path / "downloads"
    downloads.mkdir()

    async def test(call: Caller, site: AgentSite) -> None:
        await call("browser_navigate", url=site.url("/leave"))
        tab = await call.session.pages.current()

        async def listed() -> str:
            text = await call("downloads")
            return "" if "No downloads" in text or "in progress" in text else text

        await tab.page.get_by_text("plain").click(modifiers=["Alt"])  # the tool refuses Alt
        assert "refused: it is from a host that is not allowed" in await until_awaited(listed)
        await call.session.pages.downloads._tasks.wait()
        assert [each for each in downloads.rglob("*") if each.is_file()] == []
        entries = await call.session.profile.activity_log.query(grant=call.session.grant_id)
        assert ("download", "localhost", "refused") in {(each.action, each.host, each.outcome) for each in entries}

    run(tmp_path, test, ["127.0.0.1"], AgentOptions(downloads=downloads))


def test_a_screenshot_covers_a_password_that_is_shown_as_text(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        target = reference(await call("browser_navigate", url=site.url("/secrets")), "Named")
        field = (await call.session.pages.current()).page.locator("[name=user_password]")
        before = await call.image(target)
        await field.evaluate("each => each.value = 'other-secret-3'")
        assert await call.image(target) == before
        assert await field.screenshot() != before

    run(tmp_path, test)
