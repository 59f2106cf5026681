"""Writing files that hold secrets: readable by their owner alone, and never seen half written."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

__all__ = ["replace_file"]


def replace_file(path: Path, data: bytes) -> None:
    """Give `path` this content in one step, with mode 0600. What is no plain file, such as a pipe, is written to."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    path = path.resolve()  # a link stays a link
    draft = path.with_name(f".{path.name[:200]}.{secrets.token_hex(4)}.new")
    try:
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
