"""The file of the icons' drawings."""

from __future__ import annotations

from pathlib import Path
from typing import Final

__all__ = ["ICONS_FILE"]

ICONS_FILE: Final = Path(__file__).parent / "icons.svg"
"""The file of the symbols. The manager page has them as elements, `hatbox.identity.glyphs` parses them."""
