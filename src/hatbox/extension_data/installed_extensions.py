"""Installed extensions in the profile, with a summary of their manifests. Transaction functions."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from hatbox.errors import ExtensionNotFound
from hatbox.extension_data.extension_permissions import NONE, Permissions
from hatbox.extension_data.granted_permissions import load_granted
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.store.base import Transaction
from hatbox.tabs.opening import open_tab

__all__ = [
    "CHANGED",
    "DISABLED",
    "ENABLED",
    "INSTALLED",
    "REINSTALL",
    "RUNNING",
    "UNINSTALLED",
    "IconInfo",
    "InstalledExtension",
    "ManifestSummary",
    "drop_package",
    "get",
    "get_all",
    "info_of",
    "install",
    "record_run",
    "remove",
    "set_enabled",
    "store_uninstall_url",
]

CHANGED: Final = "extensions.changed"
"""The topic of changes to installed extensions. The payload is a data area."""
INSTALLED: Final = "management.installed"
UNINSTALLED: Final = "management.uninstalled"
ENABLED: Final = "management.enabled"
DISABLED: Final = "management.disabled"

REINSTALL: Final = ""
"""Instead of a digest: installed before the profile stored packages, and its files are not readable."""

RUNNING: Final = "running"
"""The kind of the records of running extensions (`run_records.py`)."""

_KIND: Final = "installed"
_UNINSTALL_URL: Final = "uninstall-url"


class IconInfo(msgspec.Struct, frozen=True):
    """An icon of an extension."""

    size: int
    url: str


class ManifestSummary(msgspec.Struct, frozen=True):
    """The parts of a manifest that other extensions may see."""

    uuid: str = ""
    short_name: str = ""
    description: str = ""
    homepage_url: str | None = None
    options_url: str = ""
    icons: tuple[IconInfo, ...] | None = None
    required: Permissions = NONE


class InstalledExtension(msgspec.Struct, frozen=True):
    """The record of an installed extension, or of a temporary installation."""

    id: str
    path: str
    """Where it was installed from, with symbolic links resolved. The profile stores its files."""
    name: str
    version: str
    permanent: bool = msgspec.field(default=True, name="kept")
    """False for a temporary installation: after its run, only its data stays."""
    enabled: bool = True
    """Whether it starts with the other extensions."""
    about: ManifestSummary = ManifestSummary()
    area: str = ""
    """The data area. Empty in records of earlier formats."""
    digest: str | None = None
    """The hash of its package. None for a temporary installation; REINSTALL if it must be installed again."""
    title: str = ""
    """Its name in its default locale."""
    installed_at: float = 0.0
    """Seconds since 1970."""
    ran: str | None = None
    """The version that last ran with this data, or None."""
    renewed: bool = False
    """Whether it was reinstalled since its last run."""

    @property
    def needs_reinstall(self) -> bool:
        """Whether its files are not stored, so that it cannot run."""
        return self.permanent and not self.digest


def get_all(transaction: Transaction) -> list[InstalledExtension]:
    """All records, in the order of installation."""
    return [_decode(value) for _, _, value in transaction.extensions.find(_KIND)]


def get(transaction: Transaction, area: str) -> InstalledExtension | None:
    """The record of a data area, or None."""
    value = transaction.extensions.get(area, _KIND, "")
    return _decode(value) if value else None


def install(
    transaction: Transaction, extension: InstalledExtension, *, reinstall: bool = False
) -> InstalledExtension | None:
    """Store a record; returns the record that it replaces. `reinstall` always emits onInstalled for a temporary one."""
    before = get(transaction, extension.area)
    if before != extension:
        _put(transaction, extension)
    is_same = before is not None and _event_fields(before) == _event_fields(extension)
    if not is_same or (reinstall and not extension.permanent):
        _emit(transaction, INSTALLED, extension)
    return before


def record_run(transaction: Transaction, area: str, version: str) -> None:
    """Record that an extension has received its start events. Emits no event to others."""
    extension = get(transaction, area)
    if extension is not None and (extension.ran != version or extension.renewed):
        extension = msgspec.structs.replace(extension, ran=version, renewed=False)
        transaction.extensions.put(area, _KIND, "", _encode(extension))


def set_enabled(transaction: Transaction, area: str, enabled: bool) -> InstalledExtension:
    """Enable or disable an extension."""
    extension = _existing(transaction, area)
    if extension.enabled != enabled:
        extension = msgspec.structs.replace(extension, enabled=enabled)
        _put(transaction, extension)
        _emit(transaction, ENABLED if enabled else DISABLED, extension)
    return extension


def remove(transaction: Transaction, area: str) -> InstalledExtension:
    """Remove an extension, its package and its data, and open the page of runtime.setUninstallURL()."""
    extension = _existing(transaction, area)
    url = transaction.extensions.get(area, _UNINSTALL_URL, "")
    _emit(transaction, UNINSTALLED, extension)
    running = transaction.extensions.get(area, RUNNING, "")
    transaction.extensions.clear(area)
    if running:  # its process may still write: reserve the data area until the process ends
        nameless = {**msgspec.json.decode(running), "name": "", "manifest": {}}
        transaction.extensions.put(area, RUNNING, "", _encode(nameless))
    drop_package(transaction, extension.digest)
    transaction.changes.append(CHANGED, _encode(area))
    if url:
        open_tab(transaction, msgspec.json.decode(url, type=str), cookie_store_id=DEFAULT_COOKIE_STORE_ID)
    return extension


def drop_package(transaction: Transaction, digest: str | None) -> None:
    """Delete a package that no installed extension uses."""
    if digest and all(each.digest != digest for each in get_all(transaction)):
        transaction.packages.delete(digest)


def store_uninstall_url(transaction: Transaction, area: str, url: str | None) -> None:
    """Store the URL to open when an extension is removed; None deletes it."""
    if url:
        transaction.extensions.put(area, _UNINSTALL_URL, "", _encode(url))
    else:
        transaction.extensions.delete(area, _UNINSTALL_URL, "")


def info_of(transaction: Transaction, extension: InstalledExtension) -> dict[str, Any]:
    """management.ExtensionInfo. As in Firefox, that of a disabled extension has fewer properties."""
    about = extension.about
    info: dict[str, Any] = {
        "id": extension.id,
        "name": extension.name,
        "description": about.description,
        "version": extension.version,
        "mayDisable": extension.enabled,
        "enabled": extension.enabled,
        "optionsUrl": about.options_url if extension.enabled else "",
        "installType": "normal" if extension.permanent else "development",
        "type": "extension",
    }
    if extension.enabled:
        permissions = about.required | (load_granted(transaction, extension.area) or NONE).visible()
        info["permissions"] = list(permissions.permissions)
        info["hostPermissions"] = [*permissions.origins, f"moz-extension://{about.uuid}/*"]
        info["shortName"] = about.short_name
        if about.icons is not None:
            info["icons"] = [{"size": icon.size, "url": icon.url} for icon in about.icons]
    else:
        info["disabledReason"] = "unknown"
    if about.homepage_url:
        info["homepageUrl"] = about.homepage_url
    return info


def _event_fields(extension: InstalledExtension) -> tuple[str, bool, str | None]:
    """The fields whose changes emit events."""
    return extension.version, extension.permanent, extension.digest


def _existing(transaction: Transaction, area: str) -> InstalledExtension:
    extension = get(transaction, area)
    if extension is None:
        raise ExtensionNotFound(area)
    return extension


def _put(transaction: Transaction, extension: InstalledExtension) -> None:
    transaction.extensions.put(extension.area, _KIND, "", _encode(extension))
    transaction.changes.append(CHANGED, _encode(extension.area))


def _emit(transaction: Transaction, topic: str, extension: InstalledExtension) -> None:
    transaction.changes.append(topic, _encode(info_of(transaction, extension)))


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(InstalledExtension).decode
