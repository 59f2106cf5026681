"""Which extensions the profile has, and what it knows of each without reading its files. Functions of a transaction."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from hatbox.api.granted import granted
from hatbox.api.grants import NONE, Permissions
from hatbox.cookie_store_ids import DEFAULT_STORE
from hatbox.errors import NoSuchExtension
from hatbox.store.base import Transaction
from hatbox.tabs.opening import open_tab

__all__ = [
    "CHANGED",
    "DISABLED",
    "ENABLED",
    "INSTALLED",
    "UNINSTALLED",
    "About",
    "Icon",
    "Installed",
    "get",
    "get_all",
    "info_of",
    "install",
    "keep_uninstall_url",
    "remove",
    "set_enabled",
]

CHANGED: Final = "extensions.changed"
"""The topic of changes to which extensions are there. The payload is the id of one."""
INSTALLED: Final = "management.installed"
UNINSTALLED: Final = "management.uninstalled"
ENABLED: Final = "management.enabled"
DISABLED: Final = "management.disabled"

_KIND: Final = "installed"
_FAREWELL: Final = "uninstall-url"


class Icon(msgspec.Struct, frozen=True):
    """An icon of an extension."""

    size: int
    url: str


class About(msgspec.Struct, frozen=True):
    """What the manifest of an extension says of it, as far as others may be told."""

    uuid: str = ""
    short_name: str = ""
    description: str = ""
    homepage_url: str | None = None
    options_url: str = ""
    icons: tuple[Icon, ...] | None = None
    required: Permissions = NONE


class Installed(msgspec.Struct, frozen=True):
    """An extension that was installed: where it lies, and what it was when it last ran."""

    id: str
    path: str
    name: str
    version: str
    kept: bool = True
    """Whether it stays when it has been run; one that was only tried out is forgotten, but for its data."""
    enabled: bool = True
    """Whether it runs with the others."""
    about: About = About()


def get_all(transaction: Transaction) -> list[Installed]:
    """All that are installed, in the order in which they were."""
    return [_decode(value) for _, _, value in transaction.extensions.find(_KIND)]


def get(transaction: Transaction, extension_id: str) -> Installed | None:
    """One that is installed, or None."""
    value = transaction.extensions.get(extension_id, _KIND, "")
    return _decode(value) if value else None


def install(transaction: Transaction, extension: Installed, *, anew: bool = False) -> Installed | None:
    """Note an extension, in the place of an earlier version of it, which is returned.

    With `anew`, one that is only tried out counts as installed once more.
    """
    before = get(transaction, extension.id)
    if before != extension:
        _put(transaction, extension)
    same = before is not None and (before.version, before.kept) == (extension.version, extension.kept)
    if not same or (anew and not extension.kept):
        _tell(transaction, INSTALLED, extension)
    return before


def set_enabled(transaction: Transaction, extension_id: str, enabled: bool) -> Installed:
    """Let an extension run with the others, or not."""
    extension = _existing(transaction, extension_id)
    if extension.enabled != enabled:
        extension = msgspec.structs.replace(extension, enabled=enabled)
        _put(transaction, extension)
        _tell(transaction, ENABLED if enabled else DISABLED, extension)
    return extension


def remove(transaction: Transaction, extension_id: str) -> Installed:
    """Drop an extension and all that it has kept. Where it asked for a page to be opened then, that is."""
    extension = _existing(transaction, extension_id)
    url = transaction.extensions.get(extension_id, _FAREWELL, "")
    _tell(transaction, UNINSTALLED, extension)
    transaction.extensions.clear(extension_id)
    transaction.changes.append(CHANGED, _encode(extension_id))
    if url:
        open_tab(transaction, msgspec.json.decode(url, type=str), cookie_store_id=DEFAULT_STORE)
    return extension


def keep_uninstall_url(transaction: Transaction, extension_id: str, url: str | None) -> None:
    """Note the page to open when an extension is removed, or that there is none."""
    if url:
        transaction.extensions.put(extension_id, _FAREWELL, "", _encode(url))
    else:
        transaction.extensions.delete(extension_id, _FAREWELL, "")


def info_of(transaction: Transaction, extension: Installed) -> dict[str, Any]:
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
        every = about.required | (granted(transaction, extension.id) or NONE).visible()
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


def _existing(transaction: Transaction, extension_id: str) -> Installed:
    extension = get(transaction, extension_id)
    if extension is None:
        raise NoSuchExtension(extension_id)
    return extension


def _put(transaction: Transaction, extension: Installed) -> None:
    transaction.extensions.put(extension.id, _KIND, "", _encode(extension))
    transaction.changes.append(CHANGED, _encode(extension.id))


def _tell(transaction: Transaction, topic: str, extension: Installed) -> None:
    transaction.changes.append(topic, _encode(info_of(transaction, extension)))


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Installed).decode
