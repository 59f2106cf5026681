"""Finds the scripts of a page. Runs nothing, and does not know which files there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html.parser import HTMLParser
from typing import Final

from hatbox.extensions.background import Script
from hatbox.extensions.urls import file_name, is_relative

__all__ = ["ScriptFinder"]

_JAVASCRIPT: Final = frozenset(
    {"", "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript", "text/jscript"}
)
_NOT_RUN_INSIDE: Final = frozenset({"template", "noscript"})


class ScriptFinder(HTMLParser):
    """Fed with a page, it has its scripts: those that run at once, and those that wait for the page."""

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
        """An element begins."""
        if tag in _NOT_RUN_INSIDE:
            self._inside.append(tag)
        elif tag == "script" and not self._inside:
            # Of an attribute that is there twice, a browser takes the first.
            self._open, self._text = {name: value or "" for name, value in reversed(attrs)}, []

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """An element that says it has no end."""
        self.handle_starttag(tag, attrs)
        if tag == "script":  # the slash means nothing in HTML: all up to </script> is inside
            self.set_cdata_mode(tag)

    def handle_data(self, data: str) -> None:
        """Text."""
        self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        """An element ends."""
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
