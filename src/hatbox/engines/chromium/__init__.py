"""Chromium through Playwright: one browser context per identity, synchronized with the profile both ways.

`engine` implements Engine, `identity_context` is one identity in the browser, `live_page` one page.
`request_interception` runs webRequest listeners.
"""

from hatbox.engines.chromium.chromium_runner import ChromiumRunner

__all__ = ["ChromiumRunner"]
