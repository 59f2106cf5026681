"""Waiting for texts: what the page shows is found, and what is hidden from agents is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.mcp import agent_tab, page_text
from hatbox.mcp.page_text import contains_text, in_one_line
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run


@pytest.mark.browser
def test_waiting_does_not_reveal_hidden_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        await call("browser_navigate", url=site.url("/set-long"))
        assert "long=" in await call("browser_navigate", url=site.url("/set-long"))
        for guess in ("long=l", "long=x", "long-value", "long-valux"):
            assert "Page URL" in await call("browser_wait_for", textGone=guess)
        assert "Page URL" in await call("browser_wait_for", text="long=")
        await call("browser_navigate", url=site.url("/later"))
        assert "Page URL" in await call("browser_wait_for", textGone="77")
        monkeypatch.setattr(agent_tab, "_WAIT_SECONDS", 1.0)
        for guess in ("77", "78"):
            assert "did not appear" in await call("browser_wait_for", text=guess)

    run(tmp_path, test)


@pytest.mark.browser
def test_waiting_does_not_reveal_the_start_of_a_value_at_the_end_of_a_long_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        for _ in range(2):
            await call("browser_navigate", url=site.url("/set-long"))
        monkeypatch.setattr(page_text, "_MAX_VISIBLE", len("long=long-val"))
        for guess in ("long-val", "long-vax"):
            assert "Page URL" in await call("browser_wait_for", textGone=guess)

    run(tmp_path, test)


@pytest.mark.browser
def test_an_agent_waits_for_what_a_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        await call("browser_navigate", url=site.url("/later"))
        shown = await call("browser_wait_for", textGone="loading", text="complete")
        assert "Loading" not in shown
        assert "Complete" in shown
        for text in ("order  4711 is on its way", "inside a frame", "in a shadow root", "PIN"):
            assert "Page URL" in await call("browser_wait_for", text=text)
        monkeypatch.setattr(agent_tab, "_WAIT_SECONDS", 1.0)
        assert "did not appear within 1 seconds" in await call("browser_wait_for", text="never shown")
        assert "did not disappear" in await call("browser_wait_for", textGone="Order")

    run(tmp_path, test)


@pytest.mark.parametrize(
    ("text", "is_found"), [("B", True), ("a b c", True), ("a\n b", True), ("ab", False), ("text", False), ("", True)]
)
def test_a_text_is_found_across_lines(text: str, is_found: bool) -> None:
    assert contains_text(in_one_line("- text: A b\n  - text: C"), text) == is_found
