"""Engines: where the pages of tabs live. The profile holds what should be; an engine makes it so."""
