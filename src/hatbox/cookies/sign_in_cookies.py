"""Which cookies look like a sign-in: by name and flags, without the value. Pure.

The page says "Signed in since" only where such a cookie exists. It is a guess: an HttpOnly cookie, or one whose
name is that of a session or a token. Names that servers also give to visitors do not count.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

__all__ = ["is_sign_in_cookie", "looks_like_sign_in"]

_BEFORE: Final = r"(?:^|[^a-z])"
_AFTER: Final = r"(?:$|[^a-z])"

_OF_VISITORS: Final = re.compile(
    "|".join(
        (
            # protection of forms
            r"csrf|xsrf|anti-?forgery|requestverification",
            # consent
            r"consent|gdpr|ccpa|optanon|cookie[-_.]?(?:banner|policy|notice|law|pref|accept|yes|bot|info)",
            # language, place and look
            rf"{_BEFORE}(?:lang|language|locale|i18n|hl|country|region|currency|timezone|tz|theme|darkmode){_AFTER}",
            # visitors without an account
            rf"{_BEFORE}(?:anon|anonymous|guest|visitor|visit|device|browser)(?:[-_.]?(?:id|token|uuid|session))?{_AFTER}",
            r"anonymous|guest|visitor",
            # analytics, advertising and experiments
            r"^_{1,2}(?:ga|gid|gat|gac|gcl|gads|gpi|utm|fbp|fbc|hj|hs|pk|clck|clsk|uet|tt|pin|scid|mkto|qca|vis)",
            r"^(?:ajs|amp|amplitude|mp|optimizely|hubspot|_?pendo|intercom-id|muid|nid$|ide$|1p_jar|dsid$|uuid2|anj|fr$)",
            rf"analytics|tracking|telemetry|{_BEFORE}(?:ab|abtest|experiment|variant|bucket|split|campaign|utm|ref)"
            rf"{_AFTER}",
            # load balancers, caches and bot detection
            r"^(?:_{0,2}cf|awsalb|aws-waf|bigip|arraffinity|tipmix|incap|visid|nlbi|datadome|_abck|bm_|ak_bmsc|reese84)",
            rf"^(?:route|lb|serverid|srv|node|backend|dtcookie|rxvt|sticky|haproxy){_AFTER}",
            r"^(?:__gsas|has_js|test_?cookie|cookie_?test|flash|redirect|return_?to|last_?visit)",
        )
    ),
    re.IGNORECASE,
)
_OF_SESSIONS: Final = re.compile(
    "|".join(
        (
            r"sess(?:ion)?(?:[-_.]?(?:id|key|token|hash|data))?(?:$|[^a-z])",  # PHPSESSID, user_session
            r"sess(?:ion)?id",
            rf"(?:^|[^a-z])[a-z]{{0,4}}sid{_AFTER}",  # connect.sid, HSID, SAPISID
            r"auth(?!or)",
            r"token|jwt|sso|saml|oidc",
            r"log(?:ged)?[-_.]?in|sign(?:ed)?[-_.]?in",
            r"remember|keep[-_.]?alive|refresh",
            rf"{_BEFORE}(?:user|account|member|customer|login)(?:[-_.]?(?:id|name|key|hash|session))?{_AFTER}",
            r"credential|identity",
        )
    ),
    re.IGNORECASE,
)
_MAX_NAME: Final = 256  # characters: longer names are not those of sessions, and take time
_REMEMBERED: Final = 4_096  # names


def is_sign_in_cookie(name: str, *, http_only: bool, expires: float | None, now: float) -> bool:
    """Whether a cookie looks like a sign-in that is still valid."""
    return (expires is None or expires > now) and looks_like_sign_in(name, http_only)


@lru_cache(maxsize=_REMEMBERED)
def looks_like_sign_in(name: str, http_only: bool) -> bool:
    """Whether the name and the flag are those of a sign-in, whatever its expiry."""
    if len(name) > _MAX_NAME or _OF_VISITORS.search(name):
        return False
    return http_only or _OF_SESSIONS.search(name) is not None
