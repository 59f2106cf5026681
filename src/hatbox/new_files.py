"""New files with secrets, readable by their owner only: complete under their name, or not there at all. And names in
folders that others can write: what another user has made there is refused.

On Linux a file has no name until it is complete, so a process that is killed leaves nothing behind. Elsewhere it leaves
a draft, which the next new file in that folder removes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final

__all__ = [
    "DRAFT_PATTERN",
    "draft_path",
    "new_file",
    "open_regular",
    "refuse_foreign",
    "remove_old_drafts",
    "replace_file",
    "sync_folder",
]

DRAFT_PATTERN: Final = ".hatbox-*.new*"
"""The names of files that are being written."""

_DAY: Final = 24 * 60 * 60
_DESCRIPTORS: Final = Path("/proc/self/fd")
_BINARY: Final = getattr(os, "O_BINARY", 0)
_NEITHER_FOLLOW_NOR_WAIT: Final = _BINARY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FLAGS: Final = os.O_WRONLY | _BINARY


@contextlib.contextmanager
def new_file(path: Path, *, overwrite: bool, needs_links: bool = False) -> Iterator[IO[bytes]]:
    """A new file. It gets its name, durably, when the body ends without an error. Raises OSError.

    Without `overwrite`, FileExistsError is raised if a file with this name exists by then, and that stays. On a file
    system without hard links, a process that is killed in the last step leaves an empty file, unless `needs_links`.
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
            _link(draft, path, needs_links=needs_links)
        sync_folder(path.parent)
    finally:
        draft.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes, *, mode: int = 0o600, check: Callable[[], None] | None = None) -> None:
    """Replace the content of `path` atomically, with this mode. Pipes and devices are written to.

    `check` is called when everything is written and nothing is replaced yet. If it raises, the file stays.
    """
    refuse_foreign(path)
    if path.exists() and not path.is_file():
        checked = path.stat()
        with path.open("wb") as sink:
            if not os.path.samestat(checked, os.fstat(sink.fileno())):
                raise PermissionError(errno.EPERM, "replaced by another user", str(path))
            sink.write(data)
        return
    with new_file(path.resolve(), overwrite=True) as file:  # keep a symbolic link
        file.write(data)
        if mode != 0o600 and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), mode)
        if check is not None:
            check()


def refuse_foreign(path: Path) -> None:
    """Raise PermissionError if this is a link or a pipe that another user has made in a folder that all can write.

    Linux refuses some of them itself, with fs.protected_symlinks and fs.protected_fifos.
    """
    for each in (path, path.resolve()) if hasattr(os, "getuid") else ():
        with contextlib.suppress(FileNotFoundError):
            status, folder = each.lstat(), each.parent.stat()
            is_foreign = status.st_uid not in (os.getuid(), folder.st_uid)
            if is_foreign and folder.st_mode & stat.S_IWOTH and not stat.S_ISREG(status.st_mode):
                raise PermissionError(errno.EPERM, "a link or a pipe of another user of this machine", str(path))


def open_regular(path: Path, flags: int, mode: int = 0o600) -> int:
    """Open a file beside a profile. Raises OSError for what another user may have made in its place: a link, also a
    hard one, or a pipe or device, which could wait."""
    descriptor = os.open(path, flags | _NEITHER_FOLLOW_NOR_WAIT, mode)
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode) and status.st_nlink <= 1:
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a file with one name", str(path))


def draft_path(folder: Path) -> Path:
    """A new name in a folder for a file that is being written."""
    return folder / f".hatbox-{os.urandom(8).hex()}.new"


def remove_old_drafts(folder: Path) -> None:
    """Delete the drafts of processes that were killed."""
    for draft in folder.glob(DRAFT_PATTERN):
        with contextlib.suppress(OSError):
            status = draft.lstat()
            if time.time() - status.st_mtime > _DAY:
                shutil.rmtree(draft) if stat.S_ISDIR(status.st_mode) else draft.unlink()


def _open_unnamed(folder: Path) -> int | None:
    """A new file without a name; None if the system has none, or not in this folder."""
    with contextlib.suppress(OSError, AttributeError):
        if _DESCRIPTORS.exists():
            return os.open(folder, _FLAGS | os.O_TMPFILE, 0o600)
    return None


def _link(draft: Path, path: Path, *, needs_links: bool) -> None:
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError as error:
        if needs_links:
            raise OSError(errno.ENOTSUP, "its file system has no hard links", str(path)) from error
        # Reserve the name, so that no other file is replaced.
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
