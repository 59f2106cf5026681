"""Every error that Hatbox raises on purpose.

HatboxError
├── ApiError                   what a script sees; the message is Firefox's wherever Firefox has one
│   ├── ArgumentError          invalid arguments, raised before the call starts
│   ├── PermissionDenied       the caller lacks the permission
│   ├── InvalidIdentity        no identity has this id
│   ├── DuplicateIdentity      one id given twice to move
│   ├── InvalidColor
│   ├── InvalidIcon
│   ├── InvalidName
│   ├── InvalidPosition
│   ├── InvalidTab             no tab has this id
│   ├── InvalidWindow          no window has this id
│   ├── UndeclaredPermission   an extension requests a permission that its manifest does not list as optional
│   └── IdsExhausted
├── IdentityNotFound           no identity has this name or id; knows the nearest names
├── AmbiguousIdentity          several identities have this name; knows them
├── IdentityMismatch           an identity object is outdated or from another profile; nothing was done
├── CookieRejected             the cookie engine rejects this cookie; knows the reason
├── CookiesNotAllowed          a client was given cookies that are not its identity's; nothing was sent
├── IdentityRemoved            a client has outlived its identity; nothing was sent
├── EngineError                an engine failed; the message says what to do
│   └── EngineAlreadyRunning   another process runs an engine for this profile
├── MissingExtra               a client needs a package that is not installed; the message says how to get it
├── ExtensionError             an extension cannot be used; the message names the place and says what to do
│   ├── ExtensionNotFound      no extension with this id is installed
│   ├── AlreadyInstalled       another extension with this id is installed
│   ├── TriggerError           an extension does not have the item to trigger; nothing was done
│   ├── PackageError           the folder or file is not an extension, is damaged or is not safe to read
│   └── ManifestError          the manifest, or a file of _locales, is invalid; knows file and key
├── ScriptError                a script of an extension threw an error; knows file and line
├── ExtensionTerminated        an extension process has ended; pending calls fail
│   └── SandboxUnavailable     the extension was not started: a required layer of the sandbox is missing
├── NetworkError               a request of a script failed
├── ImportExportError          an import or export failed; nothing was changed
│   ├── InvalidInputFile       a file is invalid; the message names the line
│   └── FirefoxProfileLocked   Firefox has the profile open
└── ProfileError               the profile cannot be used; the message names it and says what to do
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


class HatboxError(Exception):
    """The root of all errors that Hatbox raises on purpose."""

    def __init__(self, message: str) -> None:
        super().__init__(well_formed(message))  # what a script passed in may be no text that can be shown


class ApiError(HatboxError):
    """An error that a script may see: its message is part of the API."""


class ArgumentError(ApiError):
    """The arguments do not have the shape that the function's schema asks for."""


class PermissionDenied(ApiError):
    """The caller does not hold the permission that the namespace needs."""


class InvalidIdentity(ApiError):
    """No identity has this cookieStoreId."""

    def __init__(self, cookie_store_id: str) -> None:
        super().__init__(f"Invalid contextual identity: {cookie_store_id}")
        self.cookie_store_id = cookie_store_id


class DuplicateIdentity(ApiError):
    """The same cookieStoreId stands twice in the list that move was given."""

    def __init__(self, cookie_store_id: str) -> None:
        super().__init__(f"Duplicate contextual identity: {cookie_store_id}")


class InvalidColor(ApiError):
    """The palette has no such color."""

    def __init__(self, color: str) -> None:
        super().__init__(f"Invalid color name {color} for container")


class InvalidIcon(ApiError):
    """There is no such icon."""

    def __init__(self, icon: str) -> None:
        super().__init__(f"Invalid icon {icon} for container")


class InvalidName(ApiError):
    """A name must hold something other than white space."""

    def __init__(self) -> None:
        super().__init__("Invalid contextual identity name: it is blank")


class InvalidPosition(ApiError):
    """The list has no such position."""

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
    """An extension asks for a permission that its manifest does not name as optional."""


class IdsExhausted(ApiError):
    """Every id that a browser could understand has been given out."""

    def __init__(self) -> None:
        super().__init__("No contextual identity ids are left in this profile")


class IdentityNotFound(HatboxError):
    """Nothing has this name or id."""

    def __init__(self, name_or_id: str, nearest: Sequence[str] = ()) -> None:
        quoted = " or ".join(f'"{name}"' for name in nearest)
        hint = f" Did you mean {quoted}?" if nearest else ""
        super().__init__(f'no identity is called "{name_or_id}".{hint}')
        self.name_or_id = name_or_id
        self.nearest = tuple(nearest)


class AmbiguousIdentity(HatboxError):
    """More than one identity has this name; `candidates` are their ids, in the user's order."""

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        super().__init__(
            f'{len(candidates)} identities are called "{name}": {", ".join(candidates)}. Say which by its id.'
        )
        self.name = name
        self.candidates = tuple(candidates)


class IdentityMismatch(HatboxError):
    """An identity object is older than a change of its name, or of another profile, where its id is another's."""

    def __init__(self, cookie_store_id: str, given: str, known: str) -> None:
        super().__init__(
            f'{cookie_store_id} is called "{known}" in this profile, not "{given}": the identity was renamed after you '
            "got it, or is one of another profile. Pass its id or its name instead."
        )
        self.cookie_store_id = cookie_store_id


