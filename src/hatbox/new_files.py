"""New files with secrets, readable by their owner only: complete under their name, or not there at all.

On Linux a file has no name until it is complete, so a process that is killed leaves nothing behind. Elsewhere it leaves
a draft, which the next new file in that folder removes.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

__all__ = ["DRAFT_PATTERN", "draft_path", "new_file", "remove_old_drafts", "replace_file", "sync_folder"]

DRAFT_PATTERN: Final = ".hatbox-*.new*"
"""The names of files that are being written."""

_DAY: Final = 24 * 60 * 60
_DESCRIPTORS: Final = Path("/proc/self/fd")
_FLAGS: Final = os.O_WRONLY | getattr(os, "O_BINARY", 0)


@contextlib.contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[IO[bytes]]:
    """A new file. It gets its name, durably, when the body ends without an error. Raises OSError.

    Without `overwrite`, FileExistsError is raised if a file with this name exists by then, and that stays.
    """
    draft = draft_path(path.parent)
    descriptor = unnamed = _open_unnamed(path.parent)
    if descriptor is None:
        remove_old_drafts(path.parent)
        descriptor = os.open(draft, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(descriptor)
            if unnamed is not None:  # a link to a link needs linkat(), which Python calls only with this argument
                name = draft if overwrite else path
                os.link(_DESCRIPTORS / str(unnamed), name, src_dir_fd=unnamed, follow_symlinks=True)
        if overwrite:
            draft.replace(path)
        elif unnamed is None:
            _link(draft, path)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes, *, mode: int = 0o600, check: Callable[[], None] | None = None) -> None:
    """Replace the content of `path` atomically, with this mode. Pipes and devices are written to.

    `check` is called when everything is written and nothing is replaced yet. If it raises, the file stays.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    with new_file(path.resolve(), overwrite=True) as file:  # keep a symbolic link
        file.write(data)
        if mode != 0o600 and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
        if check is not None:
            check()


def draft_path(folder: Path) -> Path:
    """A new name in a folder for a file that is being written."""
    return folder / f".hatbox-{secrets.token_hex(8)}.new"


def remove_old_drafts(folder: Path) -> None:
    """Delete the drafts of processes that were killed."""
    for draft in folder.glob(DRAFT_PATTERN):
        with contextlib.suppress(OSError):
            if time.time() - draft.lstat().st_mtime > _DAY:
                draft.unlink()


def _open_unnamed(folder: Path) -> int | None:
    """A new file without a name; None if the system has none, or not in this folder."""
    with contextlib.suppress(OSError, AttributeError):
        if _DESCRIPTORS.exists():
            return os.open(folder, _FLAGS | os.O_TMPFILE, 0o600)
    return None


def _link(draft: Path, path: Path) -> None:
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links: reserve the name, so that no other file is replaced
        os.close(os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600))
        draft.replace(path)


def sync_folder(folder: Path) -> None:
    """Make the names of files in a folder durable."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
