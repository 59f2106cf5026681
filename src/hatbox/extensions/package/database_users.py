"""Whether the background and the pages of an extension both use IndexedDB. Reads their scripts; runs nothing.

Scripts that a script imports by a fixed name are read too. A script that mentions `indexedDB` counts as a user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from hatbox.extensions.package.background import Background, page_scripts
from hatbox.extensions.package.extension_urls import file_name, is_relative
from hatbox.extensions.package.package_files import Package

__all__ = ["shares_databases"]

_MAX_BYTES: Final = 32 << 20  # of the scripts of the background, and of those of pages
_NAME: Final = re.compile(rb"\bindexedDB\b")
_IMPORT: Final = re.compile(rb"""\b(?:import|from|importScripts)\s*+(?:\(\s*+)?["']([^"'\n]{1,1000})["']""")


def shares_databases(package: Package, background: Background) -> bool:
    """Whether scripts of the background and of another page both use IndexedDB. May take long: call it in a thread."""
    if not _uses_databases(package, (script.file for script in background.scripts)):
        return False
    pages = (name for name in package.names() if name.endswith((".html", ".htm")) and name != background.page)
    return _uses_databases(package, (script for page in pages for script in _scripts_of(package, page)))


def _scripts_of(package: Package, page: str) -> list[str]:
    html = (package.read(page) or b"").decode("utf-8", "replace")
    return [script.file for script in page_scripts(html, page, lambda _: None)]


def _uses_databases(package: Package, scripts: Iterable[str]) -> bool:
    """Whether one of the scripts, or a script that they import, mentions indexedDB. Reads up to _MAX_BYTES."""
    unread, known, left = list(scripts), set[str](), _MAX_BYTES
    while unread and left > 0:
        script = unread.pop()
        if script in known:
            continue
        known.add(script)
        source = (package.read(script) or b"")[:left]
        left -= len(source)
        if _NAME.search(source):
            return True
        imported = (match[1].decode("utf-8", "replace") for match in _IMPORT.finditer(source))
        unread.extend(file_name(url, script) for url in imported if is_relative(url))
    return False
