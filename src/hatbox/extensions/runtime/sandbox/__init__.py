"""The second sandbox of an extension's process (Linux), around Deno's own permissions. The code calls it the wall."""

from hatbox.extensions.runtime.sandbox.wall import Layers, Wall, available_layers

__all__ = ["Layers", "Wall", "available_layers"]
