"""HTTP clients that wear one identity for their life: httpx, requests, aiohttp and urllib, each in a module of its own.

A module here imports its client and is imported when that client is first asked for. None knows the profile: each is
handed the identity to wear (`wearing`), and hooks it in where a single request goes out and its answer comes back,
below redirects, so that every hop is seen. What a client would keep of cookies by itself is kept by no one.
"""
