"""Dispatches every call: checks permissions and arguments, then calls the implementation. Knows no namespace by name.

Scripts are not trusted: calls from JavaScript and from Python are checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from hatbox import schema
from hatbox.api.content_script_registry import ContentScriptRegistry
from hatbox.api.namespace import Namespace
from hatbox.api.services import Services
from hatbox.errors import PermissionDenied
from hatbox.schema import NamespaceSchema
from hatbox.web_requests import RequestEvents

if TYPE_CHECKING:
    import asyncio

    from hatbox.api.caller import Caller

__all__ = ["Dispatcher", "Implement"]

Implement: TypeAlias = Callable[[NamespaceSchema, Services], Namespace]
"""Creates the implementation of a schema."""


class Dispatcher:
    """Dispatches the calls of all callers to the namespaces of one profile."""

    def __init__(self, services: Services, implement_for_manager: Implement) -> None:
        self._schemas: dict[str, list[NamespaceSchema]] = {}
        for each in schema.load():
            self._schemas.setdefault(each.namespace, []).append(each)
        self._namespaces: dict[str, Namespace] = {}
        """The namespaces used so far, by schema file."""
        self._services = services
        self._implement_for_manager = implement_for_manager
        """Implements the schemas for the manager page, which use layers above."""

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

    @property
    def requests(self) -> RequestEvents:
        """The webRequest and proxy listeners of the profile."""
        return self._services.requests

    @property
    def content_scripts(self) -> ContentScriptRegistry:
        """The content scripts of the extensions that run in this process."""
        return self._services.content_scripts

    def shared_snapshot(self) -> AbstractContextManager[None]:
        """Run the reads in the body on one snapshot of the profile."""
        return self._services.store.shared_snapshot()

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

    def _implement(self, found: NamespaceSchema) -> Namespace:
        if found.for_manager:
            return self._implement_for_manager(found, self._services)
        module = import_module(f"hatbox.api.namespaces.{found.implementation}")  # on first use
        namespace: Namespace = module.implement(found, self._services)
        return namespace

    def _permission_error(self, name: str) -> str:
        schemas = self._schemas.get(name, [])
        if not schemas:
            return f"There is no namespace {name}"
        if all(each.for_extensions for each in schemas):
            return f"{name} is for extensions only"
        needed = " or ".join(" and ".join(sorted(each.permissions)) for each in schemas)
        return f"Permission denied: {name} needs the permission {needed}"
