"""Tests for extensions: a temporary profile, running extensions, a loopback site, and a clock that tests advance.

pytest loads the fixtures once Hatbox is installed: `profile`, `engine`, `first_window`, `extension`, `clock`, `site`. A
test that uses one of them may be a coroutine function; no other plugin is needed.
"""

from hatbox.testing.extensions import ExtensionUnderTest
from hatbox.testing.made_extensions import called
from hatbox.testing.site import LoopbackSite, Request

__all__ = ["ExtensionUnderTest", "LoopbackSite", "Request", "called"]
