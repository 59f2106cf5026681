"""Firefox profile folders: containers.json and cookies.sqlite. Read while Firefox runs, written while it does not.

Containers come first when it is written: a cookie whose container is not there yet would belong to the next new one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Final

import msgspec

from hatbox.errors import ImportExportError, InvalidInputFile
from hatbox.formats.base import Bundle, BundleEntry, IdentityAttributes, ImportKey, Tally, place_key
from hatbox.formats.containers_json import HIDDEN, UNNAMED, Containers
from hatbox.formats.firefox_cookies import SCHEMA, create_database, insert_cookies, read_cookies
from hatbox.formats.firefox_folders import LOCK_FILES, locked
from hatbox.formats.input_files import read_input_file
from hatbox.new_files import replace_file

__all__ = ["LOSES", "NAME", "read_folder", "write_folder"]

NAME: Final = "firefox"
_CONTAINERS: Final = "containers.json"
_COOKIES: Final = "cookies.sqlite"
_TIMES: Final = "times.json"
_MARKS: Final = (_CONTAINERS, _COOKIES, "prefs.js", _TIMES, "user.js")

UNLISTED: Final = "cookies of containers that are not in the list"
SESSION: Final = "session cookies, which Firefox has in memory only"
LOSES: Final = (SESSION, HIDDEN)


class _Times(msgspec.Struct):
    created: int
    """Milliseconds since 1970."""


def read_folder(folder: Path) -> Bundle:
    """Read the containers with their cookies, and the default store. Works while Firefox runs."""
    if not any((folder / name).is_file() for name in (_CONTAINERS, _COOKIES)):
        raise InvalidInputFile(str(folder), f"not a Firefox profile: neither {_CONTAINERS} nor {_COOKIES} found")
    skipped: Tally = Counter()
    containers = _containers(folder / _CONTAINERS)
    if containers.unnamed:
        skipped[UNNAMED] = containers.unnamed
    found = read_cookies(folder / _COOKIES, skipped) if (folder / _COOKIES).is_file() else {}
    holdings = [BundleEntry(None, found.pop(0, []))]
    profile, lasting = _profile_key(folder)
    for number, label in containers.labels.items():
        source = ImportKey(f"{NAME}:{profile}:{number}", lasting)
        holdings.append(BundleEntry(label, found.pop(number, []), number, source=source))
    if found:
        skipped[UNLISTED] = sum(map(len, found.values()))
    return Bundle(holdings, skipped=skipped, dropped=Counter({SESSION: 0}))


def write_folder(bundle: Bundle, folder: Path) -> tuple[int, Tally]:
    """Write a bundle into a profile that Firefox does not use, or a new one. Returns cookie count and dropped data."""
    lost: Tally = Counter(bundle.not_carried)
    try:
        with contextlib.ExitStack() as undo:
            if not os.path.lexists(folder):
                folder.parent.mkdir(parents=True, exist_ok=True)
                folder.mkdir(0o700)
                undo.callback(shutil.rmtree, folder, ignore_errors=True)
            _expect_profile(folder)
            with locked(folder):
                count = _write_into(bundle, folder, lost)
            undo.pop_all()
            return count, lost
    except sqlite3.Error as error:
        raise ImportExportError(f"{folder / _COOKIES}: cannot be written ({error}). Nothing was exported.") from error


def _expect_profile(folder: Path) -> None:
    if not folder.is_dir():
        raise ImportExportError(f"{folder}: not a folder. Specify a new or empty folder.")
    names = {each.name for each in folder.iterdir()} - LOCK_FILES  # which a killed export has left
    if names and names.isdisjoint(_MARKS):
        raise ImportExportError(f"{folder}: neither empty nor a Firefox profile. Specify a new or empty folder.")


def _write_into(bundle: Bundle, folder: Path, lost: Tally) -> int:
    known = folder / _CONTAINERS
    containers = _containers(known)
    if not containers.is_current:
        raise _outdated(known, "an older version")
    numbers = _numbered(bundle, containers, keep_numbers=not known.exists())
    database = folder / _COOKIES
    create_database(database)
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as connection:
        _expect_schema(connection, database)
        connection.execute("BEGIN IMMEDIATE")
        count = 0
        for number, holding in zip(numbers, bundle.entries, strict=True):
            lasting = [cookie for cookie in holding.cookies if cookie.expires is not None]
            count += insert_cookies(connection, number, lasting)
            if ephemeral := len(holding.cookies) - len(lasting):
                lost[SESSION] += ephemeral
            lost.update([HIDDEN] if holding.label and holding.label.hidden else [])
        replace_file(known, containers.encode())
        connection.execute("COMMIT")
    return count


def _profile_key(folder: Path) -> tuple[str, bool]:
    """A key of a profile, and whether it belongs to this profile for ever: the time of its creation does."""
    try:
        created = msgspec.json.decode(read_input_file(folder / _TIMES), type=_Times).created
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError, InvalidInputFile):
        return place_key(folder), False
    return str(created), True


def _containers(path: Path) -> Containers:
    try:
        return Containers(read_input_file(path), str(path))
    except FileNotFoundError:
        return Containers.new()
    except OSError as error:
        raise InvalidInputFile(str(path), f"cannot be read: {error.strerror}") from error


def _numbered(bundle: Bundle, containers: Containers, *, keep_numbers: bool) -> list[int]:
    """The container of each entry: one that looks the same, or the only one with its name, or a new one."""
    free = dict(containers.labels)
    names = Counter(entry.label.name for entry in bundle.entries if entry.label)
    numbers: dict[int, int] = {}
    for at, entry in enumerate(bundle.entries):
        if entry.label is not None:
            looks = _looks(entry.label)
            if (equal := next((each for each, label in free.items() if label == looks), None)) is not None:
                numbers[at] = equal
                del free[equal]
    for at, entry in enumerate(bundle.entries):
        if entry.label is not None and at not in numbers:
            named = [each for each, label in containers.labels.items() if label.name == entry.label.name]
            if len(named) == names[entry.label.name] == 1 and named[0] in free:
                numbers[at] = named[0]
                del free[named[0]]
            else:
                numbers[at] = containers.add(_looks(entry.label), entry.number if keep_numbers else 0)
    return [numbers.get(at, 0) for at in range(len(bundle.entries))]


def _looks(label: IdentityAttributes) -> IdentityAttributes:
    return IdentityAttributes(label.name, label.icon, label.color)


def _expect_schema(connection: sqlite3.Connection, database: Path) -> None:
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if schema != SCHEMA:
        raise _outdated(database, f"schema {schema}, not {SCHEMA}")


def _outdated(path: Path, what: str) -> ImportExportError:
    return ImportExportError(
        f"{path}: it has {what}. Start a current Firefox once with this profile, quit it, and try again; or name a new "
        "folder."
    )
