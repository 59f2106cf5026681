"""Installs extensions: what is stored of them, and what becomes of another one that has the same id.

An id is what a manifest says, and anyone can write it. So an id that is known already is taken over only by what comes
from the same place under the same name, an update, or by what the user lets replace it. Functions of a transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from hatbox.api import granted, installed
from hatbox.api.grants import NONE, ExtensionPermissions, Permissions
from hatbox.api.installed import REINSTALL, About, Icon, Installed
from hatbox.errors import AlreadyInstalled, ExtensionError
from hatbox.extensions import running
from hatbox.extensions.areas import area_of
from hatbox.extensions.manifest import Manifest, read_manifest
from hatbox.extensions.package import Package
from hatbox.extensions.stored import StoredPackage, digest_of, pack
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
    """An extension that is to be installed, read once: what is checked is what is stored."""

    manifest: Manifest
    title: str
    place: Path
    digest: str
    data: bytes


class Installation(msgspec.Struct, frozen=True):
    """What an installation did."""

    extension: Installed
    before: Installed | None = None
    """The extension that had the id before: an earlier version, or the one that was replaced."""
    replaced: bool = False
    """Whether that was another extension, and not an earlier version from the same place."""
    has_data: bool = True
    """Whether it has the data of the one before."""
    added: Permissions = NONE
    """What it requires and the one before did not."""
    removed: Permissions = NONE
    """What the one before required and it does not."""
    dropped: Permissions = NONE
    """What the one before was granted beyond that, and it was not."""

    @property
    def id(self) -> str:
        """The id of the extension."""
        return self.extension.id


def candidate_of(package: Package, languages: Sequence[str]) -> Candidate:
    """Read a package as a whole. Takes as long as its author decides: not for the event loop."""
    data = pack(package)
    digest = digest_of(data)
    stored = StoredPackage(package.place, data, digest)
    manifest = read_manifest(stored, languages=languages)
    return Candidate(manifest, title_of(stored, manifest), package.place, digest, data)


def title_of(package: Package, manifest: Manifest) -> str:
    """The name of an extension in its own default language: the same for every user."""
    if manifest.default_locale is None:
        return manifest.name
    return read_manifest(package, languages=(manifest.default_locale,), check_all_languages=False).name


def is_update(known: Installed, place: Path, title: str) -> bool:
    """Whether what lies in a place is the installed extension, maybe in another version."""
    return known.path == str(place) and title == (known.title or known.name)


def new_permissions(known: Installed, manifest: Manifest) -> Permissions:
    """What a manifest requires and the installed extension does not hold."""
    return ExtensionPermissions(known.about.required, NONE).missing(manifest.required)


def about(manifest: Manifest) -> About:
    """What is noted of an extension for others."""
    shown = manifest.for_scripts()
    return About(
        uuid=manifest.uuid,
        short_name=manifest.short_name or "",
        description=manifest.description or "",
        homepage_url=manifest.homepage_url,
        options_url=(shown["options_ui"] or {}).get("page") or shown["options_page"] or "",
        icons=tuple(Icon(int(size), url) for size, url in shown["icons"].items()) if shown["icons"] else None,
        required=manifest.required,
    )


def install(
    transaction: Transaction, candidate: Candidate, now: float, *, replace: bool = False, keep_data: bool = False
) -> Installation:
    """Store an extension. AlreadyInstalled if its id is that of another one, unless that is to be replaced."""
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
    """What was run from this very place before gives its data to what is installed from there."""
    area = candidate.manifest.id
    _expect_stopped(transaction, area, candidate.manifest.id)  # one that was removed may not have ended yet
    transaction.extensions.clear(area)  # what it has written since
    tried_area = area_of(area, candidate.place)
    tried = installed.get(transaction, tried_area)
    if tried is not None:
        _expect_stopped(transaction, tried_area, tried.name)
        transaction.extensions.move(tried_area, area)
        _keep_declared(transaction, area, candidate.manifest)
    record = _record(candidate, now, ran=tried.ran if tried else None, renewed=tried is not None)
    installed.install(transaction, record)
    return Installation(record, added=candidate.manifest.required, has_data=tried is not None)


def _update(transaction: Transaction, known: Installed, candidate: Candidate, now: float) -> Installation:
    manifest = candidate.manifest
    record = known
    if known.digest != candidate.digest:
        record = _record(candidate, now, ran=known.ran, renewed=known.ran is not None, enabled=known.enabled)
        _keep_declared(transaction, known.area, manifest)
        installed.install(transaction, record)
    required = known.about.required
    return Installation(record, known, added=manifest.required - required, removed=required - manifest.required)


def _replace(
    transaction: Transaction, known: Installed, candidate: Candidate, now: float, *, keep_data: bool
) -> Installation:
    manifest, required = candidate.manifest, known.about.required
    _expect_stopped(transaction, known.area, known.name)  # what it writes at its end would be found by the new one
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


def _record(candidate: Candidate, now: float, *, ran: str | None, renewed: bool, enabled: bool = True) -> Installed:
    manifest = candidate.manifest
    return Installed(
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
    """Of what was granted, what the manifest still declares. What it declares anew is not granted by that."""
    given = granted.granted(transaction, area)
    if given is not None:
        granted.keep_granted(transaction, area, given.within(manifest.optional | manifest.at_install))


def _expect_stopped(transaction: Transaction, area: str, name: str) -> None:
    at_work = running.get(transaction, area)
    if at_work is not None:
        raise ExtensionError(f"{name} is running, in the process {at_work.process}. Stop it there first.")


def _changes(before: Permissions, after: Permissions) -> str:
    added, removed = _listed(after - before), _listed(before - after)
    if not added and not removed:
        return "Both require the same permissions."
    parts = [f"requires {added} in addition" if added else "", f"does not require {removed}" if removed else ""]
    return f"It {' and '.join(filter(None, parts))}."


def _listed(permissions: Permissions) -> str:
    return ", ".join([*permissions.permissions, *permissions.origins, *permissions.data_collection])


# ── Records of earlier formats ──


def outdated(transaction: Transaction) -> list[Installed]:
    """The extensions that were noted before packages were stored, and data areas had names."""
    return [each for each in installed.get_all(transaction) if not each.area]


def adopt(transaction: Transaction, known: Installed, candidate: Candidate | None, now: float) -> None:
    """Bring a record of an earlier format up to date. One that is installed is stored if its files could be read.

    What its files require by now and it did not hold is not granted by that: it has to be installed again.
    """
    if known not in outdated(transaction):
        return  # another process was faster
    has_run = granted.granted(transaction, known.id) is not None
    record = msgspec.structs.replace(known, area=known.id, ran=known.version if has_run else None)
    if not known.kept:
        record = msgspec.structs.replace(record, area=area_of(known.id, Path(known.path)))
        transaction.extensions.move(known.id, record.area)
    elif candidate is None or candidate.manifest.id != known.id or new_permissions(known, candidate.manifest):
        record = msgspec.structs.replace(record, digest=REINSTALL)
    else:
        renewed = has_run and candidate.manifest.version != known.version
        record = _record(candidate, now, ran=record.ran, renewed=renewed, enabled=known.enabled)
        transaction.packages.put(candidate.digest, candidate.data)
    installed.install(transaction, record)
