"""Saves the downloads of a page to a folder, each under a free name, and lists them for extensions."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import NamedTuple

from playwright.async_api import Download, Page
from playwright.async_api import Error as PlaywrightError

from hatbox.downloads.download_list import Downloads
from hatbox.downloads.download_path import publish, reserve_file
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.endpoint.download_reports import ended_download, started_download
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.sessions import within, without_limit
from hatbox.tasks import Tasks

__all__ = ["DownloadingPage", "PageDownloads", "save_downloads"]

logger = logging.getLogger("hatbox.engines.chromium")


class PageDownloads(NamedTuple):
    """Where the downloads of pages go."""

    folder: Path
    listed: Downloads | None = None
    """The list of downloads that extensions see."""
    checks: Mapping[Download, asyncio.Task[bool]] = MappingProxyType({})
    """Downloads that are saved only if the task returns true."""


class DownloadingPage(NamedTuple):
    """A page of an identity that may start downloads."""

    target_id: str
    opener_id: str | None
    context_id: str
    cookie_store_id: str
    endpoint_pages: EndpointPages


def save_downloads(page: Page, source: DownloadingPage, target: PageDownloads | None, tasks: Tasks) -> None:
    """Save all later downloads of a page. Failures are logged. Without a target, Playwright deletes them.

    A client of an endpoint may have another folder, for the pages that it has opened. Clients learn of each download.
    """

    def on_download(download: Download) -> None:
        tasks.spawn(_save_and_report(download, source, target))

    page.on("download", log_exceptions(on_download))


async def _save_and_report(download: Download, source: DownloadingPage, target: PageDownloads | None) -> None:
    pages, guid, suggested = source.endpoint_pages, str(uuid.uuid4()), download.suggested_filename
    name = PurePosixPath(Path(suggested).name or "download")
    of_client = await pages.has_opened(source.target_id, source.opener_id, source.context_id)
    files = pages.files_of(source.target_id)
    check = None if target is None else target.checks.get(download)
    if check is not None and not await check:
        target = files = None
    await pages.report_download(started_download(source.target_id, guid, download.url, suggested))
    if files is not None and files.downloads is not None:
        target = PageDownloads(files.downloads, target.listed if target else None)
        name = files.download_name(name.name, guid)
    path = None
    if target is not None:
        path = await _save(download, name, target, source.cookie_store_id)
    elif of_client:
        logger.warning("download of %s is not saved: start hatbox endpoint with --downloads FOLDER", name)
    size = 0 if path is None else path.stat().st_size
    await pages.report_download(ended_download(source.target_id, guid, path, size))


async def _save(download: Download, name: PurePosixPath, target: PageDownloads, cookie_store_id: str) -> Path | None:
    """The file; None if it was not saved."""
    try:
        reserved = reserve_file(target.folder, name, overwrite=False)
    except OSError as error:
        logger.warning("download of %s failed: %s", name, error)
        return None
    listed = target.listed
    item = (
        None
        if listed is None
        else listed.observe(download.url, reserved.path, cookie_store_id, lambda: within(download.cancel()))
    )
    size = path = None
    try:
        await without_limit(download.save_as(reserved.part))
        path = publish(reserved)
        size = path.stat().st_size
        if item is not None:
            item.path = path
        logger.info("downloaded %s", path)
    except (PlaywrightError, OSError) as error:
        logger.warning("download of %s failed: %s", name, error)
    finally:
        if size is None:
            reserved.part.unlink(missing_ok=True)
        if listed is not None and item is not None:
            listed.finish(item, size)
    return path
