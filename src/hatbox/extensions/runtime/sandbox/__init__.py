"""The second wall around an extension's process, behind Deno's own permissions."""

from hatbox.extensions.runtime.sandbox.wall import Layers, Wall, available_layers

__all__ = ["Layers", "Wall", "available_layers"]
