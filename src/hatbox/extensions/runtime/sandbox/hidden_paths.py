"""The paths that a process may use if some paths are hidden from it: Landlock can only allow, and beneath a folder all.

So a folder above a hidden path is not allowed itself, but each entry that it has now. In such a folder the process can
use what exists, and can neither create nor rename nor remove entries. All other folders are allowed as a whole. The
same is true for the folders above one that is read-only.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePath

from hatbox.extensions.runtime.sandbox.wall import Wall

__all__ = ["HiddenPaths"]


class HiddenPaths:
    """Hidden files and folders; and `prefixes`, files with everything beside them whose name starts with theirs.

    Files in `read_only` folders can be read and executed, unless they are hidden.
    """

    def __init__(
        self,
        paths: Iterable[str | os.PathLike[str]] = (),
        prefixes: Iterable[str | os.PathLike[str]] = (),
        read_only: Iterable[str | os.PathLike[str]] = (),
    ) -> None:
        self._paths = frozenset(map(os.path.realpath, paths))
        self._prefixes = tuple(map(os.path.realpath, prefixes))
        found = frozenset(map(os.path.realpath, read_only))
        self._read_only = frozenset(each for each in found if not found.intersection(map(str, PurePath(each).parents)))
        limited = (*self._paths, *self._prefixes, *self._read_only)
        above = {str(parent) for each in limited for parent in PurePath(each).parents}
        self.folders_above = frozenset(each for each in above if not self.contains(each))
        """The real paths of the folders above a hidden or read-only path, which cannot be allowed as a whole."""

    def with_read_only(self, folders: Iterable[str | os.PathLike[str]]) -> HiddenPaths:
        """The same hidden paths, and these read-only folders."""
        return HiddenPaths(self._paths, self._prefixes, folders)

    def contains(self, path: str) -> bool:
        """Whether a real path is hidden."""
        is_beneath = any(str(each) in self._paths for each in (path, *PurePath(path).parents))
        return is_beneath or path.startswith(self._prefixes)

    def wall(self, needed: Iterable[str] = ()) -> Wall:
        """The sandbox for these paths, which allows everything else. Names of files can be listed everywhere.

        `needed` are paths that the process needs, for the case that a folder above them cannot be listed.
        """
        allowed = [path for folder in sorted(self.folders_above) for path in self._visible_entries(folder)]
        allowed += (path for path in map(os.path.realpath, needed) if self._is_visible(path))
        use = [path for path in allowed if not self._is_read_only(path)] if self.folders_above else ["/"]
        execute = (path for path in allowed if self._is_read_only(path))
        return Wall(use=tuple(use), execute=tuple(execute), list_names=("/",), listen=True, scopes=False)

    def _visible_entries(self, folder: str) -> list[str]:
        try:
            with os.scandir(folder) as entries:
                # Where a symbolic link leads to is allowed or hidden by its own path.
                return [each.path for each in entries if not each.is_symlink() and self._is_visible(each.path)]
        except OSError:  # it does not exist yet, or may not be listed
            return []

    def _is_visible(self, path: str) -> bool:
        return path not in self.folders_above and not self.contains(path)

    def _is_read_only(self, path: str) -> bool:
        return any(str(each) in self._read_only for each in (path, *PurePath(path).parents))
