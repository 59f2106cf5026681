"""The static files of the page, in memory: index.html with the glyphs in it, one style sheet and two scripts.

The folder has many small files. They are joined, because each request delays the page.
The icons are those that the start page of Chromium draws too: they are below both, in `identities`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from hatbox.identity.icons_file import ICONS_FILE
from hatbox.ui.page_script import page_script

__all__ = ["FOLDER", "StaticFile", "StaticFiles"]

FOLDER: Final = Path(__file__).parent / "static"
"""The folder of the files."""

_INDEX: Final = "index.html"
_STYLES: Final = "page.css"
_EARLY_SCRIPT: Final = "early.js"
_SCRIPT: Final = "page.js"
_STYLE_LINK: Final = re.compile(r'<link rel="stylesheet" href="([^"]+)">\n')
_STYLE_LINKS: Final = re.compile(f"(?:{_STYLE_LINK.pattern})+")
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class StaticFile(NamedTuple):
    """A file and its headers."""

    content: bytes
    content_type: str
    etag: str


class StaticFiles:
    """The files of a folder, joined when they are first requested."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._contents: dict[str, Callable[[], str]] = {
            **{
                path.relative_to(folder).as_posix(): partial(path.read_text, "utf-8")
                for path in folder.rglob("*")
                if path.suffix in _TYPES
            },
            _INDEX: lambda: _index(folder),
            _STYLES: lambda: _styles(folder),
            _EARLY_SCRIPT: lambda: page_script(folder, entry=_EARLY_SCRIPT),
            _SCRIPT: lambda: page_script(folder, entry="main.js", after=_EARLY_SCRIPT),
        }
        self._files: dict[str, StaticFile] = {}

    def get(self, name: str) -> StaticFile | None:
        """A file by its name; None if it does not exist. The empty name is that of index.html."""
        name = name or _INDEX
        if name not in self._files and name in self._contents:
            content = self._contents[name]().encode()
            etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            self._files[name] = StaticFile(content, _TYPES[Path(name).suffix], etag)
        return self._files.get(name)


def _index(folder: Path) -> str:
    """index.html with the joined style sheet and script, and the glyphs as elements."""
    page = (folder / _INDEX).read_text("utf-8")
    page = _STYLE_LINKS.sub(f'<link rel="stylesheet" href="{_STYLES}">\n', page)
    page = page.replace('src="main.js"', f'src="{_SCRIPT}"')
    sprite = ICONS_FILE.read_text("utf-8").replace("<svg ", '<svg id="glyphs" hidden ', 1)
    return page.replace("<body>", f"<body>\n{sprite}", 1)


def _styles(folder: Path) -> str:
    """The style sheets of index.html, in its order."""
    page = (folder / _INDEX).read_text("utf-8")
    return "".join((folder / name).read_text("utf-8") for name in _STYLE_LINK.findall(page))
