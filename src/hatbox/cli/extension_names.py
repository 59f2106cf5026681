"""Which extension somebody means: by its id, by its name if no other has it, or by where it is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

from hatbox.api.installed import Installed
from hatbox.cli.failures import Failure
from hatbox.cli.identities import within
from hatbox.errors import ExtensionError
from hatbox.extensions.manifest import read_manifest
from hatbox.extensions.package import open_package
from hatbox.extensions.running import Running
from hatbox.profile import Profile

__all__ = ["Known", "check_packages", "find_extension", "place_of", "places_of"]

Known: TypeAlias = tuple[Installed, Running | None]


def find_extension(known: Sequence[Known], name_or_id: str) -> Known:
    """The one extension with this id or name, or a failure that says which could be meant."""
    by_id = [each for each in known if each[0].id == name_or_id]
    found = by_id or [each for each in known if each[0].name == name_or_id]
    if len(found) == 1:
        return found[0]
    if found:
        ids = [each.id for each, _ in found]
        message = f'{len(found)} extensions are called "{name_or_id}". Say which by its id: {", ".join(ids)}.'
        raise Failure("AmbiguousExtension", message, details={"ids": ids})
    names = [name for each, _ in known for name in (each.name, each.id)]
    nearest = get_close_matches(name_or_id, names, n=1)
    hint = f' Did you mean "{nearest[0]}"?' if nearest else " `hatbox extensions list` shows them."
    message = f'no extension is called "{name_or_id}".{hint}'
    raise Failure("NoSuchExtension", message, details={"nearest": nearest})


async def place_of(opened: Profile, wanted: str) -> Path:
    """Where an extension is that is named by its folder or archive, or is known and named by its id or name."""
    path = Path(wanted)
    if path.name != wanted or path.suffix in (".xpi", ".zip") or await asyncio.to_thread(path.exists):
        return path
    extension, _ = find_extension(await opened.extensions.known(), wanted)
    return Path(extension.path)


def places_of(wanted: Sequence[str], profile: str | None) -> list[Path]:
    """Where each of several is."""

    async def found(opened: Profile) -> list[Path]:
        return [await place_of(opened, each) for each in wanted]

    return within(profile, found)


def check_packages(paths: Iterable[Path]) -> None:
    """Fail if one of several extensions cannot be read, or is there twice: before anything is done with the others."""
    places: dict[str, Path] = {}
    for path in paths:
        try:
            manifest = read_manifest(open_package(path))
        except ExtensionError as error:
            named = str(error) if str(error).startswith(str(path)) else f"{path}: {error}"
            raise Failure(type(error).__name__, named) from error
        if manifest.id in places:
            message = f"{places[manifest.id]} and {path} are the same extension, {manifest.id}. Name one of them."
            raise Failure("SameExtension", message)
        places[manifest.id] = path
