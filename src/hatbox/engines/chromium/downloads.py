"""Saves downloads to a folder under a free name. Independent of pages and identities."""

from __future__ import annotations

import logging
from pathlib import Path

from playwright.async_api import Download
from playwright.async_api import Error as PlaywrightError

__all__ = ["save_download"]

logger = logging.getLogger("hatbox.engines.chromium")


async def save_download(download: Download, folder: Path) -> None:
    """Wait for a download, and save it to a folder. A failure is logged."""
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
