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
from hatbox.schema import NamespaceSchema
from hatbox.web_requests import RequestEvents

__all__ = ["Dispatcher"]


class Dispatcher:
    """Takes the calls of all callers to the namespaces of one profile."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._surfaces: dict[str, list[NamespaceSchema]] = {}
        for surface in schema.load():
            self._surfaces.setdefault(surface.namespace, []).append(surface)
        self._namespaces: dict[str, Namespace] = {}
        """By the files of their surfaces: those that somebody has used."""

    @property
    def requests(self) -> RequestEvents:
        """The requests of the profile, and their listeners."""
        return self._services.requests

    def visible(self, caller: Caller) -> list[str]:
        """The names of the namespaces that this caller may use."""
        found = {name: self._surface(caller, name) for name in self._surfaces}
        return sorted(name for name, surface in found.items() if surface and not surface.hidden)

    def namespace(self, caller: Caller, name: str) -> Namespace | None:
        """A namespace as this caller sees it; None where it holds the permissions of none of its surfaces."""
        surface = self._surface(caller, name)
        return None if surface is None else self._load_namespace(surface)

    def call(self, caller: Caller, name: str, member: str, arguments: Sequence[Any]) -> asyncio.Future[Any] | None:
        """Call a function of a namespace. What the call itself throws is raised here, the rest is in the future."""
        return self.require_namespace(caller, name).call(caller, member, arguments)

    def shared_snapshot(self) -> AbstractContextManager[None]:
        """For calls that were made together: those in the body that only read see one state of the profile."""
        return self._services.store.shared_snapshot()

    def require_namespace(self, caller: Caller, name: str) -> Namespace:
        """A namespace as this caller sees it; raises PermissionDenied where it sees nothing."""
        surface = self._surface(caller, name)
        if surface is None:
            raise PermissionDenied(self._permission_error(name))
        return self._namespaces.get(surface.file) or self._load_namespace(surface)

    def _surface(self, caller: Caller, name: str) -> NamespaceSchema | None:
        for surface in self._surfaces.get(name, ()):
            if caller.may_use(surface):
                return surface
        return None

    def _load_namespace(self, surface: NamespaceSchema) -> Namespace:
        """The namespace of a surface. Its module is imported when it is first used: a program uses few of them."""
        if surface.file not in self._namespaces:
            module = import_module(f"hatbox.api.namespaces.{surface.implementation}")
            self._namespaces[surface.file] = module.implement(surface, self._services)
        return self._namespaces[surface.file]

    def _permission_error(self, name: str) -> str:
        surfaces = self._surfaces.get(name, [])
        if not surfaces:
            return f"There is no namespace {name}"
        if all(surface.for_extensions for surface in surfaces):
            return f"{name} is for extensions only"
        needed = " or ".join(" and ".join(sorted(surface.permissions)) for surface in surfaces)
        return f"Permission denied: {name} needs the permission {needed}"
