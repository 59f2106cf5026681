"""Chromium, through Playwright: one browser context for each identity, kept the same as the profile both ways.

`engine` is the Engine, `contexts` an identity in the browser, `pages` a tab in it; each other module does one thing.
"""

from hatbox.engines.chromium.chromium_runner import ChromiumRunner

__all__ = ["ChromiumRunner"]
