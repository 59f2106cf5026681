"""URLs of popups and icons of actions. Pure. Error messages match Firefox."""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urljoin

from hatbox.errors import ApiError

__all__ = ["base_url", "icon_urls", "popup_url"]

_SCHEME: Final = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:")
_UNSIZED: Final = "19"  # the size of an icon without one
_WEB: Final = ("http://", "https://")


def base_url(uuid: str, manifest: Mapping[str, Any]) -> str:
    """The base URL of an extension's background."""
    page = (manifest.get("background") or {}).get("page")
    return page or f"moz-extension://{uuid}/"


def popup_url(text: str, base: str, *, own_only: bool) -> str:
    """The URL of a popup, empty for none. With `own_only` it must be in the extension."""
    if not text:
        return ""
    url = _resolve(text, base)
    is_web = any(url.startswith(scheme) and len(url) > len(scheme) for scheme in _WEB) or url == "about:blank"
    if not _is_own(url, base) and (own_only or not is_web):
        raise ApiError(f"Access denied for URL {url}")
    return url


def icon_urls(details: Mapping[str, Any], base: str) -> dict[str, str] | None:
    """The URLs of an icon by size; None without images and paths."""
    images, paths = details["imageData"] or {}, details["path"]
    if not isinstance(images, Mapping):
        images = {_UNSIZED: images}
    if paths is None or isinstance(paths, str):
        paths = {} if paths is None else {_UNSIZED: paths}
    found = {size: _png_url(image.clone) for size, image in images.items()}
    return {**found, **{size: _icon_url(path, base) for size, path in paths.items()}} or None


def _icon_url(path: str, base: str) -> str:
    url = _resolve(path, base) if path else ""
    if url and not (_is_own(url, base) or url.startswith((*_WEB, "data:"))):
        raise ApiError(f"Illegal URL {url}")
    return url


def _resolve(text: str, base: str) -> str:
    """Resolve a URL. urljoin() does not know the scheme moz-extension."""
    text = text.strip(" \t\n\r\f")
    if _SCHEME.match(text):
        return text
    return "moz-extension:" + urljoin(base.replace("moz-extension:", "http:", 1), text).removeprefix("http:")


def _is_own(url: str, base: str) -> bool:
    return url.startswith("/".join([*base.split("/", 3)[:3], ""]))


def _png_url(image: tuple[int, int, Any]) -> str:
    """RGBA pixels as a data: URL of a PNG."""
    width, height, pixels = image
    data = base64.b64decode(pixels)
    rows = b"".join(b"\0" + data[start : start + width * 4] for start in range(0, len(data), width * 4))
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in chunks
    )
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
