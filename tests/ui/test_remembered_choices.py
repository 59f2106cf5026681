"""The theme and the view of identities that the user has chosen are those of the next server, too."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page, expect

from tests.ui.manager import Manager, open_manager
from tests.ui.served_process import free_port


async def _expect_choices(page: Page) -> None:
    await expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    await expect(page.locator(".vgrid.rows")).to_have_count(1)


async def test_theme_and_view_are_remembered_by_servers_on_new_and_on_used_ports(
    manager: Manager, manager_page: Page, tmp_path: Path
) -> None:
    await manager_page.get_by_role("button", name="Rows").click()
    await manager_page.get_by_role("button", name="Dark").click()
    for port in (0, free_port()):  # the link to a used port deletes what other programs have stored there
        async with open_manager(tmp_path / "profile.db", port=port) as other:
            second = await manager_page.context.new_page()
            await second.goto(other.server.create_link())
            await second.wait_for_url(f"{other.url}**")
            await _expect_choices(second)
            await second.close()
    await manager_page.reload()
    await _expect_choices(manager_page)
    await manager_page.get_by_role("button", name="System theme").click()
    await manager_page.get_by_role("button", name="Cards").click()
    await manager_page.reload()
    await expect(manager_page.locator(".vgrid:not(.rows)")).to_have_count(1)
    assert await manager_page.locator("html").get_attribute("data-theme") is None
