"""Content scripts in the pages of the Chromium engine."""
