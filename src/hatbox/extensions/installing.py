"""Installs extensions, and updates or replaces an installed extension with the same id. Transaction functions.

A manifest can declare any id. So an installed id is taken over only by an update, from the same path with the same
name, or if the user allows a replacement.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from hatbox.errors import AlreadyInstalled, ExtensionError
from hatbox.extension_data import granted_permissions as granted
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import run_records
from hatbox.extension_data.data_area import development_area
from hatbox.extension_data.extension_permissions import NONE, ExtensionPermissions, Permissions
from hatbox.extension_data.installed_extensions import REINSTALL, IconInfo, InstalledExtension, ManifestSummary
from hatbox.extensions.package.manifest import Manifest, read_manifest
from hatbox.extensions.package.package_files import Package
from hatbox.extensions.package.stored_package import StoredPackage, digest_of, pack
from hatbox.store.base import Transaction

__all__ = [
    "Candidate",
    "Installation",
    "about",
    "adopt",
    "candidate_of",
    "install",
    "is_update",
    "new_permissions",
    "outdated",
    "title_of",
]


class Candidate(msgspec.Struct, frozen=True):
    """An extension to be installed. Its files are read once, so the checked files are the stored ones."""

    manifest: Manifest
    title: str
    place: Path
    digest: str
    data: bytes


class Installation(msgspec.Struct, frozen=True):
    """The result of an installation."""

    extension: InstalledExtension
    before: InstalledExtension | None = None
    """The extension that had the id before: an earlier version, or the one that was replaced."""
    replaced: bool = False
    """Whether that was another extension, and not an earlier version from the same place."""
    has_data: bool = True
    """Whether it has the data of the previous extension."""
    added: Permissions = NONE
    """Permissions that it requires and the previous extension did not."""
    removed: Permissions = NONE
    """Permissions that the previous extension required and it does not."""
    dropped: Permissions = NONE
    """Further permissions that were granted to the previous extension, and not to it."""

    @property
    def id(self) -> str:
        """The id of the extension."""
        return self.extension.id


def candidate_of(package: Package, languages: Sequence[str], url_secret: str) -> Candidate:
    """Read all files of a package. A large package takes long, so do not call it on the event loop."""
    data = pack(package)
    digest = digest_of(data)
    stored = StoredPackage(package.place, data, digest)
    manifest = read_manifest(stored, languages=languages, url_secret=url_secret)
    return Candidate(manifest, title_of(stored, manifest), package.place, digest, data)


def title_of(package: Package, manifest: Manifest) -> str:
    """The name of an extension in its own default language: the same for every user."""
    if manifest.default_locale is None:
        return manifest.name
    return read_manifest(package, languages=(manifest.default_locale,), check_all_languages=False).name


def is_update(known: InstalledExtension, place: Path, title: str) -> bool:
    """Whether the extension at a path is the installed one, maybe in another version."""
    return known.path == str(place) and title == (known.title or known.name)


def new_permissions(known: InstalledExtension, manifest: Manifest) -> Permissions:
    """The permissions that a manifest requires and the installed extension does not have."""
    return ExtensionPermissions(known.about.required, NONE).missing(manifest.required)


def about(manifest: Manifest) -> ManifestSummary:
    """The record of an extension that is visible to others."""
    keys = manifest.for_scripts()
    return ManifestSummary(
        uuid=manifest.uuid,
        short_name=manifest.short_name or "",
        description=manifest.description or "",
        homepage_url=manifest.homepage_url,
        options_url=(keys["options_ui"] or {}).get("page") or keys["options_page"] or "",
        icons=tuple(IconInfo(int(size), url) for size, url in keys["icons"].items()) if keys["icons"] else None,
        required=manifest.required,
    )


def install(
    transaction: Transaction, candidate: Candidate, now: float, *, replace: bool = False, keep_data: bool = False
) -> Installation:
    """Store an extension. Raises AlreadyInstalled if another one has its id, unless `replace` is set."""
    manifest = candidate.manifest
    known = installed.get(transaction, manifest.id)
    if known is None:
        done = _install_new(transaction, candidate, now)
    elif is_update(known, candidate.place, candidate.title):
        done = _update(transaction, known, candidate, now)
    elif replace:
        done = _replace(transaction, known, candidate, now, keep_data=keep_data)
    else:
        raise AlreadyInstalled(
            manifest.id,
            f'"{known.name}" {known.version}, from {known.path}',
            f'"{manifest.name}" {manifest.version}, from {candidate.place}',
            _changes(known.about.required, manifest.required),
        )
    transaction.packages.put(candidate.digest, candidate.data)
    if known is not None and known.digest != candidate.digest:
        installed.drop_package(transaction, known.digest)
    return done


def _install_new(transaction: Transaction, candidate: Candidate, now: float) -> Installation:
    """Install an extension with the data of its temporary runs from the same path."""
    area = candidate.manifest.id
    _expect_stopped(transaction, area, candidate.manifest.id)  # a removed extension may still be running
    transaction.extensions.clear(area)  # written after its removal
    temporary_area = development_area(area, candidate.place)
    temporary = installed.get(transaction, temporary_area)
    if temporary is not None:
        _expect_stopped(transaction, temporary_area, temporary.name)
        transaction.extensions.move(temporary_area, area)
        _keep_declared(transaction, area, candidate.manifest)
    record = _record(candidate, now, ran=temporary.ran if temporary else None, renewed=temporary is not None)
    installed.install(transaction, record)
    return Installation(record, added=candidate.manifest.required, has_data=temporary is not None)


def _update(transaction: Transaction, known: InstalledExtension, candidate: Candidate, now: float) -> Installation:
    manifest = candidate.manifest
    record = known
    if known.digest != candidate.digest:
        record = _record(candidate, now, ran=known.ran, renewed=known.ran is not None, enabled=known.enabled)
        _keep_declared(transaction, known.area, manifest)
        installed.install(transaction, record)
    required = known.about.required
    return Installation(record, known, added=manifest.required - required, removed=required - manifest.required)


def _replace(
    transaction: Transaction, known: InstalledExtension, candidate: Candidate, now: float, *, keep_data: bool
) -> Installation:
    manifest, required = candidate.manifest, known.about.required
    _expect_stopped(transaction, known.area, known.name)  # its last writes would become data of the new one
    dropped = granted.drop(transaction, known.area)
    if not keep_data:
        transaction.extensions.clear(known.area)
    record = _record(candidate, now, ran=known.ran, renewed=known.ran is not None)
    installed.install(transaction, record)
    return Installation(
        record,
        known,
        replaced=True,
        has_data=keep_data,
        added=manifest.required - required,
        removed=required - manifest.required,
        dropped=dropped,
    )


def _record(
    candidate: Candidate, now: float, *, ran: str | None, renewed: bool, enabled: bool = True
) -> InstalledExtension:
    manifest = candidate.manifest
    return InstalledExtension(
        id=manifest.id,
        path=str(candidate.place),
        name=manifest.name,
        version=manifest.version,
        enabled=enabled,
        about=about(manifest),
        area=manifest.id,
        digest=candidate.digest,
        title=candidate.title,
        installed_at=now,
        ran=ran,
        renewed=renewed,
    )


def _keep_declared(transaction: Transaction, area: str, manifest: Manifest) -> None:
    """Revoke granted permissions that the manifest does not declare any more. Newly declared ones are not granted."""
    stored = granted.load_granted(transaction, area)
    if stored is not None:
        granted.save_granted(transaction, area, stored.covered_by(manifest.optional | manifest.at_install))


def _expect_stopped(transaction: Transaction, area: str, name: str) -> None:
    run = run_records.get(transaction, area)
    if run is not None:
        raise ExtensionError(f"{name} is running ({run.process_id}). Stop it first.")


def _changes(before: Permissions, after: Permissions) -> str:
    added, removed = _listed(after - before), _listed(before - after)
    if not added and not removed:
        return "Both require the same permissions."
    parts = [f"requires {added} in addition" if added else "", f"does not require {removed}" if removed else ""]
    return f"It {' and '.join(filter(None, parts))}."


def _listed(permissions: Permissions) -> str:
    return ", ".join([*permissions.permissions, *permissions.origins, *permissions.data_collection])


# ── Records of earlier formats ──


def outdated(transaction: Transaction) -> list[InstalledExtension]:
    """Records from before packages were stored in the profile and data areas had names."""
    return [each for each in installed.get_all(transaction) if not each.area]


def adopt(transaction: Transaction, known: InstalledExtension, candidate: Candidate | None, now: float) -> None:
    """Upgrade a record of an earlier format. The package of an installed extension is stored if it could be read.

    Permissions that its files require now, and that it did not have, are not granted: it has to be installed again.
    """
    if known not in outdated(transaction):
        return  # upgraded by another process meanwhile
    has_run = granted.load_granted(transaction, known.id) is not None
    record = msgspec.structs.replace(known, area=known.id, ran=known.version if has_run else None)
    if not known.permanent:
        record = msgspec.structs.replace(record, area=development_area(known.id, Path(known.path)))
        transaction.extensions.move(known.id, record.area)
    elif candidate is None or candidate.manifest.id != known.id or new_permissions(known, candidate.manifest):
        record = msgspec.structs.replace(record, digest=REINSTALL)
    else:
        renewed = has_run and candidate.manifest.version != known.version
        record = _record(candidate, now, ran=record.ran, renewed=renewed, enabled=known.enabled)
        transaction.packages.put(candidate.digest, candidate.data)
    installed.install(transaction, record)
