"""Which documents of a tab an extension may inject scripts into: host permissions, activeTab, restricted URLs. Pure."""

from __future__ import annotations

from typing import NamedTuple

from hatbox.extension_data.content_script_matching import FrameDocument, compared_url, is_restricted
from hatbox.urls.match_patterns import HostPermissions
from hatbox.urls.url import parse_url

__all__ = ["InjectionAccess"]


class InjectionAccess(NamedTuple):
    """The access of an extension to the documents of a tab, captured when the call is made."""

    hosts: HostPermissions
    active_url: str = ""
    """The URL of the page that activeTab gives access to; empty without that permission."""
    match_about_blank: bool = False
    match_origin_as_fallback: bool = False

    def allows(self, document: FrameDocument) -> bool:
        """Whether the extension may inject scripts into a document."""
        origin_url = document.origin_url
        if not origin_url or is_restricted(origin_url):
            return False
        if self._is_active(document):
            return True
        url = compared_url(
            document, about_blank=self.match_about_blank, origin_as_fallback=self.match_origin_as_fallback
        )
        parsed = None if url is None else parse_url(url)
        return parsed is not None and self.hosts.allow_url(parsed.scheme, parsed.host)

    def _is_active(self, document: FrameDocument) -> bool:
        """Whether activeTab allows it: the page that the user chose, and its frames of the same origin.

        A sandboxed frame has an origin of its own, whatever its URL and its creator are.
        """
        if not self.active_url or _origin(document.top_url) != _origin(self.active_url):
            return False
        if document.is_top:
            return True
        return not document.has_opaque_origin and _origin(document.origin_url) == _origin(self.active_url)


def _origin(text: str) -> tuple[str, str, str] | None:
    url = parse_url(text)
    return None if url is None else (url.scheme, url.host, url.port_suffix)
