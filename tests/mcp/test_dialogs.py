"""A dialog that opens while a page is read is shown at once, and can be answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mcp.agent_client import reference
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.waiting import until_awaited

pytestmark = pytest.mark.browser


@pytest.mark.parametrize(
    ("button", "messages"), [("Twice", ["Sure?", "Second"]), ("Soon", ["Later"]), ("Fetch", ["Fetched"])]
)
def test_an_agent_sees_a_dialog_that_opens_while_the_page_is_read(
    tmp_path: Path, button: str, messages: list[str]
) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        page = await call("browser_navigate", url=site.url("/dialogs"))
        shown = await call("browser_click", target=reference(page, button))
        for message in messages:
            for _ in range(20):  # the page may have been read before the dialog opened
                assert "does not respond" not in shown
                assert "cannot be read" not in shown
                if message in shown:
                    break
                shown = await call("browser_snapshot")
            assert message in shown
            assert "dialog" in await call("browser_click", target=reference(page, button))
            shown = await call("browser_handle_dialog", accept=True)

        async def is_answered() -> bool:
            return "Page title: answered" in await call("browser_snapshot")

        await until_awaited(is_answered)

    run(tmp_path, test)
