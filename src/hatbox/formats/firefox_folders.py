"""Finds the profile folders of Firefox, and whether one is in use."""

from __future__ import annotations

import configparser
import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from hatbox.errors import FirefoxProfileLocked, ImportExportError, InvalidInputFile

__all__ = ["LOCK_FILES", "FirefoxProfileFolder", "default_folder", "find_folders", "locked"]

_LINUX: Final = (
    ".mozilla/firefox",
    ".config/mozilla/firefox",
    "snap/firefox/common/.mozilla/firefox",
    ".var/app/org.mozilla.firefox/.mozilla/firefox",
    ".var/app/org.mozilla.firefox/config/mozilla/firefox",
)
LOCK_FILES: Final = {".parentlock", "parent.lock"}
_MACOS: Final = ("Library/Application Support/Firefox",)


class FirefoxProfileFolder(NamedTuple):
    """A Firefox profile. `rank` is 2 for the default of an installation, 1 for a former default."""

    folder: Path
    name: str
    rank: int


def default_folder(found: list[FirefoxProfileFolder] | None = None) -> Path:
    """The folder of the default profile. Raises ImportExportError without one, or with several."""
    found = find_folders() if found is None else found
    if not found:
        raise ImportExportError("no Firefox profile found. Specify its folder: about:support in Firefox shows it.")
    best = max(each.rank for each in found)
    likely = [each for each in found if each.rank == best]
    if len(likely) == 1:
        return likely[0].folder
    listed = "; ".join(f"{each.folder} ({each.name})" for each in likely)
    raise ImportExportError(f"found {len(likely)} Firefox profiles: {listed}. Specify the folder of one.")


def find_folders(
    home: Path | None = None, platform: str = sys.platform, environment: Mapping[str, str] = os.environ
) -> list[FirefoxProfileFolder]:
    """The profiles in all profile directories of this system."""
    found: dict[Path, FirefoxProfileFolder] = {}
    for root in _roots(home or Path.home(), platform, environment):
        for each in _listed(root):
            if each.folder.is_dir():
                found.setdefault(each.folder, each)
    return list(found.values())


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a profile folder against Firefox. Raises FirefoxProfileLocked if Firefox uses it."""
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
    """On Windows, Firefox holds a file open exclusively."""
    try:
        lock.unlink(missing_ok=True)
        file = lock.open("w")
    except PermissionError as error:
        raise FirefoxProfileLocked(folder) from error
    with file:
        yield


def _held_by_link(folder: Path) -> bool:
    """Whether the symbolic link `lock` names a running process. With a + before the pid, the file lock counts.

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
        pass  # a process of another user
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
        raise InvalidInputFile(str(ini), "invalid profiles.ini") from error
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
