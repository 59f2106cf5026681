"""Runs modules of the manager page that need no page in Deno."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hatbox.ui
from tests.in_deno import value_in_deno

__all__ = ["value_of"]


def value_of(module: str, names: str, body: str) -> Any:
    """The value of the body of an async function, which uses these names of a module."""
    address = (Path(hatbox.ui.__file__).parent / "static" / module).as_uri()
    return value_in_deno(f'import {{{names}}} from "{address}";', body)
