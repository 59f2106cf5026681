"""Extensions that a page uploads in parts, and installs after the user has seen their permissions.

Nothing is installed before `install`. Uploads are bounded in number, size and time, and exist in memory only.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from base64 import b64decode
from binascii import Error as Base64Error
from pathlib import Path
from typing import Final

import msgspec

from hatbox.errors import ApiError, ExtensionError
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data.extension_permissions import NONE, ExtensionPermissions
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extensions.installing import Candidate, is_update
from hatbox.extensions.service import Extensions
from hatbox.manager_api.managed_extensions.permission_sentences import ShownPermission, listed_permissions
from hatbox.store.base import Store

__all__ = ["MAX_BYTES", "PackageUploads", "PreparedInstallation"]

MAX_BYTES: Final = 64 * 2**20
_MAX_UPLOADS: Final = 3
_MAX_SECONDS: Final = 600.0
_MAX_NAME: Final = 120


class PreparedInstallation(msgspec.Struct, frozen=True):
    """An uploaded extension, before it is installed."""

    token: str
    extension_id: str
    name: str
    version: str
    description: str
    permissions: list[ShownPermission]
    replaces: str | None
    """The installed extension with this id, with its version."""
    is_update: bool
    """Whether that is an earlier version from a file with the same name: its data and grants stay."""
    added: list[ShownPermission]
    """What it requires, and the installed one does not."""


class _Upload:
    def __init__(self, name: str, size: int) -> None:
        self.name = name
        self.size = size
        self.data = bytearray()
        self.candidate: Candidate | None = None
        self.is_complete = False
        """Whether its bytes are read, and no part can be added."""


class PackageUploads:
    """The uploads of all pages."""

    def __init__(self, store: Store, extensions: Extensions) -> None:
        self._store = store
        self._extensions = extensions
        self._uploads: dict[str, _Upload] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def begin(self, name: str, size: int) -> str:
        """Start an upload. Returns its token."""
        if not name.lower().endswith((".xpi", ".zip")):
            raise ApiError(f"{name[:_MAX_NAME]} is not an extension. Choose an .xpi or .zip file.")
        if size > MAX_BYTES:
            limit = MAX_BYTES // 2**20
            raise ApiError(f"{name[:_MAX_NAME]} has {size:,} bytes. At most {limit} MB can be installed from here.")
        while len(self._uploads) >= _MAX_UPLOADS:
            self.cancel(next(iter(self._uploads)))
        token = secrets.token_urlsafe(16)
        self._uploads[token] = _Upload(Path(name).name[-_MAX_NAME:], size)
        # Also if the page is closed: three uploads take up to 192 MB.
        self._timers[token] = asyncio.get_running_loop().call_later(_MAX_SECONDS, self.cancel, token)
        return token

    def add(self, token: str, part: str) -> None:
        """Add a part, in base64."""
        upload = self._find(token)
        if upload.is_complete:
            raise ApiError(f"{upload.name} is being read, and no part can be added. Choose the file again.")
        try:
            data = b64decode(part, validate=True)
        except (Base64Error, ValueError):
            raise ApiError("A part of the file is not base64. Choose the file again.") from None
        if len(upload.data) + len(data) > upload.size:
            self.cancel(token)
            raise ApiError(f"{upload.name} has more bytes than announced. Choose the file again.")
        upload.data += data

    async def prepare(self, token: str) -> PreparedInstallation:
        """Read the uploaded extension: what it is, and what it may do."""
        upload = self._find(token)
        if len(upload.data) != upload.size:
            raise ApiError(f"{len(upload.data):,} of {upload.size:,} bytes of {upload.name} arrived. Choose it again.")
        upload.is_complete = True
        try:
            candidate = await self._read(upload)
        except ExtensionError:
            self.cancel(token)
            raise
        upload.candidate, upload.data = candidate, bytearray()
        manifest = candidate.manifest
        known = await self._store.read(lambda transaction: installed.get(transaction, manifest.id))
        updates = await self._extensions.added_permissions([candidate], replace=True)
        return PreparedInstallation(
            token=token,
            extension_id=manifest.id,
            name=manifest.name,
            version=manifest.version,
            description=manifest.description or "",
            permissions=listed_permissions(
                ExtensionPermissions(manifest.required, manifest.optional, manifest.at_install)
            ),
            replaces=f"{known.name} {known.version}" if known is not None else None,
            is_update=known is not None and is_update(known, candidate.place, candidate.title),
            added=[each for _, added in updates for each in listed_permissions(ExtensionPermissions(added, NONE))],
        )

    async def install(self, token: str, *, replace: bool, keep_data: bool) -> InstalledExtension:
        """Install a prepared extension. With `replace`, another one with its id is replaced."""
        candidate = self._find(token).candidate
        if candidate is None:
            raise ApiError("The permissions of this extension were not shown. Choose the file again.")
        (done,) = await self._extensions.install_candidates([candidate], replace=replace, keep_data=keep_data)
        self.cancel(token)
        return done.extension

    def cancel(self, token: str) -> None:
        """Forget an upload."""
        self._uploads.pop(token, None)
        if (timer := self._timers.pop(token, None)) is not None:
            timer.cancel()

    async def _read(self, upload: _Upload) -> Candidate:
        with tempfile.TemporaryDirectory(prefix="hatbox-upload-") as folder:
            path = Path(folder) / f"extension{Path(upload.name).suffix.lower()}"
            await asyncio.to_thread(path.write_bytes, upload.data)
            try:
                candidate = await self._extensions.packages.candidate(path)
            except ExtensionError as error:
                raise ExtensionError(str(error).replace(str(path.resolve()), upload.name)) from None
        # The folder on the user's machine is not known. A file with the same name is an update.
        return msgspec.structs.replace(candidate, place=Path(f"dropped file {upload.name}"))

    def _find(self, token: str) -> _Upload:
        try:
            return self._uploads[token]
        except KeyError:
            raise ApiError("This file was uploaded too long ago. Choose it again.") from None
