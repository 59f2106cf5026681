"""The files of downloads, with a source that a test controls."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path, PurePosixPath

import httpx
import msgspec
import pytest

from hatbox.clients.download_source import HttpxDownloadSource
from hatbox.downloads.download_item import DownloadRequest
from hatbox.downloads.download_list import Downloads, DownloadStream
from hatbox.downloads.download_path import open_part
from hatbox.errors import ApiError
from tests.waiting import until

REQUEST = DownloadRequest("https://site.example/report.pdf", "firefox-default")
NAME = PurePosixPath("report.pdf")


class Source:
    """Sends b"first" at once, and b"second" when `go_on` is set. `shift` is an error of its Content-Range."""

    def __init__(self) -> None:
        self.go_on = asyncio.Event()
        self.shift = 0
        self.error: Exception | None = None

    @contextlib.asynccontextmanager
    async def open(self, _: DownloadRequest, offset: int, __: str | None) -> AsyncIterator[DownloadStream]:
        if self.error is not None:
            raise self.error
        yield DownloadStream(206 if offset else 200, None, None, '"one"', self._chunks(offset), offset + self.shift)

    async def _chunks(self, offset: int) -> AsyncIterator[bytes]:
        if not offset:
            yield b"first"
        await self.go_on.wait()
        yield b"firstsecond"[max(offset, 5) :]


Use = Callable[[Downloads, Source], Awaitable[None]]


def with_downloads(folder: Path, use: Use) -> None:
    async def run() -> None:
        source = Source()
        downloads = Downloads(folder, source, time.time)
        try:
            await use(downloads, source)
        finally:
            await downloads.close()

    asyncio.run(run())


async def start(downloads: Downloads, *, overwrite: bool = False) -> int:
    number = await downloads.start(REQUEST, NAME, overwrite=overwrite)
    await until(lambda: downloads.search({"id": number})[0]["bytesReceived"] == 5)
    return number


async def until_state(downloads: Downloads, state: str) -> None:
    await until(lambda: {each["state"] for each in downloads.search({})} == {state})


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_downloads_with_one_name_at_the_same_time_have_their_own_files(tmp_path: Path) -> None:
    async def use(downloads: Downloads, source: Source) -> None:
        await asyncio.gather(start(downloads), start(downloads))
        source.go_on.set()
        await until_state(downloads, "complete")
        assert files(tmp_path) == {"report.pdf": b"firstsecond", "report(1).pdf": b"firstsecond"}

    with_downloads(tmp_path, use)


def test_a_file_that_is_created_during_a_download_stays(tmp_path: Path) -> None:
    async def use(downloads: Downloads, source: Source) -> None:
        await start(downloads)
        (tmp_path / "report.pdf").write_bytes(b"mine")
        source.go_on.set()
        await until_state(downloads, "complete")
        assert files(tmp_path) == {"report.pdf": b"mine", "report(1).pdf": b"firstsecond"}
        assert downloads.search({})[0]["filename"] == str(tmp_path / "report(1).pdf")

    with_downloads(tmp_path, use)


def test_partial_files_of_other_programs_are_neither_written_nor_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "downloads"
    folder.mkdir()
    (folder / "report.pdf.part").symlink_to(tmp_path / "outside")
    (folder / "page.pdf.part").write_bytes(b"of Firefox")

    async def cancel() -> None:
        pass

    async def use(downloads: Downloads, _: Source) -> None:
        item = downloads.observe("https://site.example/", folder / "page.pdf", "firefox-default", cancel)
        await downloads.cancel(item.id)
        await downloads.cancel(await start(downloads, overwrite=True))
        await start(downloads, overwrite=True)

    with_downloads(folder, use)
    assert not (tmp_path / "outside").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["page.pdf.part", "report.pdf.part"]


def test_bytes_that_were_written_after_a_pause_are_cut_off(tmp_path: Path) -> None:
    async def use(downloads: Downloads, source: Source) -> None:
        number = await start(downloads)
        await downloads.pause(number)
        with (tmp_path / "report.pdf.part").open("ab") as file:
            file.write(b"second")  # as a thread does that was writing
        source.go_on.set()
        await downloads.resume(number)
        await until_state(downloads, "complete")
        assert files(tmp_path) == {"report.pdf": b"firstsecond"}

    with_downloads(tmp_path, use)


def test_another_part_of_the_file_is_refused(tmp_path: Path) -> None:
    async def use(downloads: Downloads, source: Source) -> None:
        number = await start(downloads)
        await downloads.pause(number)
        source.shift = 1
        source.go_on.set()
        await downloads.resume(number)
        await until_state(downloads, "interrupted")
        assert downloads.search({})[0]["error"] == "NETWORK_FAILED"
        source.shift = 0
        await downloads.resume(number)
        await until_state(downloads, "complete")
        assert files(tmp_path) == {"report.pdf": b"firstsecond"}

    with_downloads(tmp_path, use)


def test_erasing_a_paused_download_deletes_its_partial_data(tmp_path: Path) -> None:
    async def use(downloads: Downloads, _: Source) -> None:
        await downloads.pause(await start(downloads))
        await downloads.erase({})
        assert files(tmp_path) == {}

    with_downloads(tmp_path, use)


def test_a_partial_file_that_is_too_short_is_not_continued(tmp_path: Path) -> None:
    async def use(downloads: Downloads, source: Source) -> None:
        number = await start(downloads)
        await downloads.pause(number)
        open_part(tmp_path / "report.pdf.part", 0).close()
        source.go_on.set()
        await downloads.resume(number)
        await until_state(downloads, "interrupted")
        assert downloads.search({})[0]["error"] == "FILE_FAILED"
        assert files(tmp_path) == {}

    with_downloads(tmp_path, use)


def test_an_unexpected_error_of_the_source_interrupts_a_download(tmp_path: Path) -> None:
    async def use(downloads: Downloads, source: Source) -> None:
        source.error = ValueError("surrogates not allowed")
        await downloads.start(REQUEST, NAME, overwrite=False)
        await until_state(downloads, "interrupted")
        assert downloads.search({})[0]["error"] == "NETWORK_FAILED"
        assert files(tmp_path) == {}

    with_downloads(tmp_path, use)


def test_half_a_character_in_a_body_is_sent_as_fetch_sends_it() -> None:
    bodies = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(request.content.decode())
        return httpx.Response(200)

    async def run() -> None:
        source = HttpxDownloadSource(lambda *_: httpx.AsyncClient(transport=httpx.MockTransport(answer)))
        async with source.open(msgspec.structs.replace(REQUEST, method="POST", body="a\ud83d\U0001f600"), 0, None):
            pass

    asyncio.run(run())
    assert bodies == ["a\ufffd\U0001f600"]


def test_a_resumed_download_counts_as_running(tmp_path: Path) -> None:
    async def use(downloads: Downloads, _: Source) -> None:
        number = await start(downloads)
        await downloads.pause(number)
        for _each in range(32):
            await downloads.start(REQUEST, NAME, overwrite=False)
        with pytest.raises(ApiError, match="At most 32"):
            await downloads.resume(number)

    with_downloads(tmp_path, use)
