"""Chromium through Playwright: one browser context per identity, cookies synchronized in both directions."""
