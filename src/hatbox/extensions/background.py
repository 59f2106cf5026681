"""The background of an extension: which scripts run, in which order. Runs nothing.

A background page is only read for its scripts: there is no document here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Any, Final

import msgspec

from hatbox.errors import ManifestError
from hatbox.extensions.package import MANIFEST, Package
from hatbox.extensions.urls import file_name, is_relative

__all__ = ["GENERATED_PAGE", "Background", "Script", "page_scripts", "read_background"]

GENERATED_PAGE: Final = "_generated_background_page.html"
"""The name of the page that a browser makes for background scripts; `location` in them tells it."""

_JAVASCRIPT: Final = frozenset(
    {"", "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript", "text/jscript"}
)
_NOT_RUN_INSIDE: Final = frozenset({"template", "noscript"})


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
    finder = _ScriptFinder(page, warn)
    finder.feed(html)
    finder.close()
    return (*finder.at_once, *finder.deferred)


class _ScriptFinder(HTMLParser):
    def __init__(self, page: str, warn: Callable[[str], None]) -> None:
        super().__init__()
        self.at_once: list[Script] = []
        self.deferred: list[Script] = []
        self._page = page
        self._warn = warn
        self._inside: list[str] = []
        self._open: Mapping[str, str] | None = None
        self._text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _NOT_RUN_INSIDE:
            self._inside.append(tag)
        elif tag == "script" and not self._inside:
            # Of an attribute that is there twice, a browser takes the first.
            self._open, self._text = {name: value or "" for name, value in reversed(attrs)}, []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag == "script":  # the slash means nothing in HTML: all up to </script> is inside
            self.set_cdata_mode(tag)

    def handle_data(self, data: str) -> None:
        self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if self._inside and tag == self._inside[-1]:
            self._inside.pop()
        elif tag == "script" and self._open is not None:
            self._script(self._open)  # only now: a script without its end is not run
            self._open = None

    def _script(self, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("type", "").strip().lower()
        module = kind == "module"
        if not module and (kind not in _JAVASCRIPT or "nomodule" in attributes):
            return
        source = attributes.get("src")
        if source is None:
            self._refuse_inline()
        elif not is_relative(source) or not source.strip():
            self._warn(f'{self._page}: the script "{source}" is not in the extension. It is not run.')
        else:
            waits = module or ("defer" in attributes and "async" not in attributes)
            scripts = self.deferred if waits else self.at_once
            scripts.append(Script(file_name(source, self._page), module))

    def _refuse_inline(self) -> None:
        if "".join(self._text).strip():
            line = self.getpos()[0]
            problem = "a script inside the page is not run, because the content security policy forbids it"
            self._warn(f"{self._page}, line {line}: {problem}. Put it into a file.")


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
