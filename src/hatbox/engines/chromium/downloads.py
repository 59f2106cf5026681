"""Saves the downloads of a page to a folder, each under a free name."""

from __future__ import annotations

import logging
from pathlib import Path

from playwright.async_api import Download, Page
from playwright.async_api import Error as PlaywrightError

from hatbox.engines.chromium.debounce import log_exceptions
from hatbox.tasks import Tasks

__all__ = ["save_downloads"]

logger = logging.getLogger("hatbox.engines.chromium")


def save_downloads(page: Page, folder: Path, tasks: Tasks) -> None:
    """Save all later downloads of a page to a folder. Failures are logged."""

    def on_download(download: Download) -> None:
        tasks.spawn(_save(download, folder))

    page.on("download", log_exceptions(on_download))


async def _save(download: Download, folder: Path) -> None:
    path = _free_path(folder, download.suggested_filename)
    try:
        await download.save_as(path)
        logger.info("downloaded %s", path)
    except (PlaywrightError, OSError) as error:
        logger.warning("download of %s failed: %s", path.name, error)


def _free_path(folder: Path, name: str) -> Path:
    """The path for a file of this name, numbered if the name is taken."""
    folder.mkdir(parents=True, exist_ok=True)
    wanted = folder / (Path(name).name or "download")
    path, number = wanted, 0
    while path.exists():
        number += 1
        path = wanted.with_name(f"{wanted.stem} ({number}){wanted.suffix}")
    return path
