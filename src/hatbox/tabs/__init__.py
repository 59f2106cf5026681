"""Tabs and windows: rows of the profile, and the rules for changing them. Engines open their pages."""

from hatbox.tabs.tab_model import Tab, Window

__all__ = ["Tab", "Window"]
