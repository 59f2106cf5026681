"""The URLs in style sheets of content scripts: relative to the file in the package, as in Firefox. Pure text.

Small files are embedded as data: URLs. Firefox loads all files because the style sheet belongs to the extension. For
Chromium it belongs to the web page, which may load only files that the manifest lists.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Final
from urllib.parse import quote

from hatbox.errors import HatboxError
from hatbox.extensions.package.extension_urls import file_name, is_relative
from hatbox.extensions.pages.page_files import content_type

__all__ = ["resolve_style_urls"]

_URL: Final = re.compile(r"""\burl\(\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|([^\s"'()\\]+))\s*\)""", re.IGNORECASE)
_MAX_FILE: Final = 32 << 10
_MAX_EMBEDDED: Final = 256 << 10  # of one style sheet: every page that it matches gets the text


def resolve_style_urls(text: str, file: str, base_url: str, read: Callable[[str], bytes | None]) -> str:
    """The text of a style sheet with absolute URLs. `base_url` is the moz-extension:// URL of the package."""
    remaining = _MAX_EMBEDDED

    def resolve(found: re.Match[str]) -> str:
        nonlocal remaining
        url = next(group for group in found.groups() if group is not None)
        is_own = url.startswith(base_url)
        if not is_own and (url.startswith("#") or not url or not is_relative(url)):
            return found[0]
        name = file_name(url.removeprefix(base_url), "" if is_own else file)
        fragment = quote(url[url.index("#") :], safe="#%/?:@!$&()*+,;=-._~") if "#" in url else ""
        content = _read(name, read)
        if content is None or len(content) > min(_MAX_FILE, remaining):
            return f'url("{base_url}{quote(name)}{fragment}")'
        remaining -= len(content)
        encoded = base64.b64encode(content).decode("ascii")
        return f'url("data:{content_type(name)};base64,{encoded}{fragment}")'

    return _URL.sub(resolve, text)


def _read(name: str, read: Callable[[str], bytes | None]) -> bytes | None:
    try:
        return read(name)
    except (HatboxError, OSError):
        return None
