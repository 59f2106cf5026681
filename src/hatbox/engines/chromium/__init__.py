"""Chromium through Playwright: one browser context per identity, synchronized with the profile in both directions.

`engine` implements Engine, `identity_context` is one identity in the browser, `live_page` one page.
`request_interception` runs webRequest listeners. This module imports no Playwright, which is an extra.
"""