class CookieRejected(HatboxError):
    """The jar does not take this cookie; `reason` says why: one of hatbox.cookies.Reason."""

    def __init__(self, reason: str, name: str) -> None:
        super().__init__(f"Cookie “{name}” is refused: {reason}")
        self.reason = reason
        self.name = name


class ExtensionError(HatboxError):
    """An extension cannot be used as it is."""


class ExtensionNotFound(ExtensionError):
    """No extension with this id is installed."""

    def __init__(self, extension_id: str) -> None:
        super().__init__(f"no extension with the id {extension_id} is installed. `hatbox extensions list` shows them.")
        self.extension_id = extension_id


class AlreadyInstalled(ExtensionError):
    """Another extension with this id is installed, from another path or with another name. Nothing was done."""

    def __init__(self, extension_id: str, installed: str, given: str, changes: str) -> None:
        super().__init__(
            f"{extension_id} is installed already: {installed}. This is {given}. {changes} "
            "To install it instead, pass --replace (replace=True): that deletes granted permissions, and all data "
            "unless you pass --keep-data (keep_data=True) as well."
        )
        self.extension_id = extension_id


class TriggerError(ExtensionError):
    """An extension does not run, or does not show what somebody wants to click. Nothing was done."""


class PackageError(ExtensionError):
    """The folder or file is no extension, is damaged, or holds what is not safe to read."""

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}. {remedy}")
        self.path = path
        self.problem = problem
        self.remedy = remedy


class ManifestError(ExtensionError):
    """What a file of the extension says cannot be accepted; `key` is the place in it, such as background.scripts[1]."""

    def __init__(self, file: str, key: str, problem: str, remedy: str) -> None:
        super().__init__(f"{file}: {key}: {problem}. {remedy}" if key else f"{file}: {problem}. {remedy}")
        self.file = file
        self.key = key
        self.problem = problem
        self.remedy = remedy


class ScriptError(HatboxError):
    """What a script threw."""

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
    """The extension has ended, and what was asked of it will not be answered."""


class SandboxUnavailable(ExtensionTerminated):
    """An extension was not started, because a required layer of the sandbox is missing."""


class NetworkError(HatboxError):
    """A request was not made, or not answered. A script sees only that; the log says why."""


class ImportExportError(HatboxError):
    """What was asked cannot be imported or exported. Nothing was changed."""


class InvalidInputFile(ImportExportError):
    """A file is damaged, cut short or something else than it should be; `line` counts from 1 where it is known."""

    def __init__(self, source: str, problem: str, line: int | None = None) -> None:
        place = source if line is None else f"{source}, line {line}"
        super().__init__(f"{place}: {problem}. Nothing was imported.")
        self.source = source
        self.problem = problem
        self.line = line


class FirefoxProfileLocked(ImportExportError):
    """Firefox has this profile open; writing to it would lose what either of the two writes."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder}: Firefox has this profile open. Quit Firefox first, or name another folder.")
        self.folder = folder


class CookiesNotAllowed(HatboxError):
    """A client was given cookies other than those of the identity that it wears."""

    def __init__(self, how: str) -> None:
        super().__init__(
            f"{how}, but a client sends the cookies of its identity and no others. "
            "Put a cookie into the identity's cookie store, or use another client."
        )


class IdentityRemoved(HatboxError):
    """The identity that a client wears is not there any more. The client sends nothing and never will again."""

    def __init__(self, cookie_store_id: str, name: str = "") -> None:
        identity = f'the identity "{name}" ({cookie_store_id})' if name else f"the identity {cookie_store_id}"
        super().__init__(f"{identity} has been removed, and its client can send nothing any more")
        self.cookie_store_id = cookie_store_id


class MissingExtra(HatboxError):
    """A package that this call needs is not installed. `needed` is its name, if it differs from the extra."""

    def __init__(self, extra: str, needed: str = "") -> None:
        super().__init__(f"{needed or extra} is not installed. Install it with: pip install 'hatbox[{extra}]'")
        self.extra = extra


class EngineError(HatboxError):
    """An engine cannot start, or cannot do what was asked."""


class EngineAlreadyRunning(EngineError):
    """Another engine makes the tabs of this profile so: `engine` is its name, `process` the id of its process."""

    def __init__(self, engine: str, process: int | None) -> None:
        where = f" in process {process}" if process else ""
        super().__init__(
            f"another {engine} engine{where} has the tabs of this profile. Use that one, or stop it first."
        )
        self.engine = engine
        self.process = process


class ProfileError(HatboxError):
    """The profile's file cannot be used as it is."""

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}. {remedy}")
        self.path = path
        self.problem = problem
        self.remedy = remedy


class NotAProfile(ProfileError):
    """The file is something else than a Hatbox profile. It was not touched."""


class ProfileTooNew(ProfileError):
    """A newer version of Hatbox has written the profile. It was not touched."""


class ProfileCorrupt(ProfileError):
    """The profile's file is damaged. It was not touched, and is never replaced by an empty one."""


class ProfileReadOnly(ProfileError):
    """The profile, or the folder it is in, cannot be written to."""


class DiskFull(ProfileError):
    """There is no room left on the disk. What was asked has not been done."""


class ProfileLocked(ProfileError):
    """Another program kept the profile locked for too long. What was asked has not been done."""


class ProfileClosed(ProfileError):
    """The profile is not open here: it was closed, or it belongs to another process or thread."""


__all__ = sorted(name for name, each in globals().items() if isinstance(each, type) and issubclass(each, HatboxError))
