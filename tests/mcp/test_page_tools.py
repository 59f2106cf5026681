"""The tools with which an agent finds out why a page does not do what it should."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mcp.agent_client import reference
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.waiting import until_awaited


@pytest.mark.browser
def test_an_agent_finds_texts_errors_and_requests_and_drags(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        page = await call("browser_navigate", url=site.url("/tools"))
        found = await call("browser_find", text="card")
        assert reference(found, "Card") == reference(page, "Card")
        assert "Part" not in found
        assert "No line" in await call("browser_find", text="tools-secret")

        async def is_complete() -> bool:
            return "/form?…: 200" in await call("browser_network_requests")

        await until_awaited(is_complete)
        console = await call("browser_console_messages")
        for text in ("[log] key is (hidden)", "[error] it failed", "Cannot read properties of null"):
            assert text in console
        errors = await call("browser_console_messages", onlyErrors=True)
        assert "[log]" not in errors
        assert "it failed" in errors
        requests = await call("browser_network_requests")
        assert "GET document" in requests
        assert "tools-secret-1" not in console + requests
        box = {"startTarget": reference(page, "Card"), "endTarget": reference(page, "Box")}
        assert "dropped" in await call("browser_drag", **box)
        await call("browser_navigate", url=site.url("/form"))
        assert "/tools" not in await call("browser_network_requests")
        assert "empty" in await call("browser_console_messages")

    run(tmp_path, test)


@pytest.mark.browser
def test_a_part_of_a_hidden_value_cannot_be_dragged_into_another_field(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        page = await call("browser_navigate", url=site.url("/secrets"))
        await call("browser_click", target=reference(page, "Show password"))
        key, part = reference(page, "Shown"), reference(page, "Dots")
        await call("browser_click", target=key)
        await call("browser_press_key", key="End")
        for _ in range(6):
            await call("browser_press_key", key="Shift+ArrowLeft")
        await call("browser_drag", startTarget=key, endTarget=part)
        tab = (await call.session.pages.current()).page
        assert await tab.evaluate("document.querySelectorAll('input')[1].value") == "dots-secret-2"
        await tab.evaluate("document.body.insertAdjacentHTML('beforeend', '<a href=/changed-secret-5>Away</a>')")
        link = reference(await call("browser_snapshot"), "Away")
        await call("browser_drag", startTarget=link, endTarget=part)
        assert await tab.evaluate("document.querySelectorAll('input')[1].value") == "dots-secret-2"

    run(tmp_path, test)
