"""Where the background of an extension runs: in an extension process (Deno), or in a hidden document of Chromium."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

from hatbox.errors import ExtensionError, SandboxUnavailable
from hatbox.extensions.package.background import GENERATED_PAGE, Background, page_scripts
from hatbox.extensions.package.extension_urls import file_name, is_relative
from hatbox.extensions.package.package_files import Package
from hatbox.extensions.runtime.limits import RuntimeLimits
from hatbox.extensions.runtime.sandbox.required import is_sandbox_required

__all__ = ["BACKGROUND_PLACES", "BackgroundPlace", "runs_in_chromium", "shares_databases", "without_document"]

BackgroundPlace: TypeAlias = Literal["deno", "chromium"]

BACKGROUND_PLACES: Final[tuple[BackgroundPlace, ...]] = ("deno", "chromium")
"""The places that a user can select."""

_MAX_SCRIPT_BYTES: Final = 32 << 20  # of the scripts of the background, and of those of pages
_INDEXED_DB: Final = re.compile(rb"\bindexedDB\b")
_IMPORT: Final = re.compile(rb"""\b(?:import|from|importScripts)\s*+(?:\(\s*+)?["']([^"'\n]{1,1000})["']""")


def runs_in_chromium(
    package: Package,
    background: Background,
    place: BackgroundPlace | None,
    limits: RuntimeLimits,
    *,
    has_browser: bool,
) -> bool:
    """Whether a background runs in Chromium: if the user selected it, or the browser is running and it needs it.

    A background page needs it, as does a background that shares databases with other pages of its extension.

    Raises ExtensionError for a service worker that the user wants in Chromium, and SandboxUnavailable if the sandbox of
    extension processes is required.
    """
    if is_sandbox_required(limits):
        if place == "chromium":
            raise SandboxUnavailable("the sandbox is required, and a background in Chromium does not run in it")
        return False
    if place == "chromium" and background.service_worker:
        raise ExtensionError(
            "background.service_worker has no document, so it does not run in Chromium. Omit the background option."
        )
    if place is not None:
        return place == "chromium"
    if not has_browser or background.service_worker:
        return False
    return background.page != GENERATED_PAGE or shares_databases(package, background)


def without_document(background: Background, place: BackgroundPlace | None) -> str | None:
    """The message for a background page that runs without a document; None for other backgrounds."""
    if place is not None or background.page == GENERATED_PAGE:
        return None
    return (
        f"{background.page}: its scripts run without a document, because the Chromium engine does not run in this "
        "program. For a document: hatbox run EXTENSION --engine chromium"
    )


def shares_databases(package: Package, background: Background) -> bool:
    """Whether scripts of the background and of another page both use IndexedDB. May take long: call it in a thread.

    Scripts that a script imports by a fixed name are read too. A script that mentions `indexedDB` counts as a user.
    """
    if not _uses_databases(package, (script.file for script in background.scripts)):
        return False
    pages = (name for name in package.names() if name.endswith((".html", ".htm")) and name != background.page)
    return _uses_databases(package, (script for page in pages for script in _scripts_of(package, page)))


def _scripts_of(package: Package, page: str) -> list[str]:
    html = (package.read(page) or b"").decode("utf-8", "replace")
    return [script.file for script in page_scripts(html, page, lambda _: None)]


def _uses_databases(package: Package, scripts: Iterable[str]) -> bool:
    """Whether one of the scripts, or a script that they import, mentions indexedDB. Reads up to _MAX_SCRIPT_BYTES."""
    unread, known, left = list(scripts), set[str](), _MAX_SCRIPT_BYTES
    while unread and left > 0:
        script = unread.pop()
        if script in known:
            continue
        known.add(script)
        source = (package.read(script) or b"")[:left]
        left -= len(source)
        if _INDEXED_DB.search(source):
            return True
        imported = (match[1].decode("utf-8", "replace") for match in _IMPORT.finditer(source))
        unread.extend(file_name(url, script) for url in imported if is_relative(url))
    return False
