"""The namespace hatbox.archives: backups in the folder of a profile."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.archive.change_words import brought, identity_changes, other_changes
from hatbox.archive.identity_restore import RestoredIdentity
from hatbox.archive.restore_report import RestoreReport
from hatbox.errors import ArchiveError, ProfileError
from hatbox.manager_api.archives.archive_events import FolderEvent, ProgressEvent
from hatbox.manager_api.archives.backup_folder import BackupFile, BackupFolder
from hatbox.manager_api.archives.backup_uploads import BackupUploads
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.schema import NamespaceSchema
from hatbox.store.profile_copy import CopyProgress
from hatbox.store.recorded_calls import record_effect

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:
    """Implement the namespace."""
    return _Archives(schema, services, profile)


class _ListedFolder(NamedTuple):
    folder: str
    backups: list[BackupFile]


class _RestoredPart(NamedTuple):
    cookie_store_id: str
    archived_id: str
    name: str
    created: bool
    changes: list[str]


class _Plan(NamedTuple):
    created: float
    is_new_profile: bool
    has_changes: bool
    stores_plain: bool
    identities: list[_RestoredPart]
    others: list[str]
    brought: list[str]


class _Archives(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> None:
        self._folder = BackupFolder(services.store)
        self._changed = FolderEvent(self._folder)
        self._progress = ProgressEvent()
        self._uploads = BackupUploads(self._folder)
        events = {
            "onChanged": EventBinding(self._changed, lambda *_: ()),
            "onProgress": EventBinding(self._progress, lambda _, progress: (progress,)),
        }
        super().__init__(schema, services.store, events)
        self._profile = profile
        self._running = ""  # what runs now, for the message to a second caller

    def list(self) -> asyncio.Future[Any]:
        return self._run("list", self._list())

    def backup(self, options: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._run("backup", self._backup(options))

    def preview(self, name: str, options: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._run("preview", self._preview(name, options))

    def restore(self, name: str, options: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._run("restore", self._restore(name, options))

    def remove(self, name: str) -> asyncio.Future[Any]:
        return self._run("remove", self._remove(name))

    # ── A backup from elsewhere ──

    def begin_upload(self, name: str, size: int) -> asyncio.Future[Any]:
        return self._run("beginUpload", self._uploads.begin(name, size))

    def add_upload_part(self, token: str, part: str) -> asyncio.Future[Any]:
        return self._run("addUploadPart", self._uploads.add(token, part))

    def end_upload(self, token: str) -> asyncio.Future[Any]:
        return self._run("endUpload", self._end_upload(token))

    def cancel_upload(self, token: str) -> asyncio.Future[Any]:
        return self._run("cancelUpload", self._cancel_upload(token))

    async def _end_upload(self, token: str) -> BackupFile:
        uploaded = await self._uploads.end(token)
        await self._changed.check()
        return uploaded

    async def _cancel_upload(self, token: str) -> None:
        self._uploads.cancel(token)

    async def _list(self) -> _ListedFolder:
        await self._changed.check()  # a change from now on is reported
        return _ListedFolder(str(self._folder.path), await asyncio.to_thread(self._folder.list))

    async def _backup(self, options: Mapping[str, Any]) -> BackupFile:
        path = self._folder.new_file(options["name"])
        passphrase = options["passphrase"] or None
        if self._store.is_encrypted and passphrase is None:
            problem = "this profile is encrypted, and the backup would not be"
            raise ArchiveError(path.name, problem, "Write a passphrase for the backup.")
        with self._one_at_a_time("backup", options["id"] or path.name) as report:
            await asyncio.to_thread(self._folder.create)
            try:
                await self._profile.backup(path, options["identities"], passphrase=passphrase, progress=report)
            except ArchiveError as error:
                if isinstance(error.__cause__, OSError):  # its remedy is another path, which callers cannot choose
                    raise self._folder.not_written(error.__cause__) from error
                raise
            await record_effect(self._store)
        await self._changed.check()
        listed = await asyncio.to_thread(self._folder.list)
        return next(each for each in listed if each.name == path.name)

    async def _preview(self, name: str, options: Mapping[str, Any]) -> _Plan:
        path = self._folder.existing_file(name)

        def run(report: CopyProgress, *, plain: bool) -> Coroutine[Any, Any, RestoreReport]:
            return self._profile.restore(
                path,
                options["identities"],
                passphrase=options["passphrase"] or None,
                plain=plain,
                dry_run=True,
                progress=report,
            )

        with self._one_at_a_time("preview", options["id"] or name) as report:
            try:
                return _plan(await run(report, plain=False))
            except ProfileError:
                if self._store.is_encrypted:
                    raise
                return _plan(
                    await run(report, plain=True), stores_plain=True
                )  # of an encrypted profile, and this one is not

    async def _restore(self, name: str, options: Mapping[str, Any]) -> _Plan:
        path = self._folder.existing_file(name)
        with self._one_at_a_time("restore", options["id"] or name) as report:
            done = await self._profile.restore(
                path,
                options["identities"],
                passphrase=options["passphrase"] or None,
                plain=options["plain"],
                progress=report,
            )
        return _plan(done, stores_plain=options["plain"])

    async def _remove(self, name: str) -> None:
        path = self._folder.existing_file(name)
        try:
            await asyncio.to_thread(path.unlink, missing_ok=True)
        except OSError as error:
            raise ArchiveError(
                name, f"it cannot be deleted ({error.strerror or error})", "It is still there."
            ) from error
        await record_effect(self._store)
        await self._changed.check()

    @contextlib.contextmanager
    def _one_at_a_time(self, kind: Literal["backup", "preview", "restore"], operation: str) -> Iterator[CopyProgress]:
        """Run one of them in the block, which gets the function that reports its progress."""
        if self._running:
            raise ArchiveError("backups", f"a {self._running} is running", "Wait until it is done.")
        self._running = kind
        try:
            with self._progress.operation(operation, kind) as report:
                yield report
        finally:
            self._running = ""


def _plan(report: RestoreReport, *, stores_plain: bool = False) -> _Plan:
    parts = [*report.identities, *([report.default_store] if report.default_store else [])]
    return _Plan(
        created=report.created * 1000,
        is_new_profile=report.filled,
        has_changes=report.changed,
        stores_plain=stores_plain,
        identities=[_part(each) for each in parts],
        others=other_changes(report),
        brought=brought(report),
    )


def _part(done: RestoredIdentity) -> _RestoredPart:
    return _RestoredPart(done.cookie_store_id, done.archived_id, done.name, done.created, identity_changes(done))
