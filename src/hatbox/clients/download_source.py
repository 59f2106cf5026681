"""Makes the requests of downloads with httpx, each with the cookies and the settings of its identity."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Final

from hatbox.downloads.download_item import DownloadRequest
from hatbox.downloads.download_list import DownloadStream
from hatbox.errors import NetworkError
from hatbox.identity.model import IdentityLike
from hatbox.javascript.text import well_formed

if TYPE_CHECKING:
    import httpx

__all__ = ["HttpxDownloadSource"]

_TIMEOUT: Final = 60.0  # seconds without a byte
_OK: Final = 200
_PARTIAL: Final = 206
_RANGE_START: Final = re.compile(r"bytes\s+([0-9]{1,18})-")


class HttpxDownloadSource:
    """A DownloadSource. `client` returns a client bound to an identity."""

    def __init__(self, client: Callable[[IdentityLike, float], httpx.AsyncClient]) -> None:
        self._client = client

    @contextlib.asynccontextmanager
    async def open(self, request: DownloadRequest, offset: int, validator: str | None) -> AsyncIterator[DownloadStream]:
        """See DownloadSource."""
        import httpx

        headers = [*request.headers, ("Accept-Encoding", "identity")]
        if offset and validator:
            headers += [("Range", f"bytes={offset}-"), ("If-Range", validator)]
        body = None if request.body is None else well_formed(request.body).encode()  # as fetch() sends it
        try:
            async with (
                self._client(request.cookie_store_id, _TIMEOUT) as client,
                client.stream(
                    request.method, request.url, headers=headers, content=body, follow_redirects=True
                ) as response,
            ):
                is_encoded = response.headers.get("Content-Encoding", "identity").lower() != "identity"
                if is_encoded and response.status_code == _PARTIAL:
                    raise NetworkError(f"{request.url}: a part of the file has a Content-Encoding")
                size = response.headers.get("Content-Length", "")
                start = _RANGE_START.match(response.headers.get("Content-Range", ""))
                yield DownloadStream(
                    response.status_code,
                    response.headers.get("Content-Type", "").partition(";")[0].strip() or "application/octet-stream",
                    int(size) if size.isascii() and size.isdigit() and not is_encoded else None,
                    None if is_encoded else _validator(request, response),
                    response.aiter_bytes(),
                    int(start[1]) if start else None,
                )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise NetworkError(f"{request.url}: {str(error) or type(error).__name__}") from error


def _validator(request: DownloadRequest, response: httpx.Response) -> str | None:
    """What identifies the file, if the rest of it can be requested later. A weak ETag does not."""
    headers = response.headers
    is_ranged = response.status_code == _PARTIAL or headers.get("Accept-Ranges", "").lower() == "bytes"
    if any(name.lower() == "range" for name, _ in request.headers):
        return None
    if request.method != "GET" or response.status_code not in (_OK, _PARTIAL) or not is_ranged:
        return None
    etag = headers.get("ETag", "")
    return (etag if etag.startswith('"') else headers.get("Last-Modified")) or None
