"""All errors that Hatbox raises on purpose.

HatboxError
├── ApiError                 visible to scripts; the message is Firefox's if Firefox has one
│   ├── ArgumentError        the arguments do not match the schema; nothing was done
│   ├── PermissionDenied     the caller does not have the permission
│   ├── InvalidIdentity      no identity has this cookieStoreId
│   ├── DuplicateIdentity    move got the same cookieStoreId twice
│   ├── InvalidColor
│   ├── InvalidIcon
│   ├── InvalidName
│   ├── InvalidPosition
│   ├── InvalidTab           no tab has this id
│   ├── InvalidWindow        no window has this id
│   ├── UndeclaredPermission the requested permission is not optional in the manifest
│   └── IdsExhausted         no cookieStoreId is left
├── IdentityNotFound         no identity has this name or id; has similar names
├── AmbiguousIdentity        several identities have this name; has their ids
├── IdentityMismatch         the identity object has another name than the profile; nothing was done
├── CookieRejected           the cookie was not stored; has the exclusion reason
├── CookiesNotAllowed        cookies were passed to a client that is bound to an identity; nothing was sent
├── IdentityRemoved          the identity of a client was removed; nothing was sent
├── EngineError              an engine cannot start or work
│   └── EngineAlreadyRunning another engine is running for this profile
├── MissingExtra             a required package is not installed
├── ExtensionError           an extension cannot be used
│   ├── ExtensionNotFound    no extension with this id is installed
│   ├── TriggerError         the extension is not running, or does not have this trigger; nothing was done
│   ├── PackageError         the folder or file is not an extension, is damaged or is not safe to read
│   └── ManifestError        the manifest, or a file that it names, is invalid; has file and key
├── ScriptError              a script of an extension threw an error; has file and line
├── ExtensionTerminated      the extension process has exited, and the call has no result
│   └── SandboxUnavailable   a required layer of the sandbox is missing; the extension was not started
├── NetworkError             a request of a script failed
├── ImportExportError        an import or export failed; nothing was changed
│   ├── InvalidInputFile     the file does not have the expected format; has file and line
│   └── FirefoxProfileLocked Firefox has the profile open
└── ProfileError             the profile cannot be used; the message has its label and what to do
    ├── NotAProfile
    ├── ProfileTooNew
    ├── ProfileCorrupt
    ├── ProfileReadOnly
    ├── DiskFull
    ├── ProfileLocked
    └── ProfileClosed
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hatbox.javascript.text import well_formed

__all__ = [
    "AmbiguousIdentity",
    "ApiError",
    "ArgumentError",
    "CookieRejected",
    "CookiesNotAllowed",
    "DiskFull",
    "DuplicateIdentity",
    "EngineAlreadyRunning",
    "EngineError",
    "ExtensionError",
    "ExtensionNotFound",
    "ExtensionTerminated",
    "FirefoxProfileLocked",
    "HatboxError",
    "IdentityMismatch",
    "IdentityNotFound",
    "IdentityRemoved",
    "IdsExhausted",
    "ImportExportError",
    "InvalidColor",
    "InvalidIcon",
    "InvalidIdentity",
    "InvalidInputFile",
    "InvalidName",
    "InvalidPosition",
    "InvalidTab",
    "InvalidWindow",
    "ManifestError",
    "MissingExtra",
    "NetworkError",
    "NotAProfile",
    "PackageError",
    "PermissionDenied",
    "ProfileClosed",
    "ProfileCorrupt",
    "ProfileError",
    "ProfileLocked",
    "ProfileReadOnly",
    "ProfileTooNew",
    "SandboxUnavailable",
    "ScriptError",
    "TriggerError",
    "UndeclaredPermission",
]


class HatboxError(Exception):
    """The base class of all errors that Hatbox raises on purpose."""

    def __init__(self, message: str) -> None:
        super().__init__(well_formed(message))  # text from scripts may have lone surrogates


class ApiError(HatboxError):
    """An error that scripts see. Its message is part of the API."""


class ArgumentError(ApiError):
    """The arguments do not match the schema of the function."""


class PermissionDenied(ApiError):
    """The caller does not have the permission that the namespace requires."""


class InvalidIdentity(ApiError):
    """No identity has this cookieStoreId."""

    def __init__(self, cookie_store_id: str) -> None:
        super().__init__(f"Invalid contextual identity: {cookie_store_id}")
        self.cookie_store_id = cookie_store_id


class DuplicateIdentity(ApiError):
    """The list passed to move has the same cookieStoreId twice."""

    def __init__(self, cookie_store_id: str) -> None:
        super().__init__(f"Duplicate contextual identity: {cookie_store_id}")


class InvalidColor(ApiError):
    """The palette does not have this color."""

    def __init__(self, color: str) -> None:
        super().__init__(f"Invalid color name {color} for container")


class InvalidIcon(ApiError):
    """The palette does not have this icon."""

    def __init__(self, icon: str) -> None:
        super().__init__(f"Invalid icon {icon} for container")


class InvalidName(ApiError):
    """The name is blank."""

    def __init__(self) -> None:
        super().__init__("Invalid contextual identity name: it is blank")


class InvalidPosition(ApiError):
    """The list does not have this position."""

    def __init__(self, position: int) -> None:
        super().__init__(f"Moving to invalid position {position}")


class InvalidTab(ApiError):
    """No tab has this id."""

    def __init__(self, tab_id: int) -> None:
        super().__init__(f"Invalid tab ID: {tab_id}")
        self.tab_id = tab_id


class InvalidWindow(ApiError):
    """No window has this id."""

    def __init__(self, window_id: int) -> None:
        super().__init__(f"Invalid window ID: {window_id}")
        self.window_id = window_id


class UndeclaredPermission(ApiError):
    """An extension requests a permission that is not optional in its manifest."""


class IdsExhausted(ApiError):
    """No cookieStoreId that a browser could parse is left."""

    def __init__(self) -> None:
        super().__init__("No contextual identity ids are left in this profile")


class IdentityNotFound(HatboxError):
    """No identity has this name or id. `nearest` has similar names."""

    def __init__(self, name_or_id: str, nearest: Sequence[str] = ()) -> None:
        quoted = " or ".join(f'"{name}"' for name in nearest)
        hint = f"Did you mean {quoted}? " if nearest else ""
        super().__init__(f'identity not found: "{name_or_id}". {hint}List identities with: hatbox list')
        self.name_or_id = name_or_id
        self.nearest = tuple(nearest)


class AmbiguousIdentity(HatboxError):
    """Several identities have this name. `candidates` has their ids, in the user's order."""

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        super().__init__(
            f'{len(candidates)} identities are named "{name}": {", ".join(candidates)}. Pass the cookieStoreId instead.'
        )
        self.name = name
        self.candidates = tuple(candidates)


