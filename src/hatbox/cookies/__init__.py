"""The cookie engine: one jar for each identity, with a browser's rules. Pure, and usable alone.

    from hatbox.cookies import Jar

    jar = Jar()
    jar.store("sid=1; Secure; Path=/", "https://site.example/login", now=time.time())
    jar.header("https://site.example/", now=time.time())        # "sid=1"

RFC 6265bis, and what both browsers do where they agree against it. Nothing here reads a clock, a file or the network.
"""

from hatbox.cookies.cookie import Cause, Change, Cookie, Key, Partition, SameSite
from hatbox.cookies.dates import parse_date
from hatbox.cookies.eviction import Limits
from hatbox.cookies.exclusion_reasons import Reason
from hatbox.cookies.jar import Jar
from hatbox.cookies.parse import SetCookie, as_octets, parse_set_cookie
from hatbox.cookies.public_suffixes import Suffixes
from hatbox.cookies.request_urls import Target, target_from, target_of
from hatbox.cookies.samesite import Context
from hatbox.errors import CookieRefused

__all__ = [
    "Cause",
    "Change",
    "Context",
    "Cookie",
    "CookieRefused",
    "Jar",
    "Key",
    "Limits",
    "Partition",
    "Reason",
    "SameSite",
    "SetCookie",
    "Suffixes",
    "Target",
    "as_octets",
    "parse_date",
    "parse_set_cookie",
    "target_from",
    "target_of",
]
