"""For the tests of extensions: a throw-away profile, extensions in it, a site on loopback, and time that can be moved.

pytest finds the fixtures by itself once Hatbox is installed: `profile`, `engine`, `extension`, `clock`, `site`. A test
that uses one of them may be a coroutine function, without any other plugin.
"""

from hatbox.testing.extensions import ExtensionUnderTest
from hatbox.testing.site import LoopbackSite, Request

__all__ = ["ExtensionUnderTest", "LoopbackSite", "Request"]
