"""Tabs and windows: rows of the profile, and the rules for changing them. An engine makes what they say so."""

from hatbox.tabs.tab_model import Tab, Window

__all__ = ["Tab", "Window"]
