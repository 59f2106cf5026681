"""Which data area an extension uses: the name under which all that it stores, and is granted, is in the profile. Pure.

The area of an installed extension is its id. One that is run from a folder or file has an area of its own, which
depends on the id and on the real path: an id is only what a manifest says, and anyone can write it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

__all__ = ["area_of"]


def area_of(extension_id: str, place: Path) -> str:
    """The data area for development of what lies in this place. No id of an extension has a # in it."""
    path = str(place).encode("utf-8", "surrogateescape")
    return f"{extension_id}#{hashlib.sha256(path).hexdigest()[:16]}"
