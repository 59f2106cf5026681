"""Data areas: the name under which the profile stores the data and granted permissions of an extension. Pure.

The area of an installed extension is its id. A temporary installation has a separate area for its id and real path,
because any manifest can claim any id.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["development_area"]


def development_area(extension_id: str, path: Path) -> str:
    """The data area of a temporary installation from a path. Extension ids never contain a `#`."""
    digest = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{extension_id}#{digest[:16]}"
