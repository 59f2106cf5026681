"""Fixtures of the tests with a browser."""

from __future__ import annotations

from tests.engines.chromium.conftest import browser, desktop, display

__all__ = ["browser", "desktop", "display"]
