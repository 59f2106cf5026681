"""Where Firefox keeps its profiles, and whether one of them is in use. Knows nothing of what is in them."""

from __future__ import annotations

import configparser
import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from hatbox.errors import FirefoxProfileLocked, ImportExportError, InvalidInputFile

__all__ = ["FirefoxProfileFolder", "default_folder", "find_folders", "locked"]

_LINUX: Final = (
    ".mozilla/firefox",
    ".config/mozilla/firefox",
    "snap/firefox/common/.mozilla/firefox",
    ".var/app/org.mozilla.firefox/.mozilla/firefox",
    ".var/app/org.mozilla.firefox/config/mozilla/firefox",
)
_MACOS: Final = ("Library/Application Support/Firefox",)


class FirefoxProfileFolder(NamedTuple):
    """A profile that Firefox knows of. `rank` is 2 if an installation starts with it, 1 if it once was the default."""

    folder: Path
    name: str
    rank: int


def default_folder(found: list[FirefoxProfileFolder] | None = None) -> Path:
    """The folder of the profile that Firefox starts with; raises ImportExportError where that is not one."""
    found = find_folders() if found is None else found
    if not found:
        raise ImportExportError("no Firefox profile was found. Name its folder: about:support in Firefox shows it.")
    best = max(each.rank for each in found)
    likely = [each for each in found if each.rank == best]
    if len(likely) == 1:
        return likely[0].folder
    listed = "; ".join(f"{each.folder} ({each.name})" for each in likely)
    raise ImportExportError(f"there are {len(likely)} Firefox profiles: {listed}. Name the folder of one of them.")


def find_folders(
    home: Path | None = None, platform: str = sys.platform, environment: Mapping[str, str] = os.environ
) -> list[FirefoxProfileFolder]:
    """All profiles of all the places in which Firefox keeps them on this system."""
    found: dict[Path, FirefoxProfileFolder] = {}
    for root in _roots(home or Path.home(), platform, environment):
        for each in _listed(root):
            if each.folder.is_dir():
                found.setdefault(each.folder, each)
    return list(found.values())


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep Firefox away from a profile's folder; raises FirefoxProfileLocked if it is there already."""
    if sys.platform == "win32":
        with _exclusively_open(folder / "parent.lock", folder):
            yield
        return
    import fcntl

    if _held_by_link(folder):
        raise FirefoxProfileLocked(folder)
    descriptor = os.open(folder / ".parentlock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise FirefoxProfileLocked(folder) from error
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _exclusively_open(lock: Path, folder: Path) -> Iterator[None]:
    """On Windows Firefox keeps a file open that nobody else may open or delete meanwhile."""
    try:
        lock.unlink(missing_ok=True)
        file = lock.open("w")
    except PermissionError as error:
        raise FirefoxProfileLocked(folder) from error
    with file:
        yield


def _held_by_link(folder: Path) -> bool:
    """Whether the link `lock` names a process that lives. With a + before its number the file's lock is what counts.

    Firefox falls back to the link alone where files cannot be locked, as on some network drives.
    """
    try:
        owner = str((folder / "lock").readlink()).rpartition(":")[2]
    except OSError:
        return False
    if owner.startswith("+") or not owner.isdigit():
        return False
    try:
        os.kill(int(owner), 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass  # it lives, and is somebody else's
    return True


def _roots(home: Path, platform: str, environment: Mapping[str, str]) -> list[Path]:
    if platform == "win32":
        return [Path(environment.get("APPDATA", home / "AppData" / "Roaming")) / "Mozilla" / "Firefox"]
    return [home / place for place in (_MACOS if platform == "darwin" else _LINUX)]


def _listed(root: Path) -> list[FirefoxProfileFolder]:
    ini = root / "profiles.ini"
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(ini.read_text("utf-8-sig"))
    except OSError:
        return []
    except (configparser.Error, UnicodeDecodeError) as error:
        raise InvalidInputFile(str(ini), "it is not a list of profiles that can be read") from error
    sections = [parser[name] for name in parser.sections()]
    started = {section.get("Default") for section in sections if section.name.startswith("Install")}
    return [
        FirefoxProfileFolder(
            root / section["Path"] if section.get("IsRelative", "1") == "1" else Path(section["Path"]),
            section.get("Name", section.name),
            2 if section["Path"] in started else int(section.get("Default") == "1"),
        )
        for section in sections
        if section.name.startswith("Profile") and section.get("Path")
    ]