class IdentityMismatch(HatboxError):
    """The name of an identity object is not that of its id: the object is outdated, or from another profile."""

    def __init__(self, cookie_store_id: str, given: str, known: str) -> None:
        super().__init__(
            f'{cookie_store_id} is named "{known}" in this profile, not "{given}". The object is outdated or from '
            "another profile. Pass the cookieStoreId or the name."
        )
        self.cookie_store_id = cookie_store_id


class CookieRejected(HatboxError):
    """The cookie was not stored. `reason` is one of hatbox.cookies.ExclusionReason."""

    def __init__(self, reason: str, name: str) -> None:
        super().__init__(f"Cookie “{name}” rejected: {reason}")
        self.reason = reason
        self.name = name


class ExtensionError(HatboxError):
    """An extension cannot be used."""


class ExtensionNotFound(ExtensionError):
    """No extension with this id is installed."""

    def __init__(self, extension_id: str) -> None:
        super().__init__(f"extension not found: {extension_id}. List extensions with: hatbox extensions list")
        self.extension_id = extension_id


class AlreadyInstalled(ExtensionError):
    """Another extension with this id is installed, from another path or with another name. Nothing was done."""

    def __init__(self, extension_id: str, installed: str, given: str, changes: str) -> None:
        super().__init__(
            f"{extension_id} is already installed: {installed}. This is {given}. {changes} "
            "To install it instead, pass --replace (replace=True): that deletes granted permissions, and all data "
            "unless you pass --keep-data (keep_data=True) as well."
        )
        self.extension_id = extension_id


class TriggerError(ExtensionError):
    """The extension is not running, or does not have this trigger. Nothing was done."""


