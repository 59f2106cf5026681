"""The background of an extension: which scripts run, in which order. Runs nothing.

A background page is only read for its scripts: there is no document here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

import msgspec

from hatbox.errors import ManifestError
from hatbox.extensions.package.extension_urls import file_name, is_relative
from hatbox.extensions.package.html_tags import Tag, tags
from hatbox.extensions.package.package_files import MANIFEST, Package

__all__ = ["GENERATED_PAGE", "Background", "Script", "page_scripts", "read_background"]

GENERATED_PAGE: Final = "_generated_background_page.html"
"""The name of the page that a browser makes for background scripts; `location` in them tells it."""

_REMEDY: Final = "Add the file or remove the entry."
_JAVASCRIPT: Final = frozenset(
    {"", "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript", "text/jscript"}
)


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

    @property
    def worker(self) -> Literal["classic", "module"] | None:
        """Of which kind a service worker is; None if it is none."""
        if not self.service_worker:
            return None
        return "module" if self.scripts[0].module else "classic"


def read_background(keys: Mapping[str, Any] | None, package: Package, warn: Callable[[str], None]) -> Background | None:
    """The background that the manifest's key describes.

    As in Firefox, a page or a script that is missing is left out, with a warning: the others run. Firefox has no
    service workers, and one that is missing is a ManifestError.
    """
    if keys is None:
        return None
    persistent = bool(keys.get("persistent", False))
    module = keys["type"] == "module"
    if keys["page"]:
        page = file_name(keys["page"])
        if not package.exists(page):
            warn(_missing("background.page", page))
            return Background((), page, persistent)
        html = (package.read(page) or b"").decode("utf-8", "replace")
        return Background(_present(page_scripts(html, page, warn), page, package, warn), page, persistent)
    if keys["scripts"] is not None:
        files = [file_name(url) for url in keys["scripts"]]
        for at, file in enumerate(files):
            if not package.exists(file):
                warn(_missing(f"background.scripts[{at}]", file))
        scripts = tuple(Script(file, module) for file in files if package.exists(file))
        return Background(scripts, persistent=persistent)
    worker = file_name(keys["service_worker"])
    if not package.exists(worker):
        raise ManifestError(MANIFEST, "background.service_worker", f'"{worker}" is not in the extension', _REMEDY)
    return Background((Script(worker, module),), service_worker=True)


def page_scripts(html: str, page: str, warn: Callable[[str], None]) -> tuple[Script, ...]:
    """The scripts of a page, in the order in which a browser runs them: those that wait for the page come last."""
    at_once: list[Script] = []
    deferred: list[Script] = []
    templates = 0
    for tag in tags(html):
        if tag.name == "template":
            templates = max(templates + (-1 if tag.ends else 1), 0)
        elif tag.name == "script" and tag.text is not None and not templates:  # one without its end is not run
            script, waits = _script(tag, page, warn)
            if script is not None:
                (deferred if waits else at_once).append(script)
    return (*at_once, *deferred)


def _script(tag: Tag, page: str, warn: Callable[[str], None]) -> tuple[Script | None, bool]:
    """The script that a tag names, if it is one that is run, and whether it waits for the page."""
    attributes = tag.attributes
    kind = attributes.get("type", "").strip().lower()
    module = kind == "module"
    source = attributes.get("src")
    if not module and (kind not in _JAVASCRIPT or "nomodule" in attributes):
        return None, False
    if source is None:
        if (tag.text or "").strip():
            problem = "a script inside the page is not run, because the content security policy forbids it"
            warn(f"{page}, line {tag.line}: {problem}. Put it into a file.")
        return None, False
    if not is_relative(source) or not source.strip():
        warn(f'{page}: the script "{source}" is not in the extension. It is not run.')
        return None, False
    waits = module or ("defer" in attributes and "async" not in attributes)
    return Script(file_name(source, page), module), waits


def _missing(key: str, file: str) -> str:
    return f'{MANIFEST}: {key}: "{file}" is not in the extension. {_REMEDY}'


def _present(
    scripts: tuple[Script, ...], page: str, package: Package, warn: Callable[[str], None]
) -> tuple[Script, ...]:
    """Those that are there: as in a browser, the others of a page run without one that is missing."""
    for script in scripts:
        if not package.exists(script.file):
            warn(f'{page}: the script "{script.file}" is not in the extension. {_REMEDY}')
    return tuple(script for script in scripts if package.exists(script.file))
