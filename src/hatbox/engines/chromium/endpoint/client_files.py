"""The files that a client of an endpoint may use: uploads from below one folder, downloads to another one."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any, Final

from hatbox.engines.chromium.endpoint.messages import MethodRefused
from hatbox.engines.endpoint_options import NO_OPTIONS, EndpointOptions
from hatbox.engines.uploaded_file import file_below

__all__ = ["ClientFiles"]

_START: Final = "Start hatbox endpoint with"
_ARTIFACTS: Final = "playwright-artifacts-"
_MAX_FILES: Final = 1000


class ClientFiles:
    """The files of one client. Without folders, it uploads none, and its downloads go where those of the engine go."""

    def __init__(self, options: EndpointOptions = NO_OPTIONS) -> None:
        self._uploads = Path(options.uploads) if options.uploads else None
        self.downloads = Path(options.downloads) if options.downloads else None
        """The folder for downloads of pages that the client has opened."""
        self._below = PurePosixPath()
        self._by_guid = False
        self._artifacts = ""

    def uploaded(self, paths: object) -> list[str]:
        """The files that a command names, without links. Raises MethodRefused unless all are below the folder."""
        if not isinstance(paths, list) or len(paths) > _MAX_FILES or not all(isinstance(each, str) for each in paths):
            raise MethodRefused(f"files must be a list of at most {_MAX_FILES} paths")
        if paths and self._uploads is None:
            raise MethodRefused(
                f"Files cannot be uploaded: uploads are off in this endpoint. {_START} --uploads FOLDER."
            )
        return [str(self._uploaded(each)) for each in paths]

    def _uploaded(self, path: str) -> Path:
        found = None if self._uploads is None else file_below(self._uploads, path)
        if found is None:
            raise MethodRefused(f"Not a file below the folder for uploads of this endpoint: {path[:200]}")
        return found

    def set_download_behavior(self, params: dict[str, Any]) -> None:
        """The client chooses where its downloads go. Raises MethodRefused for another place than below the folder.

        A client with `eventsEnabled` learns from the events what happens with each download: its connection does not
        fail. Playwright sends a folder of its own when it connects.
        """
        path, behavior = params.get("downloadPath"), params.get("behavior")
        self._below, self._by_guid, self._artifacts = PurePosixPath(), False, ""
        if behavior not in ("allow", "allowAndName") or not isinstance(path, str) or not path:
            return
        below = self._relative(path)
        if below is not None:
            self._below, self._by_guid = below, behavior == "allowAndName"
        elif params.get("eventsEnabled") is True:
            self._artifacts = path if behavior == "allowAndName" else ""
        elif self.downloads is None:
            raise MethodRefused(f"Downloads are off in this endpoint. {_START} --downloads FOLDER.")
        else:
            raise MethodRefused(f"Not below the folder for downloads of this endpoint: {path[:200]}")

    def _relative(self, path: str) -> PurePosixPath | None:
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            if self.downloads is not None:
                root = self.downloads.resolve()
                return PurePosixPath((root / path).resolve().relative_to(root))
        return None

    def download_name(self, name: str, guid: str) -> PurePosixPath:
        """Where a download goes, relative to the folder."""
        return self._below / (guid if self._by_guid else name)

    def deliver(self, saved: Path, guid: str) -> None:
        """Put a copy of a saved download into the folder in which Playwright expects it, under a random name.

        Nothing else can be written there: it must be one that Playwright has created, as this user.
        """
        folder = Path(self._artifacts)
        is_artifacts = folder.name.startswith(_ARTIFACTS) and folder.parent == Path(tempfile.gettempdir())
        if not is_artifacts or not hasattr(os, "getuid"):
            return
        with contextlib.suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(descriptor).st_uid == os.getuid():
                    created = os.open(guid, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=descriptor)
                    with os.fdopen(created, "wb") as copy, saved.open("rb") as source:
                        shutil.copyfileobj(source, copy)
            finally:
                os.close(descriptor)
