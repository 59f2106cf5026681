"""Downloads of pages in a real Chromium, as extensions see them."""

from __future__ import annotations

from pathlib import Path

from hatbox import Profile
from hatbox.extensions.extension import Extension
from tests.downloads.test_downloads import BACKGROUND, file_site
from tests.extensions.made import run_made
from tests.extensions.runtime.lab import needs_deno
from tests.waiting import until

pytestmark = needs_deno


def test_an_extension_sees_the_download_of_a_page(tmp_path: Path, browser: str) -> None:
    folder = tmp_path / "downloads"

    async def use(profile: Profile, extension: Extension) -> None:
        async with profile.chromium(headless=True, browser=browser, downloads=folder) as engine:
            tab = await profile.tabs.open("Work", f"{site.origin}/small")
            page = await engine.page(tab.id)
            await page.evaluate("""() => {
                const link = document.createElement("a");
                link.href = "/echo";
                link.download = "echo.json";
                document.body.append(link);
                link.click();
            }""")
            found = profile.downloads.search
            await until(lambda: [each["state"] for each in found({})] == ["complete"])
            (item,) = await extension.evaluate("browser.downloads.search({})")
            assert (item["url"], item["cookieStoreId"]) == (f"{site.origin}/echo", "firefox-container-2")
            assert item["filename"] == str(folder / "echo.json")
            assert item["fileSize"] == (folder / "echo.json").stat().st_size
            assert "byExtensionId" not in item
            assert [each[0] for each in await extension.evaluate("seen")] == ["created", "changed"]

    with file_site() as site:
        run_made(tmp_path, use, BACKGROUND, permissions=["downloads"])
