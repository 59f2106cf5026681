"""The background of an extension: which scripts run, in which order. Runs nothing.

A background page is only read for its scripts: there is no document here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from hatbox.errors import ManifestError
from hatbox.extensions.package import MANIFEST, Package
from hatbox.extensions.urls import file_name

__all__ = ["GENERATED_PAGE", "Background", "Script", "page_scripts", "read_background"]

GENERATED_PAGE: Final = "_generated_background_page.html"
"""The name of the page that a browser makes for background scripts; `location` in them tells it."""


class Script(msgspec.Struct, frozen=True):
    """A script: the name of its file, and whether it is a module."""

    file: str
    module: bool = False


class Background(msgspec.Struct, frozen=True):
    """What runs in the background. One that is not persistent stops when it has nothing to do, and wakes on events."""

    scripts: tuple[Script, ...]
    page: str = GENERATED_PAGE
    persistent: bool = False
    service_worker: bool = False
    """Written for a service worker: it may expect importScripts() and no window."""


def read_background(keys: Mapping[str, Any] | None, package: Package, warn: Callable[[str], None]) -> Background | None:
    """The background that the manifest's key describes, whose files are all there; ManifestError if one is not."""
    if keys is None:
        return None
    persistent = bool(keys.get("persistent", False))
    module = keys["type"] == "module"
    if keys["page"]:
        page = _file(package, keys["page"], "background.page")
        html = (package.read(page) or b"").decode("utf-8", "replace")
        return Background(_present(page_scripts(html, page, warn), page, package, warn), page, persistent)
    if keys["scripts"] is not None:
        files = [_file(package, url, f"background.scripts[{at}]") for at, url in enumerate(keys["scripts"])]
        return Background(tuple(Script(file, module) for file in files), persistent=persistent)
    worker = _file(package, keys["service_worker"], "background.service_worker")
    return Background((Script(worker, module),), service_worker=True)


def page_scripts(html: str, page: str, warn: Callable[[str], None]) -> tuple[Script, ...]:
    """The scripts of a page, in the order in which a browser runs them: those that wait for the page come last."""
    from hatbox.extensions.script_finder import ScriptFinder  # few have pages, and a parser of HTML takes its time

    finder = ScriptFinder(page, warn)
    finder.feed(html)
    finder.close()
    return (*finder.at_once, *finder.deferred)


def _file(package: Package, url: str, key: str) -> str:
    name = file_name(url)
    if not package.exists(name):
        raise ManifestError(MANIFEST, key, f'"{name}" is not in the extension', "Add the file or remove the entry.")
    return name


def _present(
    scripts: tuple[Script, ...], page: str, package: Package, warn: Callable[[str], None]
) -> tuple[Script, ...]:
    """Those that are there: as in a browser, the others of a page run without one that is missing."""
    for script in scripts:
        if not package.exists(script.file):
            warn(f'{page}: the script "{script.file}" is not in the extension. Add the file or remove the entry.')
    return tuple(script for script in scripts if package.exists(script.file))
