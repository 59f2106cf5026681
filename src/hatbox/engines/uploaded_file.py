"""The file that a program names for an upload: below one folder, whatever the program says."""

from __future__ import annotations

from pathlib import Path

__all__ = ["file_below"]


def file_below(folder: Path, path: str) -> Path | None:
    """The file of a path, absolute or relative to the folder, without links. None if it is not below the folder."""
    try:
        root = folder.resolve(strict=True)
        found = (root / path).resolve(strict=True)
        return found if found.is_relative_to(root) and found.is_file() else None
    except (OSError, ValueError, RuntimeError):
        return None
