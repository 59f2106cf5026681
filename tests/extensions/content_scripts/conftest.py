from __future__ import annotations

from tests.engines.chromium.conftest import browser

__all__ = ["browser"]
