"""Translates the SQL of the tables, which all stores share, for PostgreSQL."""

from __future__ import annotations

import itertools
import re
from functools import lru_cache
from typing import Final

__all__ = ["quoted", "translated"]

_PART: Final = re.compile(r'\?|"[^"]*"|\b(?:window|left)\b')  # the latter are reserved words


@lru_cache(maxsize=1000)
def translated(sql: str) -> str:
    """The statement with $1 for parameters, and with reserved words quoted."""
    numbers = itertools.count(1)

    def replacement(found: re.Match[str]) -> str:
        if found[0] == "?":
            return f"${next(numbers)}"
        return found[0] if found[0][0] == '"' else f'"{found[0]}"'

    return _PART.sub(replacement, sql)


def quoted(name: str) -> str:
    """An identifier, quoted."""
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
