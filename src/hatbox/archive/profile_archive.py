"""Backs up and restores the profile of an open store. Files are read and written in another thread."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from hatbox.archive.archive_contents import ArchiveContents, read_contents
from hatbox.archive.archive_file import ArchiveFile, PassphraseSource, opened_archive
from hatbox.archive.archive_restore import DryRunDone, restore_archive
from hatbox.archive.backup import BackupReport, write_backup
from hatbox.archive.identity_restore import RestoredIdentity
from hatbox.archive.restore_report import RestoreReport
from hatbox.archive.selection import IdentityEntry, select_identities
from hatbox.errors import ArchiveError, NotInArchive, ProfileError
from hatbox.identity.ids import cookie_store_id_of
from hatbox.store.base import Store
from hatbox.store.profile_copy import CopyProgress, CopySource, NotNew, ProfileDump
from hatbox.store.registry import dump_at, fill_at, info_at

__all__ = ["backup_profile", "restore_profile"]

_NOTHING: Final = "Nothing was restored."


async def backup_profile(
    store: Store,
    path: Path,
    *,
    identities: Sequence[str] | None,
    passphrase: str | None,
    plain: bool,
    overwrite: bool,
    progress: CopyProgress,
) -> BackupReport:
    """Write an archive of the profile, as of one commit, or of some identities. Other programs may use the profile."""
    if store.owns_file(path):
        raise ArchiveError(path, "this file is part of the profile", "Nothing was written. Choose another path.")
    created = store.time()
    stoppable = _Stoppable(progress)

    def write() -> BackupReport:
        with dump_at(store.address, store.key) as dump:
            return write_backup(
                dump,
                path,
                identities=identities,
                passphrase=passphrase,
                plain=plain,
                overwrite=overwrite,
                created=created,
                progress=stoppable,
            )

    with stoppable:
        return await asyncio.to_thread(write)


async def restore_profile(
    store: Store,
    path: Path,
    *,
    identities: Sequence[str] | None,
    passphrase: PassphraseSource,
    plain: bool,
    dry_run: bool,
    progress: CopyProgress,
) -> RestoreReport:
    """Restore an archive, or some of its identities, in one transaction. The whole archive is verified first."""
    progress = _Stoppable(progress)
    with contextlib.ExitStack() as stack, progress:
        archive, contents = await asyncio.to_thread(_verified, stack, path, passphrase, progress)
        _require_encryption(store, contents, plain=plain)
        wanted = _wanted(archive, contents, identities)
        if wanted is None and contents.manifest.is_whole:
            filled = await asyncio.to_thread(_fill, store, archive, contents, plain, dry_run, progress)
            if filled is not None:
                return filled
        uuid = (await asyncio.to_thread(info_at, store.address)).uuid
        counted = _Counted(sum(contents.rows.values()), progress)
        try:
            return await store.write(
                lambda transaction: restore_archive(
                    transaction,
                    archive,
                    contents,
                    wanted,
                    profile_uuid=uuid,
                    dry_run=dry_run,
                    on_rows=counted.restart(),
                )
            )
        except DryRunDone as done:
            return done.report


def _verified(
    stack: contextlib.ExitStack, path: Path, passphrase: PassphraseSource, progress: CopyProgress
) -> tuple[ArchiveFile, ArchiveContents]:
    archive = stack.enter_context(opened_archive(path, passphrase))
    return archive, read_contents(archive, progress)


def _require_encryption(store: Store, contents: ArchiveContents, *, plain: bool) -> None:
    if contents.manifest.is_encrypted and not store.is_encrypted and not plain:
        problem = f"it is not encrypted, but the profile of the backup is ({contents.manifest.label})"
        raise ProfileError(
            store.label, problem, f"{_NOTHING} To store everything as plain text, pass --plain (plain=True)."
        )


def _wanted(archive: ArchiveFile, contents: ArchiveContents, identities: Sequence[str] | None) -> frozenset[int] | None:
    if identities is None:
        return None

    def not_found(name_or_id: str, nearest: Sequence[str]) -> NotInArchive:
        return NotInArchive(archive.source, name_or_id, nearest)

    return select_identities(contents.identities, identities, not_found)


# ------------------------------------------------------------------------------------------------------- a new profile


def _fill(
    store: Store,
    archive: ArchiveFile,
    contents: ArchiveContents,
    plain: bool,
    dry_run: bool,
    progress: CopyProgress,
) -> RestoreReport | None:
    """Make a profile that is unchanged since it was created equal to a whole archive; None for any other profile."""

    @contextlib.contextmanager
    def opened() -> Iterator[ProfileDump]:
        if dry_run:
            raise _IsNew
        manifest = contents.manifest
        batches = archive.rows().batches()
        yield ProfileDump(archive.source, manifest.profile, manifest.is_encrypted, contents.rows, batches)

    try:
        fill_at(store.address, CopySource(None, opened), plain=plain, progress=progress, key=store.key)
    except NotNew:
        return None
    except _IsNew:
        pass
    order = contents.order
    return RestoreReport(
        dry_run=dry_run,
        filled=True,
        created=contents.manifest.created,
        rows=contents.rows,
        identities=[
            _filled_identity(entry, contents.proxies.get(entry.id, ""))
            for entry in sorted(contents.identities, key=lambda entry: order[entry.id])
        ],
        extensions=sorted(contents.extensions),
        installed=list(contents.installed.values()),
    )


class _IsNew(Exception):
    """Ends a dry run: the profile would be filled."""


def _filled_identity(entry: IdentityEntry, proxy: str) -> RestoredIdentity:
    cookie_store_id = cookie_store_id_of(entry.id)
    return RestoredIdentity(
        name=entry.name,
        cookie_store_id=cookie_store_id,
        uuid=entry.uuid,
        archived_id=cookie_store_id,
        created=True,
        proxy=proxy,
    )


class _Stopped(Exception):
    """Ends work in another thread, whose result is no longer awaited."""


class _Stoppable:
    """Reports progress. When its `with` block ends with an error, such as Ctrl-C, work in other threads ends too."""

    def __init__(self, progress: CopyProgress) -> None:
        self._progress = progress
        self._is_stopped = False

    def __call__(self, done: int, total: int) -> None:
        if self._is_stopped:
            raise _Stopped
        self._progress(done, total)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._is_stopped = kind is not None


class _Counted:
    """Adds up the rows that were restored. A transaction function may run twice."""

    def __init__(self, total: int, progress: CopyProgress) -> None:
        self._total = total
        self._progress = progress

    def restart(self) -> Callable[[int], None]:
        """A function to call with numbers of rows, from 0 on."""
        done = 0

        def add(rows: int) -> None:
            nonlocal done
            done += rows
            self._progress(done, self._total)

        return add
