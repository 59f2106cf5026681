"""What a test needs besides its own process, and whether it is quick. Knows no test by its name.

A test that needs a browser, a server or another process is marked where it asks for it: by the fixture (`starts`), by a
decorator such as `with_browser`, or by a marker on the test or on its module. The quick run has the tests without such
a marker, and the `smoke` tests.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest

__all__ = ["NEEDS", "add_markers", "is_left_out", "is_quick", "starts"]

F = TypeVar("F", bound=Callable[..., Any])

NEEDS: Final = ("browser", "server", "deno", "process", "slow")
"""The markers of tests that are not in the quick run. pyproject.toml describes them."""

_PUBLIC_FIXTURES: Final = {"extension": "deno"}  # of the pytest plugin, which knows nothing of these tests
_MODULE_MARKER: Final = re.compile(rf"^pytestmark = \[?(pytest\.mark\.({'|'.join(NEEDS)})|needs_deno)\b", re.MULTILINE)


def starts(need: str) -> Callable[[F], F]:
    """Decorates the function of a fixture that starts a browser, a server or a process: `@starts("server")`."""
    assert need in NEEDS, f"{need}: the markers are {', '.join(NEEDS)}"

    def mark(function: F) -> F:
        function.__dict__["starts"] = need
        return function

    return mark


def add_markers(item: pytest.Item) -> None:
    """Mark a test by its fixtures."""
    info = getattr(item, "_fixtureinfo", None)
    for name, definitions in (info.name2fixturedefs if info else {}).items():
        for definition in definitions:
            if need := getattr(definition.func, "starts", None) or _PUBLIC_FIXTURES.get(name):
                item.add_marker(need)
    if item.get_closest_marker("deno") and importlib.util.find_spec("deno") is None:
        item.add_marker(pytest.mark.skip(reason="the deno wheel is not installed: pip install 'deno>=2.9,<3'"))


def is_quick(item: pytest.Item) -> bool:
    """Whether a test is in the quick run."""
    markers = {marker.name for marker in item.iter_markers()}
    return "smoke" in markers or markers.isdisjoint(NEEDS)


def is_left_out(module: Path) -> bool:
    """Whether the quick run need not even import a module of tests: all of them are marked."""
    source = module.read_text()
    return bool(_MODULE_MARKER.search(source)) and "pytest.mark.smoke" not in source
