"""The background scripts of an extension, in the order in which they run. Runs nothing.

A background page is only read for its scripts: the runtime has no DOM.
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
"""The page that Firefox generates for background scripts; `location` shows it."""

_REMEDY: Final = "Add the file or remove the entry."
_JAVASCRIPT: Final = frozenset(
    {"", "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript", "text/jscript"}
)


class Script(msgspec.Struct, frozen=True):
    """A script file, and whether it is a module."""

    file: str
    module: bool = False


class Background(msgspec.Struct, frozen=True):
    """The background. If it is not persistent, it is suspended while idle, and events wake it."""

    scripts: tuple[Script, ...]
    page: str = GENERATED_PAGE
    persistent: bool = False
    service_worker: bool = False
    """Whether the script expects the globals of a service worker: importScripts(), no window."""

    @property
    def worker(self) -> Literal["classic", "module"] | None:
        """The type of the service worker; None for other backgrounds."""
        if not self.service_worker:
            return None
        return "module" if self.scripts[0].module else "classic"


def read_background(keys: Mapping[str, Any] | None, package: Package, warn: Callable[[str], None]) -> Background | None:
    """Read the `background` key of the manifest.

    As in Firefox, a missing page or script is a warning, and the other scripts run. Firefox has no service workers;
    a missing one is a ManifestError.
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
        for index, file in enumerate(files):
            if not package.exists(file):
                warn(_missing(f"background.scripts[{index}]", file))
        scripts = tuple(Script(file, module) for file in files if package.exists(file))
        return Background(scripts, persistent=persistent)
    worker = file_name(keys["service_worker"])
    if not package.exists(worker):
        raise ManifestError(MANIFEST, "background.service_worker", f'"{worker}" is not in the extension', _REMEDY)
    return Background((Script(worker, module),), service_worker=True)


def page_scripts(html: str, page: str, warn: Callable[[str], None]) -> tuple[Script, ...]:
    """The scripts of a page, in the order in which a browser runs them: deferred ones last."""
    immediate: list[Script] = []
    deferred: list[Script] = []
    templates = 0
    for tag in tags(html):
        if tag.name == "template":
            templates = max(templates + (-1 if tag.ends else 1), 0)
        elif (
            tag.name == "script" and tag.text is not None and not templates
        ):  # a script element without an end tag is not run
            script, is_deferred = _script(tag, page, warn)
            if script is not None:
                (deferred if is_deferred else immediate).append(script)
    return (*immediate, *deferred)


def _script(tag: Tag, page: str, warn: Callable[[str], None]) -> tuple[Script | None, bool]:
    """The script of a tag, or None if it is not run, and whether it is deferred."""
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
    is_deferred = module or ("defer" in attributes and "async" not in attributes)
    return Script(file_name(source, page), module), is_deferred


def _missing(key: str, file: str) -> str:
    return f'{MANIFEST}: {key}: "{file}" is not in the extension. {_REMEDY}'


def _present(
    scripts: tuple[Script, ...], page: str, package: Package, warn: Callable[[str], None]
) -> tuple[Script, ...]:
    """The scripts that exist. As in a browser, missing scripts do not stop the others."""
    for script in scripts:
        if not package.exists(script.file):
            warn(f'{page}: the script "{script.file}" is not in the extension. {_REMEDY}')
    return tuple(script for script in scripts if package.exists(script.file))
