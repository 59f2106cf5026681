"""What an agent does not get: the clipboard of the user, and passwords in addresses, images and responses."""

from __future__ import annotations

from pathlib import Path

from tests.mcp.agent_client import reference
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run


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
