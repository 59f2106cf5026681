"""The manifests of native applications, which only the user installs, in folders of Hatbox and of Firefox.

Every manifest that Firefox refuses is refused here, for the same reason. Extensions do not learn why.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec
import platformdirs

__all__ = ["NativeApplication", "find_native_application", "native_manifest_folders"]

logger = logging.getLogger("hatbox.messaging")

_NAME: Final = re.compile(r"\w+(\.\w+)*", re.ASCII)
_MAX_BYTES: Final = 1 << 20
_LINUX_FOLDER: Final = "native-messaging-hosts"
_MAC_FOLDERS: Final = ("Library", "Application Support", "Mozilla", "NativeMessagingHosts")


class NativeApplication(NamedTuple):
    """An installed native application."""

    program: str
    manifest: str
    """The path of its manifest, which is the first argument of the program."""


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    description: str
    path: str
    type: Literal["stdio", "pkcs11"]
    allowed_extensions: tuple[str, ...]


def find_native_application(application: str, extension_id: str) -> NativeApplication | None:
    """The application of this name, if the extension may use it, or None. Reads files."""
    if _NAME.fullmatch(application) is None:
        return None
    for folder in native_manifest_folders():
        path = folder / f"{application}.json"
        try:
            manifest = _read(path)
        except FileNotFoundError:
            continue
        except (OSError, msgspec.DecodeError, UnicodeError) as error:
            logger.warning("native manifest %s cannot be read: %s", path, error)
            continue
        if (problem := _problem(manifest, application, extension_id)) is None:
            return NativeApplication(manifest.path, str(path))
        logger.warning("native manifest %s is not used: %s", path, problem)
    return None


def native_manifest_folders() -> Iterator[Path]:
    """The folders of native manifests: of Hatbox, of Firefox for this user, and of Firefox for all users."""
    yield Path(platformdirs.user_data_dir("hatbox", appauthor=False)) / _LINUX_FOLDER
    if sys.platform == "darwin":
        yield Path.home().joinpath(*_MAC_FOLDERS)
        yield Path("/").joinpath(*_MAC_FOLDERS)
    elif os.name == "posix":
        yield Path.home() / ".mozilla" / _LINUX_FOLDER
        yield Path("/usr/lib/mozilla") / _LINUX_FOLDER
        yield Path("/usr/lib64/mozilla") / _LINUX_FOLDER


def _read(path: Path) -> _Manifest:
    with path.open("rb") as file:
        contents = file.read(_MAX_BYTES + 1)
    if len(contents) > _MAX_BYTES:
        raise msgspec.DecodeError(f"it has more than {_MAX_BYTES} bytes")
    return msgspec.json.decode(contents, type=_Manifest)


def _problem(manifest: _Manifest, application: str, extension_id: str) -> str | None:
    if manifest.type != "stdio":
        return f'its type is "{manifest.type}". Write "stdio"'
    if manifest.name != application:
        return f'its name is "{manifest.name}". Write "{application}"'
    if not Path(manifest.path).is_absolute():
        return f'its path "{manifest.path}" is not absolute'
    if extension_id not in manifest.allowed_extensions:
        return f"its allowed_extensions do not contain {extension_id}"
    return None
