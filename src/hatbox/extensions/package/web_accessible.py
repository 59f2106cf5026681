"""Which files of an extension web pages and content scripts may load (`web_accessible_resources`). Pure."""

from __future__ import annotations

from collections.abc import Iterator

from hatbox.extensions.package.manifest import Manifest, WebAccessible
from hatbox.urls.globs import glob
from hatbox.urls.match_patterns import parse_url_pattern
from hatbox.urls.url import parse_url

__all__ = ["is_accessible_to_extension", "is_web_accessible"]


def is_web_accessible(manifest: Manifest, path: str, page_url: str) -> bool:
    """Whether a web page may load the file at a path of the package."""
    page = parse_url(page_url)
    if page is None:
        return False
    for entry in _entries_of(manifest, path):
        patterns = map(parse_url_pattern, entry.matches)
        if any(pattern is not None and pattern.matches(page) for pattern in patterns):
            return True
    return False


def is_accessible_to_extension(manifest: Manifest, path: str, extension_id: str) -> bool:
    """Whether a page of another extension may load the file at a path of the package."""
    entries = _entries_of(manifest, path)
    return any(extension_id in entry.extension_ids or "*" in entry.extension_ids for entry in entries)


def _entries_of(manifest: Manifest, path: str) -> Iterator[WebAccessible]:
    name = f"/{path.lstrip('/')}"
    for entry in manifest.web_accessible_resources:
        if any(glob(f"/{each.lstrip('/')}", question=False).matches(name) for each in entry.resources):
            yield entry
