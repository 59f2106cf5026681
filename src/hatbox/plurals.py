"""Numbers of things, in words."""

from __future__ import annotations

__all__ = ["number_of"]


def number_of(count: int, one: str, many: str = "") -> str:
    """`1 cookie`, `3 cookies`; `many` is for other plurals."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"
