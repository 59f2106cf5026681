"""The files of a package as Chromium gets them: content type, content security policy, and changes to their text.

Scripts are unchanged. In style sheets, messages and URLs are replaced. A document gets an import map if scripts of the
package may import modules by the URLs of runtime.getURL().
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

from hatbox.errors import HatboxError
from hatbox.extensions.package.extension_urls import file_name
from hatbox.extensions.package.manifest import Manifest
from hatbox.extensions.package.package_files import Package
from hatbox.extensions.pages.page_policy import page_policies, script_hashes
from hatbox.extensions.pages.page_urls import ICON_BASE, RESERVED_FOLDER, PageUrls
from hatbox.identity.glyphs import glyph_file

__all__ = ["BLANK_PAGE", "PageFiles", "PageResponse", "content_type"]

BLANK_PAGE: Final = f"{RESERVED_FOLDER}blank.html"
"""An empty document of the origin of the extension."""

_TYPES: Final = {
    ".css": "text/css",
    ".gif": "image/gif",
    ".htm": "text/html",
    ".html": "text/html",
    ".ico": "image/x-icon",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript",
    ".json": "application/json",
    ".jsm": "text/javascript",
    ".map": "application/json",
    ".md": "text/plain",
    ".mjs": "text/javascript",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".ogg": "audio/ogg",
    ".otf": "font/otf",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".ttf": "font/ttf",
    ".txt": "text/plain",
    ".wasm": "application/wasm",
    ".wav": "audio/wav",
    ".webm": "video/webm",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
    ".xhtml": "application/xhtml+xml",
    ".xml": "application/xml",
}
_SCRIPTS: Final = (".js", ".mjs", ".jsm")
_DYNAMIC_IMPORT: Final = re.compile(rb"\bimport\s*\(")
_MAX_SEARCHED_BYTES: Final = 32 << 20
_MAX_MAPPED: Final = 5000
# Firefox lets images of extensions use the color of the document that shows them. Chromium draws nothing there.
_CONTEXT_PAINT: Final = re.compile(rb"\bcontext-(?:fill|stroke)\b(?!-)")
_PAINT: Final = b"#5b5b66"
_INLINE: Final = f"{RESERVED_FOLDER}inline/"
_INLINE_SCRIPT: Final = re.compile(rb"<script\b([^>]*)>(.*?)</script\s*>", re.IGNORECASE | re.DOTALL)
_HASHES: Final = ("sha256", "sha384", "sha512")
_DOCTYPE: Final = re.compile(r"\s*(?:<!--.*?-->\s*)*<!doctype[^>]*>", re.IGNORECASE | re.DOTALL)

_ICON_FOLDER = f"{RESERVED_FOLDER}usercontext-content/"
"""The same icons below the origin of the pages, for CSS masks, which other schemes may not supply."""

_ICON_COLOR = "#5b5b66"


def content_type(name: str) -> str:
    """The content type of a file of a package, from its name."""
    return _TYPES.get(posixpath.splitext(name)[1].lower(), "application/octet-stream")


class PageResponse(NamedTuple):
    """A response for Chromium."""

    status: int
    headers: Sequence[tuple[str, str]]
    body: bytes


class PageFiles:
    """The files of one package. Reading may take long: call `response` in a thread."""

    def __init__(self, package: Package, manifest: Manifest) -> None:
        self.urls = PageUrls(manifest.uuid)
        self._package = package
        self._manifest = manifest
        self._inline_scripts: dict[str, bytes] = {}

    def response(self, url: str) -> PageResponse | None:
        """The response to a request for a URL of the extension or of an icon; None if it does not exist."""
        path = self.urls.path_of(url)
        name = url if path is None else file_name(path)
        if (icon := _identity_icon(name)) is not None:
            return self._answer("image/svg+xml", icon)
        if path is None:
            return None
        body = self._read(name)
        if body is None:
            return None
        kind = content_type(name)
        if kind == "text/css":
            body = self._style_sheet(body)
        elif kind == "image/svg+xml":
            body = _CONTEXT_PAINT.sub(_PAINT, body)
        elif kind == "text/html" and name != BLANK_PAGE:
            return self.document(body)
        return self._answer(kind, body)

    def _read(self, name: str) -> bytes | None:
        if name == BLANK_PAGE:
            return b"<!doctype html>"
        return self._inline_scripts.get(name) if name.startswith(_INLINE) else self._package.read(name)

    def _answer(self, kind: str, body: bytes, script_hash: str | None = None) -> PageResponse:
        is_text = kind.startswith("text/") or kind.endswith(("json", "xml"))
        policies = page_policies(self._manifest.manifest_version, self._manifest.content_security_policy, script_hash)
        headers = [
            ("content-type", f"{kind}; charset=utf-8" if is_text else kind),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-cache"),
            ("content-security-policy", ", ".join(policies)),
        ]
        return PageResponse(200, headers, body)

    def _style_sheet(self, body: bytes) -> bytes:
        """Replace messages, as Firefox does, and URLs that Chromium does not load for fonts and masks."""
        text = body.decode("utf-8", "surrogateescape")
        if "__MSG_" in text:
            try:
                text = self._manifest.locales.localize(text)
            except HatboxError:  # the result is too long
                return body
        text = text.replace(self.urls.extension_origin, self.urls.origin)
        return text.replace(ICON_BASE, f"{self.urls.origin}/{_ICON_FOLDER}").encode("utf-8", "surrogateescape")

    def document(self, body: bytes) -> PageResponse:
        """The response with an HTML document."""
        hashes = script_hashes(self._manifest.content_security_policy)
        if hashes:
            body = _INLINE_SCRIPT.sub(lambda found: self._as_file(found, hashes), body)
        if (found := self._import_map) is None:
            return self._answer("text/html", body)
        text = body.decode("utf-8-sig", "surrogateescape")
        at = doctype.end() if (doctype := _DOCTYPE.match(text)) else 0
        text = f'{text[:at]}<script type="importmap">{found}</script>{text[at:]}'
        digest = base64.b64encode(hashlib.sha256(found.encode()).digest()).decode("ascii")
        return self._answer("text/html", text.encode("utf-8", "surrogateescape"), f"sha256-{digest}")

    def _as_file(self, script: re.Match[bytes], hashes: frozenset[str]) -> bytes:
        """An inline script that the policy allows by its hash, as a file (see page_policy.py)."""
        attributes, source = script.groups()
        if b"src" in attributes.lower():
            return script[0]
        for algorithm in _HASHES:
            digest = hashlib.new(algorithm, source).digest()
            if f"{algorithm}-{base64.b64encode(digest).decode('ascii')}" in hashes:
                name = f"{_INLINE}{digest.hex()}.js"
                self._inline_scripts[name] = source
                return b'<script%b src="/%b"></script>' % (attributes, name.encode())
        return script[0]

    @cached_property
    def _import_map(self) -> str | None:
        """Maps the moz-extension:// URL of each script, because Chromium does not import modules of that scheme."""
        scripts = [name for name in self._package.names() if name.endswith(_SCRIPTS)]
        if not self._may_import_by_url(scripts):
            return None
        moz, origin = self.urls.extension_origin, self.urls.origin
        pairs = {f"{moz}/{name}": f"{origin}/{name}" for name in scripts[:_MAX_MAPPED]}
        return json.dumps({"imports": pairs}).replace("<", "\\u003c")

    def _may_import_by_url(self, scripts: Sequence[str]) -> bool:
        imports = gets_url = False
        left = _MAX_SEARCHED_BYTES
        for name in scripts:
            source = self._package.read(name) or b""
            left -= len(source)
            imports = imports or _DYNAMIC_IMPORT.search(source) is not None
            gets_url = gets_url or b"getURL" in source
            if (imports and gets_url) or left < 0:
                return True
        return False


def _identity_icon(url: str) -> bytes | None:
    """The SVG file at a URL or a path of an icon; None if it is not an icon."""
    base = ICON_BASE if url.startswith(ICON_BASE) else _ICON_FOLDER
    name, dot, extension = url.removeprefix(base).partition(".")
    return glyph_file(f"id-{name}", _ICON_COLOR) if url.startswith(base) and dot + extension == ".svg" else None
