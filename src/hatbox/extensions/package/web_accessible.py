"""Which files of an extension web pages and content scripts may load (`web_accessible_resources`). Pure."""

from __future__ import annotations

from hatbox.extensions.package.manifest import Manifest
from hatbox.urls.globs import glob
from hatbox.urls.match_patterns import parse_url_pattern
from hatbox.urls.url import parse_url

__all__ = ["is_web_accessible"]


def is_web_accessible(manifest: Manifest, path: str, page_url: str) -> bool:
    """Whether a page may load the file at a path of the package."""
    page = parse_url(page_url)
    if page is None:
        return False
    name = f"/{path.lstrip('/')}"
    for entry in manifest.web_accessible_resources:
        if any(glob(f"/{each.lstrip('/')}", question=False).matches(name) for each in entry.resources):
            patterns = map(parse_url_pattern, entry.matches)
            if any(pattern is not None and pattern.matches(page) for pattern in patterns):
                return True
    return False
