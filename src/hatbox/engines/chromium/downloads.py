"""Saves the downloads of a page to a folder, each under a free name, and lists them for extensions."""

from __future__ import annotations

import logging
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from playwright.async_api import Download, Page
from playwright.async_api import Error as PlaywrightError

from hatbox.downloads.download_list import Downloads
from hatbox.downloads.download_path import publish, reserve_file
from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.engines.chromium.sessions import within, without_limit
from hatbox.tasks import Tasks

__all__ = ["PageDownloads", "save_downloads"]

logger = logging.getLogger("hatbox.engines.chromium")


class PageDownloads(NamedTuple):
    """Where the downloads of pages go."""

    folder: Path
    listed: Downloads | None = None
    """The list of downloads that extensions see."""


def save_downloads(page: Page, target: PageDownloads, tasks: Tasks, cookie_store_id: str) -> None:
    """Save all later downloads of a page of an identity. Failures are logged."""

    def on_download(download: Download) -> None:
        tasks.spawn(_save(download, target, cookie_store_id))

    page.on("download", log_exceptions(on_download))


async def _save(download: Download, target: PageDownloads, cookie_store_id: str) -> None:
    name = PurePosixPath(Path(download.suggested_filename).name or "download")
    try:
        reserved = reserve_file(target.folder, name, overwrite=False)
    except OSError as error:
        logger.warning("download of %s failed: %s", name, error)
        return
    listed = target.listed
    item = (
        None
        if listed is None
        else listed.observe(download.url, reserved.path, cookie_store_id, lambda: within(download.cancel()))
    )
    size = None
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
