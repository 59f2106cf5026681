"""The manager page: a server on loopback, and its static files.

`server` starts it. A page is authenticated by `access_keys` and `request_checks`; its messages are numbered frames
(`page_frames`, `page_session`) that reach the API through `page_bridge`, as those of extensions do.
"""
