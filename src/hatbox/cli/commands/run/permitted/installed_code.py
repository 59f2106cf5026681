"""The folders of Hatbox and of its Python. A script must not write there: the next command would run its code."""

from __future__ import annotations

import os
import site
import sys
import sysconfig
from collections.abc import Collection, Iterable
from pathlib import Path, PurePath
from typing import Final

import hatbox

__all__ = ["installed_folders", "protected_folders"]

_PATHS: Final = ("stdlib", "platstdlib", "purelib", "platlib", "scripts")


def installed_folders() -> list[str]:
    """The real paths of the folders from which commands of Hatbox run code, and which the user can change."""
    found = [str(Path(hatbox.__file__).parent), *map(sysconfig.get_path, _PATHS)]
    found.append(str(PurePath(os.path.realpath(sys.executable)).parent))
    if sys.prefix != sys.base_prefix:
        found.append(sys.prefix)  # a virtual environment, with pyvenv.cfg
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return [each for each in dict.fromkeys(map(os.path.realpath, found)) if os.access(each, os.W_OK)]


def protected_folders(
    installed: Iterable[str], working: Iterable[str | os.PathLike[str]], restricted: Collection[str]
) -> list[str]:
    """The installed folders that can be read-only for a script that works in the folders `working`.

    Not those in which it works, nor those below such a folder: it could create no files there. In `restricted` folders,
    it can create none anyway.
    """
    folders = [*map(os.path.realpath, working)]
    above = {each for each in folders if each not in restricted}
    return [
        each
        for each in installed
        if not any(PurePath(folder).is_relative_to(each) for folder in folders)
        and not above.intersection(map(str, PurePath(each).parents))
    ]
