"""Conditions for the rows with some ids, in as many statements as their number of parameters needs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

__all__ = ["among", "id_parts"]

_MAX_PARAMETERS: Final = 500  # of one statement


def id_parts(ids: Collection[int]) -> Iterator[Sequence[int]]:
    """The ids, each once, in parts for one statement each."""
    unique = list(dict.fromkeys(ids))
    return (unique[start : start + _MAX_PARAMETERS] for start in range(0, len(unique), _MAX_PARAMETERS))


def among(ids: Sequence[int]) -> str:
    """The condition for these ids, which are the parameters of the statement."""
    return f"WHERE id IN ({', '.join('?' * len(ids))})"
