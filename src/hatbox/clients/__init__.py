"""HTTP clients bound to one identity: httpx, requests, aiohttp and urllib, one module each.

A module imports its client library, and is itself imported when that client is first used. It gets an identity binding
(`identity_binding`), not the profile. Cookies are added and stored per request, below redirects, so that every hop is
handled. The client's own cookie jar stays empty.
"""
