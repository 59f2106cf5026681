"""The types of Events as scripts see them."""

# ruff: noqa: N802 - the API's own spelling; what each member does is told in the schema files

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

__all__ = [
    "Payload",
    "ScriptEventType",
]


Payload = TypeVar("Payload", covariant=True)


class ScriptEventType(Protocol[Payload]):
    """An event of a namespace."""

    def addListener(self, listener: Callable[[Payload], Any], /) -> None:
        """Call a function whenever this happens."""

    def removeListener(self, listener: Callable[[Payload], Any], /) -> None:
        """Stop calling a function."""

    def hasListener(self, listener: Callable[[Payload], Any], /) -> bool:
        """Whether a function is registered."""
        ...
