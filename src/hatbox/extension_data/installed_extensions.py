"""Which extensions the profile has, and what it knows of each without reading its files. Functions of a transaction."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from hatbox.errors import ExtensionNotFound
from hatbox.extension_data.extension_permissions import NONE, Permissions
from hatbox.extension_data.granted_permissions import load_granted
from hatbox.identities.ids import DEFAULT_STORE
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
    "note_run",
    "remove",
    "set_enabled",
    "store_uninstall_url",
]

CHANGED: Final = "extensions.changed"
"""The topic of changes to which extensions are installed. The payload is the data area of one."""
INSTALLED: Final = "management.installed"
UNINSTALLED: Final = "management.uninstalled"
ENABLED: Final = "management.enabled"
DISABLED: Final = "management.disabled"

REINSTALL: Final = ""
"""Instead of a digest: the extension was installed before packages were stored, and its files are not readable."""

RUNNING: Final = "running"
"""The kind of the records of running extensions; see hatbox.extensions.running."""

_KIND: Final = "installed"
_UNINSTALL_URL: Final = "uninstall-url"


class IconInfo(msgspec.Struct, frozen=True):
    """An icon of an extension."""

    size: int
    url: str


class ManifestSummary(msgspec.Struct, frozen=True):
    """What the manifest of an extension says of it, as far as others may be told."""

    uuid: str = ""
    short_name: str = ""
    description: str = ""
    homepage_url: str | None = None
    options_url: str = ""
    icons: tuple[IconInfo, ...] | None = None
    required: Permissions = NONE


class InstalledExtension(msgspec.Struct, frozen=True):
    """The record of an extension that was installed, or was run from a folder."""

    id: str
    path: str
    """Where it was installed from, links resolved. Its files are stored in the profile."""
    name: str
    version: str
    kept: bool = True
    """Whether it stays when it has been run; one that was only tried out is forgotten, but for its data."""
    enabled: bool = True
    """Whether it runs with the others."""
    about: ManifestSummary = ManifestSummary()
    area: str = ""
    """The data area: the name under which the profile stores its data. Empty in records of earlier formats."""
    digest: str | None = None
    """The hash of its package. None for an extension that is run from a folder; REINSTALL if it has to be installed
    again."""
    title: str = ""
    """Its name in its own default language, whatever the user's language is."""
    installed_at: float = 0.0
    """Seconds since 1970."""
    ran: str | None = None
    """The version that was last run with this data; None if none was."""
    renewed: bool = False
    """Whether it was installed again since it was last run."""

    @property
    def needs_reinstall(self) -> bool:
        """Whether its files are not stored, and it cannot be run."""
        return self.kept and not self.digest


def get_all(transaction: Transaction) -> list[InstalledExtension]:
    """All that are installed, in the order in which they were."""
    return [_decode(value) for _, _, value in transaction.extensions.find(_KIND)]


def get(transaction: Transaction, area: str) -> InstalledExtension | None:
    """The extension that has a data area, or None. The area of an installed extension is its id."""
    value = transaction.extensions.get(area, _KIND, "")
    return _decode(value) if value else None


def install(
    transaction: Transaction, extension: InstalledExtension, *, anew: bool = False
) -> InstalledExtension | None:
    """Note an extension, in the place of an earlier version of it, which is returned.

    With `anew`, one that is only tried out counts as installed once more.
    """
    before = get(transaction, extension.area)
    if before != extension:
        _put(transaction, extension)
    same = before is not None and _seen(before) == _seen(extension)
    if not same or (anew and not extension.kept):
        _tell(transaction, INSTALLED, extension)
    return before


def note_run(transaction: Transaction, area: str, version: str) -> None:
    """Record that an extension has received its start events. Emits no event to others."""
    extension = get(transaction, area)
    if extension is not None and (extension.ran != version or extension.renewed):
        extension = msgspec.structs.replace(extension, ran=version, renewed=False)
        transaction.extensions.put(area, _KIND, "", _encode(extension))


def set_enabled(transaction: Transaction, area: str, enabled: bool) -> InstalledExtension:
    """Let an extension run with the others, or not."""
    extension = _existing(transaction, area)
    if extension.enabled != enabled:
        extension = msgspec.structs.replace(extension, enabled=enabled)
        _put(transaction, extension)
        _tell(transaction, ENABLED if enabled else DISABLED, extension)
    return extension


def remove(transaction: Transaction, area: str) -> InstalledExtension:
    """Remove an extension, its package and its data, and open the page of runtime.setUninstallURL()."""
    extension = _existing(transaction, area)
    url = transaction.extensions.get(area, _UNINSTALL_URL, "")
    _tell(transaction, UNINSTALLED, extension)
    at_work = transaction.extensions.get(area, RUNNING, "")
    transaction.extensions.clear(area)
    if at_work:  # its process may still write: no other extension may get this data area until it ends
        nameless = {**msgspec.json.decode(at_work), "name": "", "manifest": {}}
        transaction.extensions.put(area, RUNNING, "", _encode(nameless))
    drop_package(transaction, extension.digest)
    transaction.changes.append(CHANGED, _encode(area))
    if url:
        open_tab(transaction, msgspec.json.decode(url, type=str), cookie_store_id=DEFAULT_STORE)
    return extension


def drop_package(transaction: Transaction, digest: str | None) -> None:
    """Delete a package unless an installed extension has it."""
    if digest and all(each.digest != digest for each in get_all(transaction)):
        transaction.packages.delete(digest)


def store_uninstall_url(transaction: Transaction, area: str, url: str | None) -> None:
    """Note the page to open when an extension is removed, or that there is none."""
    if url:
        transaction.extensions.put(area, _UNINSTALL_URL, "", _encode(url))
    else:
        transaction.extensions.delete(area, _UNINSTALL_URL, "")


def info_of(transaction: Transaction, extension: InstalledExtension) -> dict[str, Any]:
    """A management.ExtensionInfo. Of one that is disabled Firefox tells no more than its name."""
    about = extension.about
    info: dict[str, Any] = {
        "id": extension.id,
        "name": extension.name,
        "description": about.description,
        "version": extension.version,
        "mayDisable": extension.enabled,
        "enabled": extension.enabled,
        "optionsUrl": about.options_url if extension.enabled else "",
        "installType": "normal" if extension.kept else "development",
        "type": "extension",
    }
    if extension.enabled:
        every = about.required | (load_granted(transaction, extension.area) or NONE).visible()
        info["permissions"] = list(every.permissions)
        info["hostPermissions"] = [*every.origins, f"moz-extension://{about.uuid}/*"]
        info["shortName"] = about.short_name
        if about.icons is not None:
            info["icons"] = [{"size": icon.size, "url": icon.url} for icon in about.icons]
    else:
        info["disabledReason"] = "unknown"
    if about.homepage_url:
        info["homepageUrl"] = about.homepage_url
    return info


def _seen(extension: InstalledExtension) -> tuple[str, bool, str | None]:
    """The part of a record whose changes emit events."""
    return extension.version, extension.kept, extension.digest


def _existing(transaction: Transaction, area: str) -> InstalledExtension:
    extension = get(transaction, area)
    if extension is None:
        raise ExtensionNotFound(area)
    return extension


def _put(transaction: Transaction, extension: InstalledExtension) -> None:
    transaction.extensions.put(extension.area, _KIND, "", _encode(extension))
    transaction.changes.append(CHANGED, _encode(extension.area))


def _tell(transaction: Transaction, topic: str, extension: InstalledExtension) -> None:
    transaction.changes.append(topic, _encode(info_of(transaction, extension)))


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(InstalledExtension).decode
