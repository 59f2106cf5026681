"""The namespace extensionTypes: enumerations and nothing else."""

from __future__ import annotations

from hatbox.api.namespace import Namespace
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a schema that has neither functions nor events."""
    return Namespace(schema, services.store, {})