class PackageError(ExtensionError):
    """The folder or file is not an extension, is damaged, or is not safe to read."""

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}. {remedy}")
        self.path = path
        self.problem = problem
        self.remedy = remedy


class ManifestError(ExtensionError):
    """A file of the extension is invalid. `key` is the path in it, such as background.scripts[1]."""

    def __init__(self, file: str, key: str, problem: str, remedy: str) -> None:
        super().__init__(f"{file}: {key}: {problem}. {remedy}" if key else f"{file}: {problem}. {remedy}")
        self.file = file
        self.key = key
        self.problem = problem
        self.remedy = remedy


class ScriptError(HatboxError):
    """A script threw an error."""

    def __init__(
        self, message: str, name: str = "Error", stack: str = "", file: str = "", line: int = 0, column: int = 0
    ) -> None:
        super().__init__(f"{name}: {message}" if name else message)
        self.message = message
        self.name = name
        self.stack = stack
        self.file = file
        self.line = line
        self.column = column


class ExtensionTerminated(HatboxError):
    """The extension process has exited, and the call has no result."""


class SandboxUnavailable(ExtensionTerminated):
    """A required layer of the sandbox is missing. The extension was not started."""


class NetworkError(HatboxError):
    """A request failed. Scripts do not see the cause, which is logged."""


class ImportExportError(HatboxError):
    """An import or export failed. Nothing was changed."""


class InvalidInputFile(ImportExportError):
    """A file is damaged, truncated or in another format. `line` counts from 1, or is None."""

    def __init__(self, source: str, problem: str, line: int | None = None) -> None:
        place = source if line is None else f"{source}, line {line}"
        super().__init__(f"{place}: {problem}. Nothing was imported.")
        self.source = source
        self.problem = problem
        self.line = line


class FirefoxProfileLocked(ImportExportError):
    """Firefox has this profile open, and would overwrite changes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder}: Firefox has this profile open. Quit Firefox, or specify another folder.")
        self.folder = folder


class CookiesNotAllowed(HatboxError):
    """Cookies were passed to a client that is bound to an identity. Nothing was sent."""

    def __init__(self, how: str) -> None:
        super().__init__(
            f"{how}, but a client sends only the cookies of its identity. "
            "Set the cookie in the cookie store of the identity, or use another client."
        )


class IdentityRemoved(HatboxError):
    """The identity that a client is bound to was removed. The client can no longer send requests."""

    def __init__(self, cookie_store_id: str, name: str = "") -> None:
        identity = f'"{name}" ({cookie_store_id})' if name else cookie_store_id
        super().__init__(f"identity {identity} was removed; this client can no longer send requests")
        self.cookie_store_id = cookie_store_id


class MissingExtra(HatboxError):
    """A required package is not installed. `needed` is its name, if it differs from the extra."""

    def __init__(self, extra: str, needed: str = "") -> None:
        super().__init__(f"{needed or extra} is not installed. Install it with: pip install 'hatbox[{extra}]'")
        self.extra = extra


class EngineError(HatboxError):
    """An engine cannot start or work."""


class EngineAlreadyRunning(EngineError):
    """Another engine is running for this profile. `engine` is its name, `process` its process id."""

    def __init__(self, engine: str, process: int | None) -> None:
        where = f" (pid {process})" if process else ""
        super().__init__(
            f"this profile is already open in the {engine} engine{where}. Use that engine, or stop it first."
        )
        self.engine = engine
        self.process = process


class ProfileError(HatboxError):
    """The profile cannot be used."""

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}. {remedy}")
        self.path = path
        self.problem = problem
        self.remedy = remedy


class NotAProfile(ProfileError):
    """The file is not a Hatbox profile. It was not changed."""


class ProfileTooNew(ProfileError):
    """A newer version of Hatbox has written the profile. It was not changed."""


class ProfileCorrupt(ProfileError):
    """The profile is damaged. It was not changed, and is never replaced with an empty one."""


class ProfileReadOnly(ProfileError):
    """The profile or its folder is not writable."""


class DiskFull(ProfileError):
    """The disk is full. Nothing was changed."""


class ProfileLocked(ProfileError):
    """Another process has locked the profile for too long. Nothing was changed."""


class ProfileClosed(ProfileError):
    """The profile is closed, or belongs to another process or thread."""
