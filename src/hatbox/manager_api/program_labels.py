"""How programs are called on the manager page."""

from __future__ import annotations

from typing import Final

__all__ = ["PAGE_PROGRAM", "program_label"]

PAGE_PROGRAM: Final = "hatbox ui"
"""The name of the manager page in the change log."""


def program_label(program: str) -> str:
    """The name of a program of the change log, for people."""
    return "manager page" if program == PAGE_PROGRAM else program
