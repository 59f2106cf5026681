"""Atomic writes of files with secrets, readable by their owner only."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

__all__ = ["replace_file"]


def replace_file(path: Path, data: bytes, *, mode: int = 0o600, check: Callable[[], None] | None = None) -> None:
    """Replace the content of `path` atomically, with this mode. Pipes and devices are written to.

    `check` is called when everything is written and nothing is replaced yet. If it raises, the file stays.
    """
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path = path.resolve()  # keep a symbolic link
    draft = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.new")
    try:
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        if mode != 0o600:
            draft.chmod(mode)
        if check is not None:
            check()
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
