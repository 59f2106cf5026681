"""Pages of an extension that its content scripts show in frames of a web page, web-accessible or not.

A grant is a secret URL for one page of the extension, valid in one web page while the document of the content script
exists. The web page can read it from the element: it shows the same page, and nothing else.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from typing import Final, NamedTuple

from hatbox.errors import ApiError
from hatbox.extensions.pages.page_urls import RESERVED_FOLDER, PageUrls

__all__ = ["FrameGrants", "FrameOwner"]

_FOLDER: Final = f"{RESERVED_FOLDER}frames/"
_MAX_URL: Final = 65536
_MAX_GRANTS: Final = 100  # of one document
_MAX_REDIRECTED: Final = 1000


class FrameOwner(NamedTuple):
    """The content scripts that show frames: one extension in one document."""

    extension_id: str
    uuid: str
    page_id: str
    """The id of the page, which is that of its main frame."""
    document_id: str


class FrameGrants:
    """The grants of all documents."""

    def __init__(self) -> None:
        self._grants: dict[str, tuple[FrameOwner, str]] = {}  # owner and URL by token
        self._tokens: dict[FrameOwner, dict[str, str]] = {}  # token by URL
        self._redirected: OrderedDict[str, str] = OrderedDict()  # URL by the id of the frame

    def __bool__(self) -> bool:
        return bool(self._grants)

    def has_extension(self, extension_id: str) -> bool:
        """Whether content scripts of an extension show frames."""
        return any(owner.extension_id == extension_id for owner in self._tokens)

    def grant(self, owner: FrameOwner, url: str) -> str:
        """The URL that the element loads, for the URL of a page of the extension in either spelling."""
        urls = PageUrls(owner.uuid)
        path = urls.path_of(url)
        if path is None or len(url) > _MAX_URL:
            raise ApiError(f"not a page of the extension: {url[:200]}")
        tokens = self._tokens.setdefault(owner, {})
        target = f"{urls.origin}/{path}"
        token = tokens.get(target)
        if token is None:
            if len(tokens) >= _MAX_GRANTS:
                raise ApiError(f"the content scripts of a document can show {_MAX_GRANTS} pages of the extension")
            token = tokens[target] = secrets.token_hex(16)
            self._grants[token] = owner, target
        return f"{urls.origin}/{_FOLDER}{token}/{path}"

    def revoke(self, owner: FrameOwner) -> bool:
        """The document has ended. Returns whether it had grants."""
        tokens = self._tokens.pop(owner, {})
        for token in tokens.values():
            del self._grants[token]
        return bool(tokens)

    def redirect(self, url: str, page_id: str, frame_id: str) -> str | None:
        """The URL of the page for a granted URL that a frame of a page loads; None without a grant."""
        token = url.partition(f"/{_FOLDER}")[2].partition("/")[0]
        owner, target = self._grants.get(token, (None, ""))
        if owner is None or owner.page_id != page_id or url.partition("#")[0] != _granted(target, token):
            return None
        self._redirected[frame_id] = target.partition("#")[0]
        if len(self._redirected) > _MAX_REDIRECTED:
            self._redirected.popitem(last=False)
        return target

    def take_redirected(self, url: str, frame_id: str) -> bool:
        """Whether a frame loads this URL because of redirect(). True once."""
        if self._redirected.get(frame_id) != url.partition("#")[0]:
            return False
        del self._redirected[frame_id]
        return True


def _granted(target: str, token: str) -> str:
    origin, _, path = target.removeprefix("https://").partition("/")
    return f"https://{origin}/{_FOLDER}{token}/{path}".partition("#")[0]
