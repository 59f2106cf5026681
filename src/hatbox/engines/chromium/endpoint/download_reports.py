"""What clients of endpoints learn of the downloads of a page, as events of CDP. Pure."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["DownloadReport", "ended_download", "started_download"]


class DownloadReport(NamedTuple):
    """An event of the domain Browser about a download of a page."""

    target_id: str
    method: str
    params: dict[str, Any]
    guid: str
    path: Path | None = None
    """The file, if it is complete."""


def started_download(target_id: str, guid: str, url: str, name: str) -> DownloadReport:
    """A page has started a download. The page, and not one of its frames, counts as its source."""
    params = {"frameId": target_id, "guid": guid, "url": url, "suggestedFilename": name}
    return DownloadReport(target_id, "Browser.downloadWillBegin", params, guid)


def ended_download(target_id: str, guid: str, path: Path | None, size: int) -> DownloadReport:
    """A download has ended: with this file, or without one."""
    state = {"state": "canceled"} if path is None else {"state": "completed", "filePath": str(path)}
    params = {"guid": guid, "totalBytes": size, "receivedBytes": size, **state}
    return DownloadReport(target_id, "Browser.downloadProgress", params, guid, path)
