"""The manager page: a server on loopback, and its static files."""
