"""The formats that are folders: profiles of browsers, by name. `hatbox.formats.FORMATS` has those of one file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from hatbox.errors import InvalidInputFile
from hatbox.formats import firefox_profile
from hatbox.formats.base import Bundle, BundleEntry, IdentityAttributes, ImportKey, Tally, place_key
from hatbox.formats.brave_containers import containers_in
from hatbox.formats.chromium_cookies import read_cookies
from hatbox.formats.chromium_folders import ChromiumProfileFolder, default_user_data, profiles_in
from hatbox.formats.firefox_folders import default_folder
from hatbox.javascript.text import is_blank

__all__ = ["FOLDER_FORMATS", "FolderFormat", "read_folder"]

_NAME: Final = "chromium"
_ICON: Final = "circle"
_COLOR: Final = "blue"

RECENT: Final = "cookies of the last 30 seconds, if Chromium is running, because it has not written them yet"
SITE_DATA: Final = "localStorage and IndexedDB"


def read_folder(folder: Path) -> Bundle:
    """Read the cookies of a profile folder, or of all profiles of a user data folder."""
    found = profiles_in(folder)
    if not found:
        problem = "not a folder of Chromium: neither Network/Cookies nor Cookies found in it or in its profiles"
        raise InvalidInputFile(str(folder), problem)
    skipped: Tally = Counter()
    entries = [entry for each in found for entry in _entries(each, skipped)]
    return Bundle(entries, skipped=skipped, dropped=Counter({RECENT: 0, SITE_DATA: 0}))


def _entries(found: ChromiumProfileFolder, skipped: Tally) -> Iterator[BundleEntry]:
    place = f"{_NAME}:{place_key(found.folder)}"
    name = found.folder.name if is_blank(found.name) else found.name
    yield BundleEntry(
        IdentityAttributes(name, _ICON, _COLOR),
        read_cookies(found.cookies, skipped),
        source=ImportKey(place, lasting=False),
    )
    for container in containers_in(found.folder, skipped):
        yield BundleEntry(
            container.attributes,
            [] if container.cookies is None else read_cookies(container.cookies, skipped),
            source=ImportKey(f"{place}:{container.id}", lasting=False),
        )


class FolderFormat(NamedTuple):
    """A format that is a folder. `default_folder` finds the one of this system, or raises ImportExportError."""

    name: str
    read: Callable[[Path], Bundle]
    default_folder: Callable[[], Path]


FOLDER_FORMATS: Final[dict[str, FolderFormat]] = {
    each.name: each
    for each in (
        FolderFormat(firefox_profile.NAME, firefox_profile.read_folder, default_folder),
        FolderFormat(_NAME, read_folder, default_user_data),
    )
}
