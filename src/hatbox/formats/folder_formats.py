"""The formats that are folders: profiles of browsers, by name. `hatbox.formats.FORMATS` has those of one file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from hatbox.formats import chromium_profile, firefox_profile
from hatbox.formats.base import Bundle
from hatbox.formats.chromium_folders import default_user_data
from hatbox.formats.firefox_folders import default_folder

__all__ = ["FOLDER_FORMATS", "FolderFormat"]


class FolderFormat(NamedTuple):
    """A format that is a folder. `default_folder` finds the one of this system, or raises ImportExportError."""

    name: str
    read: Callable[[Path], Bundle]
    default_folder: Callable[[], Path]


FOLDER_FORMATS: Final[dict[str, FolderFormat]] = {
    each.name: each
    for each in (
        FolderFormat(firefox_profile.NAME, firefox_profile.read_folder, default_folder),
        FolderFormat(chromium_profile.NAME, chromium_profile.read_folder, default_user_data),
    )
}
