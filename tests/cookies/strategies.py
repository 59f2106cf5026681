"""Cookies, requests and lines for hypothesis: few names and hosts, so that they meet."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

from hatbox.cookies import PublicSuffixes

timeless = settings(deadline=None)  # a busy machine is no failure

SUFFIXES = {"test", "co.test", "localhost"}


class FewSuffixes:
    """A list that the model can be handed as well."""

    def publicsuffix(self, domain: str) -> str | None:
        labels = domain.split(".")
        names = (".".join(labels[first:]) for first in range(len(labels)))
        return next((name for name in names if name in SUFFIXES), None)


FEW = PublicSuffixes(FewSuffixes())

hosts = st.sampled_from(
    ["site.test", "a.site.test", "b.a.site.test", "xsite.test", "one.co.test", "co.test", "localhost", "x.localhost"]
)
paths = st.sampled_from(["/", "/x", "/x/", "/x/y", "/xy", "//"])
schemes = st.sampled_from(["http", "https"])
sites = st.sampled_from([None, "https://site.test", "http://site.test", "https://one.co.test", "http://localhost"])
methods = st.sampled_from(["GET", "POST"])

_names = st.sampled_from(
    ["a", "b", "", "__Secure-a", "__HOST-a", "__Http-a", "__host-HTTP-a", "__secure", " a\t", "a b"]
)
_values = st.sampled_from(["1", "2", "", "=", "x=y", "__Host-a", '"q"', "\x00", " v ", "\t", "é"])
_attributes = st.sampled_from(
    [
        *("Secure", "secure", "HttpOnly", " httponly = x ", "Path", "Path=", "Path=/", "path=/x", "PATH=/x/", "Path=x"),
        *("Domain=", "Domain=site.test", "Domain=.SITE.test", "Domain=a.site.test", "Domain=co.test", "Domain=test"),
        *("Domain=localhost", "Domain=é", "SameSite=None", "SameSite=lax", "SameSite=Strict", "SameSite=odd"),
        *("Max-Age=0", "Max-Age=-1", "Max-Age=5", "Max-Age=200", "Max-Age=1x", "Max-Age=", "Max-Age=99999999999"),
        *("", "=", "unknown=1", "Path=/" + "x" * 1024, "Domain=\x01"),
    ]
)

lines = st.builds(
    lambda name, equals, value, attributes: ";".join([name + equals + value, *attributes]),
    _names,
    st.sampled_from(["=", "=", "=", ""]),
    _values,
    st.lists(_attributes, max_size=5),
)
