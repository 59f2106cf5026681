"""Checks that the available layers of the sandbox are sufficient, and logs the missing ones."""

from __future__ import annotations

import logging
import os
from functools import cache
from typing import Final

from hatbox.errors import SandboxUnavailable
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.sandbox.wall import Layers, available_layers

__all__ = ["is_sandbox_required", "required_layers"]

logger = logging.getLogger("hatbox.extensions")

_VARIABLE: Final = "HATBOX_SANDBOX"
_REQUIRED: Final = "required"
_CHOICES: Final = ("", "available", _REQUIRED)


def required_layers(limits: RuntimeLimits) -> Layers:
    """The layers to start a process with. Raises SandboxUnavailable if all are required and one is missing."""
    is_required = is_sandbox_required(limits)
    layers = available_layers()
    if not layers.complete:
        if is_required:
            raise SandboxUnavailable(f"the sandbox is required, and not complete: {layers}")
        _report(layers)
    return layers


def is_sandbox_required(limits: RuntimeLimits) -> bool:
    """Whether every layer is required. Raises SandboxUnavailable if the environment variable has no valid value."""
    choice = os.environ.get(_VARIABLE, "")
    if choice not in _CHOICES:
        raise SandboxUnavailable(f"{_VARIABLE} must be available or required: {choice}")
    return limits.require_sandbox or choice == _REQUIRED


@cache
def _report(layers: Layers) -> None:
    """Log once per program."""
    logger.warning("extension sandbox incomplete: %s", layers)
