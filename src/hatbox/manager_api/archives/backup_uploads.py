"""A backup from elsewhere, which a page uploads in parts into the folder of backups. One upload at a time.

The file gets its name when it is complete and is one of Hatbox: anything else leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
from base64 import b64decode
from binascii import Error as Base64Error
from pathlib import Path
from typing import IO, Final

from hatbox.archive.age_format import AGE_MAGIC
from hatbox.archive.block_file import ARCHIVE_MAGIC
from hatbox.errors import ApiError, ArchiveError
from hatbox.manager_api.archives.backup_folder import BackupFile, BackupFolder, described_backup
from hatbox.new_files import new_file

__all__ = ["BackupUploads"]

_MAX_SECONDS: Final = 600.0  # without a part


class _Upload:
    def __init__(self, name: str, path: Path, size: int, file: IO[bytes], ended: contextlib.ExitStack) -> None:
        self.name = name
        """On the user's machine."""
        self.path = path
        self.size = size
        self.file = file
        self.ended = ended
        """Names the file when it is closed; deletes it after `discard`."""
        self.received = 0
        self.writing = asyncio.Lock()


class _Discarded(Exception):
    """Ends the context of a file that must not get its name."""


class BackupUploads:
    """The upload of all pages."""

    def __init__(self, folder: BackupFolder) -> None:
        self._folder = folder
        self._uploads: dict[str, _Upload] = {}
        self._timer: asyncio.TimerHandle | None = None

    async def begin(self, name: str, size: int) -> str:
        """Start an upload, which ends any other. Returns its token. Raises ArchiveError."""
        path = self._folder.unused_file(name)
        await asyncio.to_thread(self._folder.create)
        free = (await asyncio.to_thread(shutil.disk_usage, self._folder.path)).free
        if size > free:
            needed = f"{name} needs {size:,} bytes, and {free:,} are free on the disk of {self._folder.path}."
            raise ApiError(f"{needed} Free space, or restore it in a terminal with: hatbox restore")
        for token in [*self._uploads]:
            self.cancel(token)
        stack = contextlib.ExitStack()
        try:
            file = stack.enter_context(new_file(path, overwrite=False))
        except OSError as error:
            raise self._folder.not_written(error) from error
        token = secrets.token_urlsafe(16)
        self._uploads[token] = _Upload(name, path, size, file, stack)
        self._expect_part(token)
        return token

    async def add(self, token: str, part: str) -> None:
        """Add a part, in base64. The first one shows whether the file is a backup."""
        upload = self._find(token)
        self._expect_part(token)
        async with upload.writing:
            try:
                data = b64decode(part, validate=True)
            except (Base64Error, ValueError):
                raise self._failed(token, "A part of the file is not base64. Choose the file again.") from None
            if not upload.received and not data.startswith((ARCHIVE_MAGIC, AGE_MAGIC)):
                raise self._failed(token, f"{upload.name} is not a backup of Hatbox. Nothing was changed.")
            upload.received += len(data)
            if upload.received > upload.size:
                raise self._failed(token, f"{upload.name} has more bytes than announced. Choose it again.")
            try:
                await asyncio.to_thread(upload.file.write, data)
            except OSError as error:
                self.cancel(token)
                raise self._folder.not_written(error) from error

    async def end(self, token: str) -> BackupFile:
        """Name the complete file. Raises ApiError, and deletes it, if it is no backup."""
        upload = self._find(token)
        if upload.received != upload.size:
            arrived = f"{upload.received:,} of {upload.size:,} bytes of {upload.name} arrived. Choose it again."
            raise self._failed(token, arrived)
        del self._uploads[token]
        try:
            await asyncio.to_thread(upload.ended.close)
        except OSError as error:
            raise self._folder.not_written(error) from error
        found = await asyncio.to_thread(described_backup, upload.path)
        if found.problem is not None:
            await asyncio.to_thread(upload.path.unlink, missing_ok=True)
            raise ArchiveError(upload.name, found.problem, "Nothing was changed.")
        return found

    def cancel(self, token: str) -> None:
        """Delete what has arrived."""
        if upload := self._uploads.pop(token, None):
            with contextlib.suppress(_Discarded, OSError), upload.ended:
                raise _Discarded

    def _failed(self, token: str, sentence: str) -> ApiError:
        self.cancel(token)
        return ApiError(sentence)

    def _find(self, token: str) -> _Upload:
        try:
            return self._uploads[token]
        except KeyError:
            raise ApiError("The upload of this file was ended. Choose it again.") from None

    def _expect_part(self, token: str) -> None:
        """Also if the page is closed: a part of a file takes space."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_MAX_SECONDS, self.cancel, token)
