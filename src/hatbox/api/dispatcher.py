"""Dispatches every call: checks permissions and arguments, then calls the implementation. Knows no namespace by name.

Scripts are not trusted: calls from JavaScript and from Python are checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from importlib import import_module
from typing import TypeAlias

from hatbox.api.content_script_registry import ContentScriptRegistry
from hatbox.api.namespace import Namespace
from hatbox.api.namespace_lookup import NamespaceLookup
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema
from hatbox.web_requests import RequestEvents

__all__ = ["Dispatcher", "Implement"]

Implement: TypeAlias = Callable[[NamespaceSchema, Services], Namespace]
"""Creates the implementation of a schema."""


class Dispatcher(NamespaceLookup):
    """Dispatches the calls of all callers to the namespaces of one profile."""

    def __init__(self, services: Services, implement_for_manager: Implement) -> None:
        super().__init__()
        self._services = services
        self._implement_for_manager = implement_for_manager
        """Implements the schemas for the manager page, which use layers above."""

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

    def _implement(self, found: NamespaceSchema) -> Namespace:
        if found.for_manager:
            return self._implement_for_manager(found, self._services)
        module = import_module(f"hatbox.api.namespaces.{found.implementation}")  # on first use
        namespace: Namespace = module.implement(found, self._services)
        return namespace
