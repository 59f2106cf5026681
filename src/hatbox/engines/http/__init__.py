"""The embedded HTTP engine: a navigation is one HTTP request. No scripts, no browser."""
