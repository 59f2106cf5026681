"""The cookie engine: one jar for each identity, with a browser's rules. Pure, and usable alone.

    from hatbox.cookies import Jar

    jar = Jar()
    jar.store("sid=1; Secure; Path=/", "https://site.example/login", now=time.time())
    jar.header("https://site.example/", now=time.time())        # "sid=1"

RFC 6265bis, and what both browsers do where they agree against it. Nothing here reads a clock, a file or the network.
"""

from hatbox.cookies.cookie import ChangeCause, Cookie, CookieKey, JarChange, Partition, SameSite
from hatbox.cookies.dates import parse_date
from hatbox.cookies.eviction import JarLimits
from hatbox.cookies.exclusion_reasons import ExclusionReason
from hatbox.cookies.jar import Jar
from hatbox.cookies.parse import SetCookie, as_octets, parse_set_cookie
from hatbox.cookies.public_suffixes import PublicSuffixes
from hatbox.cookies.request_urls import RequestUrl, parse_request_url, request_url_from
from hatbox.cookies.samesite import RequestContext
from hatbox.errors import CookieRejected

__all__ = [
    "ChangeCause",
    "Cookie",
    "CookieKey",
    "CookieRejected",
    "ExclusionReason",
    "Jar",
    "JarChange",
    "JarLimits",
    "Partition",
    "PublicSuffixes",
    "RequestContext",
    "RequestUrl",
    "SameSite",
    "SetCookie",
    "as_octets",
    "parse_date",
    "parse_request_url",
    "parse_set_cookie",
    "request_url_from",
]
