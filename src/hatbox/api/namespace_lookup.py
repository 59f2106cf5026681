"""Finds the namespaces that a caller may use, and passes calls to them. Knows no namespace by name.

The dispatcher of a profile and the `browser` of a script in another process share it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hatbox import schema
from hatbox.errors import PermissionDenied
from hatbox.schema import NamespaceSchema

if TYPE_CHECKING:
    import asyncio

    from hatbox.api.caller import Caller
    from hatbox.api.namespace import Namespace

__all__ = ["NamespaceLookup"]


class NamespaceLookup(ABC):
    """The namespaces by name. A subclass implements them."""

    def __init__(self) -> None:
        self._schemas: dict[str, list[NamespaceSchema]] = {}
        for each in schema.load():
            self._schemas.setdefault(each.namespace, []).append(each)
        self._namespaces: dict[str, Namespace] = {}
        """The namespaces used so far, by schema file."""

    def visible(self, caller: Caller) -> list[str]:
        """The names of the namespaces that this caller may use."""
        found = {name: self._schema_for(caller, name) for name in self._schemas}
        return sorted(name for name, each in found.items() if each and not each.hidden)

    def namespace(self, caller: Caller, name: str) -> Namespace | None:
        """A namespace as this caller sees it; None without permission."""
        found = self._schema_for(caller, name)
        return None if found is None else self._load_namespace(found)

    def call(self, caller: Caller, name: str, member: str, arguments: Sequence[Any]) -> asyncio.Future[Any] | None:
        """Call a function of a namespace. Errors that JavaScript throws are raised; rejections are in the future."""
        return self.require_namespace(caller, name).call(caller, member, arguments)

    def require_namespace(self, caller: Caller, name: str) -> Namespace:
        """A namespace as this caller sees it. Raises PermissionDenied without permission."""
        found = self._schema_for(caller, name)
        if found is None:
            if caller.guard is not None:
                caller.guard.refuse_namespace(name)
            raise PermissionDenied(self._permission_error(name))
        return self._namespaces.get(found.file) or self._load_namespace(found)

    def _schema_for(self, caller: Caller, name: str) -> NamespaceSchema | None:
        for each in self._schemas.get(name, ()):  # highest rank first
            if caller.may_use(each):
                return each
        return None

    def _load_namespace(self, found: NamespaceSchema) -> Namespace:
        """The namespace of a schema. It is implemented on first use, because a program uses few of them."""
        if found.file not in self._namespaces:
            self._namespaces[found.file] = self._implement(found)
        return self._namespaces[found.file]

    @abstractmethod
    def _implement(self, found: NamespaceSchema) -> Namespace:
        """Create the implementation of a schema."""

    def _permission_error(self, name: str) -> str:
        schemas = self._schemas.get(name, [])
        if not schemas:
            return f"There is no namespace {name}"
        if all(each.for_extensions for each in schemas):
            return f"{name} is for extensions only"
        needed = " or ".join(" and ".join(sorted(each.permissions)) for each in schemas)
        return f"Permission denied: {name} needs the permission {needed}"
