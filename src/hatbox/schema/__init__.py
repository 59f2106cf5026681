"""The API as data: one JSON file for each surface, and what compiles it into checks that run at every call."""

from hatbox.schema.loader import Event, Function, Surface, load, permissions
from hatbox.schema.results import snake_case

__all__ = ["Event", "Function", "Surface", "load", "permissions", "snake_case"]
