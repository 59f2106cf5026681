"""The API as data: JSON schemas of the namespaces, compiled into checks that run at every call."""

from hatbox.schema.loader import EventSchema, FunctionSchema, NamespaceSchema, load, permissions
from hatbox.schema.results import snake_case

__all__ = ["EventSchema", "FunctionSchema", "NamespaceSchema", "load", "permissions", "snake_case"]
