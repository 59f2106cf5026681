"""Bundles for hypothesis: cookies that a browser could have, in few hosts so that they meet, and their identities."""

from __future__ import annotations

import time

from hypothesis import settings
from hypothesis import strategies as st

from hatbox.cookies import Cookie, Partition, SameSite
from hatbox.cookies.partitions import canonical_partition
from hatbox.formats import Bundle, BundleEntry, IdentityAttributes
from hatbox.identity import palette
from hatbox.javascript.text import is_blank

timeless = settings(deadline=None, max_examples=60)

NOW = float(int(time.time()))

_octets = st.characters(min_codepoint=0x21, max_codepoint=0xFF, exclude_characters=';=\x7f"')
names = st.text(_octets, min_size=1, max_size=8).filter(lambda name: not name.startswith("__"))
values = st.one_of(
    st.text(_octets, max_size=8), st.sampled_from(["", "a b", "a\tb", "x=y", '"q"', "\x85", "\xe9", "Ã©"])
)
times = st.integers(1, int(NOW)).map(float)

cookies = st.builds(
    Cookie,
    name=names,
    value=values,
    domain=st.sampled_from(["site.example", "a.site.example", "xn--bcher-kva.example", "127.0.0.1", "[::1]"]),
    path=st.sampled_from(["/", "/x", "/x/y", "/\xe9"]),
    secure=st.booleans(),
    http_only=st.booleans(),
    expires=st.one_of(st.none(), st.integers(1, 10**8).map(lambda after: NOW + 86_400 + after / 8)),
    created=times,
    last_access=times,
)


@st.composite
def holdings_cookies(draw: st.DrawFn) -> list[Cookie]:
    """Cookies of one store, oldest first, no two with one key."""
    drawn: dict[object, Cookie] = {}
    for place, cookie in enumerate(draw(st.lists(cookies, max_size=6)), 1):
        cookie.host_only = cookie.domain.startswith(("127", "[")) or draw(st.booleans())
        restricted = [SameSite.UNSPECIFIED, SameSite.LAX, SameSite.STRICT]
        cookie.same_site = draw(st.sampled_from([*restricted, SameSite.NONE] if cookie.secure else restricted))
        if cookie.secure:
            sites = [
                "https://top.example",
                "http://top.example:8080",
                "https://site.example",
                "https://[::1]",
                "https://[::1]:80",
            ]
            partition = draw(st.one_of(st.none(), st.builds(Partition, st.sampled_from(sites), st.booleans())))
            cookie.partition = partition and canonical_partition(partition, cookie.domain)
        cookie.set_creation(place, place / 1_000_000)
        drawn.setdefault(cookie.key, cookie)
    return list(drawn.values())


labels = st.builds(
    IdentityAttributes,
    name=st.one_of(st.sampled_from(["Work", "Personal", "Odd \x00 \u202e name"]), st.text(max_size=5)).filter(
        lambda name: not is_blank(name)
    ),
    icon=st.sampled_from([each.icon for each in palette.ICONS]),
    color=st.sampled_from([each.color for each in palette.COLORS]),
    hidden=st.booleans(),
)


@st.composite
def bundles(draw: st.DrawFn) -> Bundle:
    """Several identities with cookies, perhaps looking the same, and perhaps the cookies of none."""
    drawn = [BundleEntry(label, draw(holdings_cookies())) for label in draw(st.lists(labels, max_size=3))]
    if draw(st.booleans()):
        drawn.insert(0, BundleEntry(None, draw(holdings_cookies())))
    return Bundle(drawn, ordered=True)
