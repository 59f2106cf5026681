"""Checks that the available layers of the sandbox are sufficient, and logs the missing ones."""

from __future__ import annotations

import logging
import os
from functools import cache
from typing import Final

from hatbox.errors import SandboxUnavailable
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.sandbox.wall import Layers, available_layers

__all__ = ["required_layers"]

logger = logging.getLogger("hatbox.extensions")

_VARIABLE: Final = "HATBOX_SANDBOX"
_REQUIRED: Final = "required"
_CHOICES: Final = ("", "available", _REQUIRED)


def required_layers(limits: RuntimeLimits) -> Layers:
    """The layers to start a process with. Raises SandboxUnavailable if all are required and one is missing."""
    choice = os.environ.get(_VARIABLE, "")
    if choice not in _CHOICES:
        raise SandboxUnavailable(f"{_VARIABLE} must be available or required: {choice}")
    layers = available_layers()
    if not layers.complete:
        if limits.require_sandbox or choice == _REQUIRED:
            raise SandboxUnavailable(f"the sandbox is required, and not complete: {layers}")
        _report(layers)
    return layers


@cache
def _report(layers: Layers) -> None:
    """Log once per program."""
    logger.warning("extension sandbox incomplete: %s", layers)
