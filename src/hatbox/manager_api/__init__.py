"""The `hatbox.*` namespaces of the API: what the manager page needs and extensions cannot have.

One module for each schema with `forManager`, named by its `implementation`.
"""

from __future__ import annotations

from importlib import import_module

from hatbox.api.namespace import Namespace
from hatbox.api.services import Services
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:
    """Implement a schema. Its module is imported on first use."""
    module = import_module(f"{__name__}.{schema.implementation}")
    namespace: Namespace = module.implement(schema, services, profile)
    return namespace
