"""The files of downloads that pages start, with downloads that a test controls."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.downloads import DownloadingPage, PageDownloads, save_downloads
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.tasks import Tasks


class FakeDownload:
    """Writes its contents after other downloads have started."""

    suggested_filename = "report.pdf"
    url = "https://site.example/report.pdf"

    def __init__(self, contents: bytes | None) -> None:
        self._contents = contents

    async def save_as(self, path: Path) -> None:
        await asyncio.sleep(0)
        if self._contents is None:
            raise PlaywrightError("canceled")
        await asyncio.to_thread(path.write_bytes, self._contents)


class FakePage:
    def on(self, _: str, listener: Any) -> None:
        self.download = listener


@pytest.mark.parametrize("last", [b"three", None])
def test_downloads_of_one_name_have_their_own_files(tmp_path: Path, last: bytes | None) -> None:
    async def main() -> None:
        tasks, page = Tasks(), FakePage()
        page_: Any = page
        source = DownloadingPage("P", None, "C", "firefox-default", EndpointPages())
        save_downloads(page_, source, PageDownloads(tmp_path), tasks)
        for contents in (b"one", b"two", last):
            page.download(FakeDownload(contents))
        await tasks.wait()

    asyncio.run(main())
    saved = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    expected = {"report.pdf": b"one", "report(1).pdf": b"two", "report(2).pdf": last}
    assert saved == {name: contents for name, contents in expected.items() if contents is not None}
