"""Engines in background processes: starting them, their logs, and opening tabs with them."""
