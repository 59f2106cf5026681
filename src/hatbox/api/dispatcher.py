"""The way of every call: permission, then arguments, then the implementation. Knows no namespace by name.

A script is never trusted: whatever face it calls through, the call comes by here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import Any

from hatbox import schema
from hatbox.api.caller import Caller
from hatbox.api.namespace import Namespace
from hatbox.api.services import Services
from hatbox.errors import PermissionDenied

__all__ = ["Dispatcher"]


class Dispatcher:
    """Takes the calls of all callers to the namespaces of one profile."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._namespaces: dict[str, list[Namespace]] = {}
        for surface in schema.load():
            module = import_module(f"hatbox.api.{surface.implementation}")
            self._namespaces.setdefault(surface.namespace, []).append(module.implement(surface, services))

    def visible(self, caller: Caller) -> list[str]:
        """The names of the namespaces that this caller may use."""
        found = {name: self.namespace(caller, name) for name in self._namespaces}
        return sorted(name for name, namespace in found.items() if namespace and not namespace.surface.hidden)

    def namespace(self, caller: Caller, name: str) -> Namespace | None:
        """A namespace as this caller sees it; None where it holds the permissions of none of its surfaces."""
        try:
            return self.permitted(caller, name)
        except PermissionDenied:
            return None

    def call(self, caller: Caller, name: str, member: str, arguments: Sequence[Any]) -> asyncio.Future[Any] | None:
        """Call a function of a namespace. What the call itself throws is raised here, the rest is in the future."""
        return self.permitted(caller, name).call(caller, member, arguments)

    def together(self) -> AbstractContextManager[None]:
        """For calls that were made together: those in the body that only read see one state of the profile."""
        return self._store.together()

    def permitted(self, caller: Caller, name: str) -> Namespace:
        """A namespace as this caller sees it; raises PermissionDenied where it sees nothing."""
        for namespace in self._namespaces.get(name, ()):
            if caller.may_use(namespace.surface):
                return namespace
        raise PermissionDenied(self._refusal(name))

    def _refusal(self, name: str) -> str:
        surfaces = [namespace.surface for namespace in self._namespaces.get(name, ())]
        if not surfaces:
            return f"There is no namespace {name}"
        if all(surface.for_extensions for surface in surfaces):
            return f"{name} is for extensions only"
        needed = " or ".join(" and ".join(sorted(surface.permissions)) for surface in surfaces)
        return f"Permission denied: {name} needs the permission {needed}"
