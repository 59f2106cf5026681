"""Extensions given by id, by unique name, or by path."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TypeAlias

from hatbox.cli.arguments.profile_options import run_with_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.errors import ExtensionError
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extension_data.run_records import RunRecord
from hatbox.extensions.package.manifest import read_manifest
from hatbox.extensions.package.package_files import Package, open_package
from hatbox.profile import Profile

__all__ = ["KnownExtension", "check_packages", "find_extension", "package_of", "packages_of"]

KnownExtension: TypeAlias = tuple[InstalledExtension, RunRecord | None]
"""An installed or running extension, and the record of its run."""


def find_extension(known: Sequence[KnownExtension], name_or_id: str) -> KnownExtension:
    """The extension with this id or name. Raises CommandError with the ids if several have the name.

    An extension that runs from a folder with the id of an installed one is found only by its data area, which `list`
    shows.
    """
    by_area = [each for each in known if each[0].area == name_or_id]
    found = by_area or [each for each in known if name_or_id in (each[0].id, each[0].name)]
    if len(found) == 1:
        return found[0]
    if found:
        ids = [each.area for each, _ in found]
        message = f'{len(found)} extensions are named "{name_or_id}". Pass the id instead: {", ".join(ids)}.'
        raise CommandError("AmbiguousExtension", message, details={"ids": ids})
    names = [name for each, _ in known for name in (each.name, each.id)]
    nearest = get_close_matches(name_or_id, names, n=1)
    hint = f'Did you mean "{nearest[0]}"?' if nearest else "List extensions with: hatbox extensions list"
    message = f'extension not found: "{name_or_id}". {hint}'
    raise CommandError("ExtensionNotFound", message, details={"nearest": nearest})


async def package_of(profile: Profile, wanted: str) -> Package:
    """The package at a path, or of an installed extension with this id or name."""
    path = Path(wanted)
    if path.name != wanted or path.suffix in (".xpi", ".zip") or await asyncio.to_thread(path.exists):
        return await asyncio.to_thread(open_package, path)
    extension, _ = find_extension(await profile.extensions.known(), wanted)
    if not extension.permanent:  # a temporary installation
        return await asyncio.to_thread(open_package, extension.path)
    return await profile.extensions.package(extension.area)


def packages_of(wanted: Sequence[str], profile: str | None) -> list[Package]:
    """The packages of several extensions."""

    async def find(opened: Profile) -> list[Package]:
        return [await package_of(opened, each) for each in wanted]

    return run_with_profile(profile, find)


def check_packages(packages: Iterable[Package | Path]) -> None:
    """Raise CommandError if one of several extensions cannot be read, or is given twice."""
    paths: dict[str, Path] = {}
    for each in packages:
        path = each if isinstance(each, Path) else each.path
        try:
            manifest = read_manifest(open_package(each) if isinstance(each, Path) else each)
        except ExtensionError as error:
            named = str(error) if str(error).startswith(str(path)) else f"{path}: {error}"
            raise CommandError(type(error).__name__, named) from error
        if manifest.id in paths:
            message = f"{paths[manifest.id]} and {path} are the same extension, {manifest.id}. Pass only one of them."
            raise CommandError("SameExtension", message)
        paths[manifest.id] = path
