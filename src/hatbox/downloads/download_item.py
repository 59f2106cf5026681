"""A download, as downloads.DownloadItem shows it. Pure data."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec

from hatbox.downloads.download_path import ReservedFile

__all__ = ["CHANGE_FIELDS", "FIELDS", "DownloadItem", "DownloadRequest"]

FIELDS: Final = (
    *("id", "url", "referrer", "filename", "incognito", "cookieStoreId", "danger", "mime", "startTime", "endTime"),
    *("estimatedEndTime", "state", "paused", "canResume", "error", "bytesReceived", "totalBytes", "fileSize"),
    *("exists", "byExtensionId", "byExtensionName"),
)
"""The properties of a DownloadItem, in Firefox's order."""

CHANGE_FIELDS: Final = ("endTime", "state", "paused", "canResume", "error", "exists")
"""The properties whose changes emit onChanged."""


class DownloadRequest(msgspec.Struct, frozen=True):
    """The request of a download."""

    url: str
    cookie_store_id: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    allow_http_errors: bool = False


class DownloadItem(msgspec.Struct, eq=False):
    """The state of a download."""

    id: int
    request: DownloadRequest
    path: Path
    started_at: float
    extension_id: str | None = None
    extension_name: str | None = None
    mime: str | None = None
    received: int = 0
    total: int = -1
    error: str | None = None
    """An InterruptReason; None without an error."""
    is_complete: bool = False
    is_canceled: bool = False
    has_partial_data: bool = False
    """Whether it can be continued where it stopped."""
    validator: str | None = None
    """The ETag or Last-Modified of the partial data."""
    exists: bool = False
    reserved: ReservedFile | None = None
    """The partial file that this download has created, until it is published or deleted."""

    @property
    def state(self) -> str:
        """downloads.State."""
        if self.is_complete:
            return "complete"
        return "interrupted" if self.is_canceled or self.error else "in_progress"

    @property
    def interrupt_reason(self) -> str | None:
        """downloads.InterruptReason."""
        return self.error or ("USER_CANCELED" if self.is_canceled and not self.is_complete else None)

    @property
    def is_paused(self) -> bool:
        """Whether it was paused."""
        return self.is_canceled and self.has_partial_data and not self.error

    @property
    def can_resume(self) -> bool:
        """Whether it can be resumed."""
        return self.state == "interrupted" and self.has_partial_data and self.error in (None, "NETWORK_FAILED")

    def view(self) -> dict[str, Any]:
        """downloads.DownloadItem."""
        start = datetime.fromtimestamp(self.started_at, UTC)
        values = {
            "id": self.id,
            "url": self.request.url,
            "filename": str(self.path),
            "incognito": False,
            "cookieStoreId": self.request.cookie_store_id,
            "danger": "safe",
            "mime": self.mime,
            "startTime": f"{start:%Y-%m-%dT%H:%M:%S}.{start.microsecond // 1000:03d}Z",
            "endTime": None,  # as in Firefox, which does not implement it
            "state": self.state,
            "paused": self.is_paused,
            "canResume": self.can_resume,
            "error": self.interrupt_reason,
            "bytesReceived": self.received,
            "totalBytes": self.total,
            "fileSize": self.received if self.is_complete else -1,
            "exists": self.exists,
        }
        if self.extension_id is not None:
            values |= {"byExtensionId": self.extension_id, "byExtensionName": self.extension_name}
        return values
