"""The containers of a Brave profile: identities with cookies of their own, beside those of the profile itself.

Brave lists them in its preferences, and stores the data of each in a storage partition of Chromium, whose folder is
named after a hash of the container's id. Knows nothing of cookies.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from hatbox.errors import InvalidInputFile
from hatbox.formats.base import IdentityAttributes, Tally, decode_json
from hatbox.formats.chromium_folders import PREFERENCES, cookies_file
from hatbox.formats.input_files import read_input_file

__all__ = ["BraveContainer", "containers_in"]

NOT_LISTED: Final = "containers of Brave that are deleted or temporary"

_PARTITIONS: Final = "Storage/ext/containers-default"
_TEMPORARY: Final = "t-"  # ids of temporary containers start so
_ICONS: Final = {0: "fingerprint", 1: "briefcase", 2: "cart", 5: "dollar", 7: "vacation"}
_OTHER_ICON: Final = "circle"  # social, events, star, school, private, messaging
_COLORS: Final = {
    "red": 0xDB3A33,
    "orange": 0xD44600,
    "yellow": 0x927300,
    "green": 0x008946,
    "cyan": 0x008396,
    "blue": 0x0072F0,
    "purple": 0x8360DC,
    "pink": 0xE60083,
}
"""The colors that Brave offers, which are darker than those of Firefox, by their names there."""


class BraveContainer(NamedTuple):
    """A container: its id, and its cookie database, if it was used."""

    id: str
    attributes: IdentityAttributes
    cookies: Path | None


class _Entry(msgspec.Struct):
    id: str
    name: str
    icon: int = -1
    background_color: int = 0
    """ARGB, as a signed number."""


class _Containers(msgspec.Struct):
    listed: list[msgspec.Raw] | None = msgspec.field(name="list", default=None)
    used: dict[str, msgspec.Raw] = {}


class _Brave(msgspec.Struct):
    containers: _Containers = msgspec.field(default_factory=_Containers)


class _Preferences(msgspec.Struct):
    brave: _Brave = msgspec.field(default_factory=_Brave)


_decode = msgspec.json.Decoder(_Preferences).decode
_decode_entry = msgspec.json.Decoder(_Entry).decode


def containers_in(folder: Path, skipped: Tally) -> list[BraveContainer]:
    """The containers of a profile folder. Counts those whose cookies exist, and that Brave does not list."""
    partitions = folder / _PARTITIONS
    containers = _entries(folder / PREFERENCES)
    found = [
        BraveContainer(each.id, _attributes(each), cookies_file(partitions / _folder_name(each.id)))
        for each in containers
    ]
    names = {_folder_name(each.id) for each in found}
    with contextlib.suppress(OSError):
        left = [each for each in partitions.iterdir() if each.name not in names and cookies_file(each) is not None]
        if left:
            skipped[NOT_LISTED] += len(left)
    return found


def _entries(path: Path) -> list[_Entry]:
    """Those that Brave lists: it leaves out what it cannot read."""
    found: list[_Entry] = []
    with contextlib.suppress(OSError, InvalidInputFile):
        containers = decode_json(_decode, read_input_file(path), str(path)).brave.containers
        for each in containers.used.values() if containers.listed is None else containers.listed:
            with contextlib.suppress(msgspec.DecodeError):
                found.append(_decode_entry(each))
        if containers.listed is None:  # the user has not changed the first containers, named in the user's language
            found = [each for each in found if not each.id.startswith(_TEMPORARY)]
    return found


def _folder_name(container_id: str) -> str:
    """The name that Chromium gives the folder of a storage partition."""
    return hashlib.sha256(container_id.encode()).digest()[:6].hex().upper()


def _attributes(entry: _Entry) -> IdentityAttributes:
    def distance(color: str) -> int:
        return sum(
            ((_COLORS[color] >> shift & 255) - (entry.background_color >> shift & 255)) ** 2 for shift in (0, 8, 16)
        )

    return IdentityAttributes(entry.name, _ICONS.get(entry.icon, _OTHER_ICON), min(_COLORS, key=distance))
