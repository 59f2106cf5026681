"""Which documents a content script is injected into, as in Firefox 153. Pure: the engine describes the document.

The URL of a document is compared, except for documents that inherit their origin, such as about:blank: those are
compared by the URL of the document that created them, if the script includes them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import msgspec

from hatbox.extension_data.content_script import ContentScript
from hatbox.urls.globs import Glob, glob
from hatbox.urls.match_patterns import HostPermissions, parse_url_pattern
from hatbox.urls.protected_pages import is_protected_page
from hatbox.urls.url import Url, parse_url

__all__ = ["RESTRICTED_HOSTS", "FrameDocument", "is_restricted", "script_matches"]

_RESTRICTED_SCHEMES: Final = frozenset(
    {"about", "chrome", "chrome-error", "chrome-extension", "chrome-untrusted", "devtools", "moz-extension", "resource"}
)
_INHERITING: Final = frozenset({"about:blank", "about:srcdoc"})  # documents with the origin of their creator
_WITHOUT_HOST: Final = frozenset({"data", "blob"})
# The sites that Firefox protects from extensions (extensions.webextensions.restrictedDomains).
RESTRICTED_HOSTS: Final = frozenset(
    {
        "accounts-static.cdn.mozilla.net",
        "accounts.firefox.com",
        "addons.cdn.mozilla.net",
        "addons.mozilla.org",
        "api.accounts.firefox.com",
        "content.cdn.mozilla.net",
        "discovery.addons.mozilla.org",
        "oauth.accounts.firefox.com",
        "profile.accounts.firefox.com",
        "support.mozilla.org",
        "sync.services.mozilla.com",
    }
)


class FrameDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document in a frame of a tab. All members come from the engine, none from the page."""

    url: str
    """Its URL, such as https://site.example/page, about:srcdoc or data:text/html,x."""
    creator_url: str = ""
    """For about:, data: and blob: documents: the URL of the nearest ancestor or opener that is no such document, or the
    root of the document's origin if that frame has loaded another document since."""
    top_url: str
    """The URL of the main frame."""
    is_top: bool
    """Whether it is in the main frame."""
    has_opaque_origin: bool = False
    """Whether its origin is opaque: sandboxed, or a data: document."""
    cookie_store_id: str

    @property
    def origin_url(self) -> str:
        """The URL that gives the document its origin."""
        return self.creator_url if _scheme(self.url) in _WITHOUT_HOST or _is_inheriting(self.url) else self.url


def script_matches(script: ContentScript, document: FrameDocument, hosts: HostPermissions) -> bool:
    """Whether a script is injected into a document. `hosts` are the extension's host permissions."""
    if not document.is_top and not script.all_frames:
        return False
    if script.cookie_store_ids is not None and document.cookie_store_id not in script.cookie_store_ids:
        return False
    url = compared_url(
        document, about_blank=script.match_about_blank, origin_as_fallback=script.match_origin_as_fallback
    )
    if url is None:
        return False
    parsed = parse_url(url)
    if parsed is None or is_restricted(url) or not _matches_url(script, parsed):
        return False
    return not script.check_permissions or hosts.allow_url(parsed.scheme, parsed.host)


def compared_url(document: FrameDocument, *, about_blank: bool, origin_as_fallback: bool) -> str | None:
    """The URL that patterns are compared with; None if documents of this kind are not included."""
    scheme, creator_url = _scheme(document.url), document.creator_url or None
    is_inheriting = _is_inheriting(document.url)
    if scheme not in _WITHOUT_HOST and not is_inheriting:
        return document.url
    if origin_as_fallback or scheme == "blob":
        return creator_url
    return creator_url if is_inheriting and about_blank and not document.has_opaque_origin else None


def is_restricted(url: str) -> bool:
    """Whether no extension may inject anything into documents with this URL."""
    parsed = parse_url(url)
    return (
        parsed is None
        or parsed.scheme in _RESTRICTED_SCHEMES
        or parsed.host in RESTRICTED_HOSTS
        or is_protected_page(parsed)
    )


def _matches_url(script: ContentScript, url: Url) -> bool:
    if not _matches_any(script.matches, url) or _matches_any(script.exclude_matches, url):
        return False
    text = url._replace(fragment="").text
    if script.include_globs is not None and not any(_glob(each).matches(text) for each in script.include_globs):
        return False
    return not any(_glob(each).matches(text) for each in script.exclude_globs)


def _matches_any(patterns: tuple[str, ...], url: Url) -> bool:
    parsed = map(parse_url_pattern, patterns)
    return any(pattern.matches(url) for pattern in parsed if pattern is not None)


@lru_cache(maxsize=256)
def _glob(text: str) -> Glob:
    return glob(text, question=True)


def _is_inheriting(url: str) -> bool:
    return url.partition("?")[0].partition("#")[0] in _INHERITING


def _scheme(url: str) -> str:
    return url.partition(":")[0].lower()
