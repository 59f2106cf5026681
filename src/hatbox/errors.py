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
├── NotInTrash                 no identity in the trash has this name or id; knows the nearest names
├── IdentityExists             an identity cannot be restored from the trash: it exists again
├── TooLargeForTrash           an identity was not removed: the trash cannot contain it
├── TrashSwitchedOff           an identity was not removed: the profile has no trash
├── CookieRejected             the cookie engine rejects this cookie; knows the reason
├── CookiesNotAllowed          a client was given cookies that are not its identity's; nothing was sent
├── IdentityRemoved            a client has outlived its identity; nothing was sent
├── InvalidSetting             a setting of an identity has an invalid value; nothing was changed
├── SettingNotSupported        a client cannot use a setting of its identity; nothing was sent
├── EngineError                an engine failed; the message says what to do
│   ├── EngineAlreadyRunning   another process runs an engine for this profile
│   │   └── EngineBusy         and this program cannot attach to it; knows why
│   ├── InputWouldBeLost       new settings would drop text that was typed into pages; nothing was changed
│   └── EngineLeaseLost        the engine was stopped: another one may have the tabs
├── MissingExtra               a client needs a package that is not installed; the message says how to get it
├── InvalidKey                 a text or file is not an encryption key; the message does not contain it
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
├── ArchiveError               an archive cannot be written or restored; nothing was changed
│   ├── ArchiveDamaged         it is damaged, truncated or not an archive
│   ├── ArchiveTooNew          a newer version of Hatbox has written it
│   ├── WrongPassphrase        it is encrypted, and this is not its passphrase
│   └── NotInArchive           it has no identity with this name or id; knows the nearest names
├── SiteRuleError              a rule for URLs is invalid, or does not allow the call
│   ├── InvalidSiteRule        the pattern or the identities of a rule are invalid; nothing was changed
│   ├── SiteRuleExists         another rule has the same pattern; nothing was changed
│   ├── SiteRuleNotFound       no rule has this id or pattern
│   ├── NoSiteRule             no rule decides the identity of a URL; nothing was sent
│   ├── IdentityNotChosen      a rule lets the user choose between identities; nothing was sent
│   └── UrlBlocked             the identity is limited to other URLs; nothing was sent
├── GrantError                 a grant cannot be created, found or used
│   ├── InvalidGrant           an argument of a new grant is invalid; nothing was created
│   ├── GrantNotFound          no grant has this id
│   └── GrantRefused           a token belongs to no grant; nothing was done
│       ├── GrantExpired       the time of the grant is over
│       └── GrantRevoked       the grant was revoked, or its identities were removed
├── ImportExportError          an import or export failed; nothing was changed
│   ├── InvalidInputFile       a file is invalid; the message names the line
│   │   └── NoContainerNames   a file has numbers of containers, but not their names
│   ├── AmbiguousImport        several identities have the name of an imported one; knows them
│   └── FirefoxProfileLocked   Firefox has the profile open
└── ProfileError               the profile cannot be used; the message names it and says what to do
    ├── ProfileNotFound        no profile exists there, and none may be created; knows similar addresses
    ├── NotAProfile
    ├── ProfileTooNew
    ├── ProfileCorrupt
    ├── ProfileReadOnly
    ├── DiskFull
    ├── ProfileLocked
    ├── WrongKey               the profile is encrypted with another key, or only one of the two is set
    ├── DecryptionError        an encrypted value was changed, or moved from another row or profile
    ├── ProfileUnavailable     the server of the profile cannot be reached
    └── ProfileClosed
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from hatbox.javascript.text import well_formed
from hatbox.shell_words import shell_word

_IDENTITY_IS_GONE = "This identity is gone. It was removed, here or by another program. It may be in the trash."


class HatboxError(Exception):
    """The base class of all errors that Hatbox raises on purpose.

    The message is for programs and for terminals. `page_message` is for users of the manager page, who can click, and
    who have neither options nor ids.
    """

    def __init__(self, message: str, page_message: str = "") -> None:
        super().__init__(well_formed(message))  # text from scripts may have lone surrogates
        self.page_message = well_formed(page_message or message)


class ApiError(HatboxError):
    """An error that scripts see. Its message is part of the API."""


class ArgumentError(ApiError):
    """The arguments do not match the schema of the function."""


class PermissionDenied(ApiError):
    """The caller does not have the permission that the namespace requires."""


class InvalidIdentity(ApiError):
    """No identity has this cookieStoreId."""

    def __init__(self, cookie_store_id: str) -> None:
        super().__init__(f"Invalid contextual identity: {cookie_store_id}", _IDENTITY_IS_GONE)
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
        super().__init__(f"Invalid tab ID: {tab_id}", "This tab is gone. It was closed, here or by another program.")
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
        super().__init__(
            f'identity not found: "{name_or_id}". {hint}List identities with: hatbox list', _IDENTITY_IS_GONE
        )
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


class NotInTrash(HatboxError):
    """No identity in the trash has this name or id. `nearest` has similar names."""

    def __init__(self, name_or_id: str, nearest: Sequence[str] = ()) -> None:
        quoted = " or ".join(f'"{name}"' for name in nearest)
        hint = f"Did you mean {quoted}? " if nearest else ""
        super().__init__(
            f'not in the trash: "{name_or_id}". {hint}List the trash with: hatbox trash list',
            "This identity is no longer in the trash. It was restored or deleted, here or by another program.",
        )
        self.name_or_id = name_or_id
        self.nearest = tuple(nearest)


class IdentityExists(HatboxError):
    """An identity in the trash exists again, for example because it was restored from a backup. Nothing was changed."""

    def __init__(self, name: str, cookie_store_id: str) -> None:
        super().__init__(
            f'"{name}" exists again, as {cookie_store_id}, and was not restored from the trash. Remove that one for '
            "ever first, or delete this one from the trash."
        )
        self.name = name
        self.cookie_store_id = cookie_store_id


class TooLargeForTrash(HatboxError):
    """An identity is larger than the trash of its profile. It was not removed."""

    def __init__(self, name: str, cookie_store_id: str, size: int, limit: int) -> None:
        super().__init__(
            f'"{name}" ({cookie_store_id}) is too large for the trash: {size} of {limit} bytes. It was not removed. '
            "Remove it for ever, or set a higher limit with: hatbox profile settings --trash-bytes",
            f'"{name}" was not removed: it is too large for the trash.',
        )
        self.name = name
        self.cookie_store_id = cookie_store_id
        self.size = size
        self.limit = limit


class TrashSwitchedOff(HatboxError):
    """The profile has no trash, so that removing an identity would delete it for ever. It was not removed."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f'"{name}" was not removed: the trash of this profile is switched off. Remove it for ever, or switch the '
            "trash on with: hatbox profile settings --trash-days",
            f'"{name}" was not removed: the trash of this profile is switched off.',
        )
        self.name = name


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
        super().__init__(
            f"extension not found: {extension_id}. List extensions with: hatbox extensions list",
            "This extension is no longer installed. It was removed, here or by another program.",
        )
        self.extension_id = extension_id


class AlreadyInstalled(ExtensionError):
    """Another extension with this id is installed, from another path or with another name. Nothing was done."""

    def __init__(self, extension_id: str, installed: str, given: str, changes: str) -> None:
        super().__init__(
            f"{extension_id} is already installed: {installed}. This is {given}. {changes} "
            "To install it instead, pass --replace (replace=True): that deletes granted permissions, and all data "
            "unless you pass --keep-data (keep_data=True) as well.",
            f"{extension_id} is already installed: {installed}. This is {given}. {changes} Choose the file again, and "
            "decide whether it replaces that one.",
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


class ArchiveError(HatboxError):
    """An archive cannot be written, read or restored. `source` names it. Nothing was changed.

    The manager page shows the name of the file, not its path.
    """

    def __init__(self, source: str | os.PathLike[str], problem: str, remedy: str) -> None:
        self.source = os.fspath(source)
        name = os.path.basename(self.source)  # noqa: PTH119 - as it was given
        super().__init__(f"{self.source}: {problem}. {remedy}", f"{name}: {problem}. {remedy}")
        self.problem = problem
        self.remedy = remedy


class ArchiveDamaged(ArchiveError):
    """The archive is damaged, truncated or something else. Nothing was changed."""

    def __init__(self, source: str | os.PathLike[str], problem: str, remedy: str = "") -> None:
        super().__init__(source, problem, remedy or "Nothing was changed. Use another backup.")


class ArchiveTooNew(ArchiveError):
    """A newer version of Hatbox has written the archive. Nothing was changed."""

    def __init__(self, source: str | os.PathLike[str], version: int, known: int, unknown: str = "") -> None:
        limit = f"does not know {unknown}" if unknown else f"reads versions up to {known}"
        problem = (
            f"a newer version of Hatbox has written it: it has the archive version {version}, and this one {limit}"
        )
        super().__init__(source, problem, "Nothing was changed. Upgrade Hatbox.")
        self.version = version


class WrongPassphrase(ArchiveError):
    """The archive is encrypted, and the passphrase is missing or wrong. Nothing was changed."""


class NotInArchive(ArchiveError):
    """No identity in the archive has this name or id. `nearest` has similar names."""

    def __init__(self, source: str | os.PathLike[str], name_or_id: str, nearest: Sequence[str] = ()) -> None:
        quoted = " or ".join(f'"{name}"' for name in nearest)
        hint = f"Did you mean {quoted}? " if nearest else ""
        remedy = f"{hint}Nothing was changed. List its identities with: hatbox restore FILE --dry-run"
        super().__init__(source, f'identity not in this archive: "{name_or_id}"', remedy)
        self.name_or_id = name_or_id
        self.nearest = tuple(nearest)


class GrantError(HatboxError):
    """A grant cannot be created, found or used."""


class InvalidGrant(GrantError):
    """An argument of a new grant is invalid. Nothing was created. `advice` says what is allowed."""

    def __init__(self, argument: str, shown: str, advice: str) -> None:
        self.advice = advice.rstrip(".")
        super().__init__(f"invalid {argument}: {shown}. {self.advice}.")
        self.argument = argument


class GrantNotFound(GrantError):
    """No grant has this id. A token in its place is not repeated in the message."""

    def __init__(self, grant_id: str) -> None:
        shown = "this is a token, not an id" if "hatbox_" in grant_id else ascii(grant_id[:40])
        super().__init__(f"grant not found: {shown}. List the ids of all grants with: hatbox grant list")


class GrantRefused(GrantError):
    """The token belongs to no grant. The same for one that was guessed and one whose grant was deleted."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or "the token is not valid. Create a grant with: hatbox grant create")


class GrantExpired(GrantRefused):
    """The time of the grant is over."""

    def __init__(self, grant_id: str) -> None:
        super().__init__(f"the grant {grant_id} has expired. Create a new one with: hatbox grant create")
        self.grant_id = grant_id


class GrantRevoked(GrantRefused):
    """The grant was revoked, or all of its identities were removed."""

    def __init__(self, grant_id: str) -> None:
        super().__init__(f"the grant {grant_id} was revoked. Create a new one with: hatbox grant create")
        self.grant_id = grant_id


class SiteRuleError(HatboxError):
    """A rule that assigns URLs to identities is invalid, or does not allow the call."""


class InvalidSiteRule(SiteRuleError):
    """The pattern or the identities of a rule are invalid. Nothing was changed."""

    def __init__(self, pattern: str, problem: str) -> None:
        super().__init__(
            f"invalid rule {pattern!r}: {problem.rstrip('.')}. Examples: github.com, *.github.com/work-org/*, "
            "localhost:8080, regex:^https://git[0-9]+[.]site[.]example/"
        )
        self.pattern = pattern
        self.problem = problem


class SiteRuleExists(SiteRuleError):
    """Another rule has the same pattern. Nothing was changed."""

    def __init__(self, pattern: str, identities: Sequence[str]) -> None:
        super().__init__(
            f"a rule for {pattern} exists: {', '.join(identities)}. To replace it, pass --replace (replace=True)."
        )
        self.pattern = pattern


class SiteRuleNotFound(SiteRuleError):
    """No rule has this id or pattern."""

    def __init__(self, rule: str | int) -> None:
        super().__init__(
            f"rule not found: {rule}. List rules with: hatbox rules list",
            f"This rule is gone: {rule}. It was removed, here or by another program.",
        )
        self.rule = rule


class NoSiteRule(SiteRuleError):
    """No rule decides which identity a URL belongs to. Nothing was sent."""

    def __init__(self, url: str, host: str = "") -> None:
        super().__init__(
            f"no rule decides the identity of {url}. Name an identity, or add a rule: "
            f"hatbox rules add {shell_word(host or 'site.example')} NAME"
        )
        self.url = url


class IdentityNotChosen(SiteRuleError):
    """A rule lets the user choose between several identities, and none was chosen. Nothing was sent."""

    def __init__(self, url: str, pattern: str, identities: Sequence[str]) -> None:
        super().__init__(
            f"the rule {pattern} asks which identity opens {url}: {' or '.join(identities)}. Name one of them."
        )
        self.url = url
        self.identities = tuple(identities)


class UrlBlocked(SiteRuleError):
    """The identity is limited to other URLs by a rule. Nothing was sent."""

    def __init__(self, url: str, identity: str, pattern: str) -> None:
        super().__init__(
            f'identity "{identity}" is limited to its rules, such as {pattern}, and does not open {url}. '
            "Use another identity, or add a rule for this URL. See: hatbox rules list"
        )
        self.url = url
        self.identity = identity


class ImportExportError(HatboxError):
    """An import or export failed. Nothing was changed."""


class InvalidInputFile(ImportExportError):
    """A file is damaged, truncated or in another format. `line` counts from 1, or is None.

    `page_problem` is the problem in the words of `page_message`.
    """

    def __init__(self, source: str, problem: str, line: int | None = None, page_problem: str = "") -> None:
        place = source if line is None else f"{source}, line {line}"
        page_problem = page_problem or problem
        super().__init__(*(f"{place}: {each}. Nothing was imported." for each in (problem, page_problem)))
        self.source = source
        self.problem = problem
        self.page_problem = page_problem
        self.line = line


class NoContainerNames(InvalidInputFile):
    """A file of Multi-Account Containers has numbers of containers, and no names. Another file has them."""

    def __init__(self, source: str) -> None:
        super().__init__(
            source,
            "the file has numbers of containers, but no names. Pass --containers with the containers.json of the "
            "Firefox profile, whose folder about:support shows",
        )
        self.page_message = (
            "This file has numbers of containers, but no names. Add the file containers.json of the same Firefox "
            "profile: about:support shows its folder. Nothing was imported."
        )


class AmbiguousImport(ImportExportError):
    """Several identities have the name of an imported one. `candidates` has their ids, in the user's order."""

    def __init__(self, name: str, candidates: Sequence[str]) -> None:
        super().__init__(
            f'{len(candidates)} identities are named "{name}": {", ".join(candidates)}. None of them has the icon and '
            "color of the imported one. Nothing was imported. Import it into the identity that you choose."
        )
        self.name = name
        self.candidates = tuple(candidates)


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


class InvalidSetting(HatboxError):
    """A value is not allowed for a setting of an identity. `shown` is the value, without a password.

    `advice` says what is allowed.
    """

    def __init__(self, setting: str, shown: str, advice: str) -> None:
        self.advice = advice.rstrip(".") + ("" if advice.endswith("?") else ".")
        super().__init__(f"invalid {setting}: {shown}. {self.advice}")
        self.setting = setting


class SettingNotSupported(HatboxError):
    """A client cannot use a setting of its identity, such as a proxy. Nothing was sent."""


class MissingExtra(HatboxError):
    """A required package is not installed. `needed` is its name, if it differs from the extra."""

    def __init__(self, extra: str, needed: str = "") -> None:
        super().__init__(f"{needed or extra} is not installed. Install it with: pip install 'hatbox[{extra}]'")
        self.extra = extra


class InvalidKey(HatboxError):
    """A text or file is not an encryption key, or other users may read the file. The message does not contain it."""


class EngineError(HatboxError):
    """An engine cannot start or work."""


class EngineAlreadyRunning(EngineError):
    """Another engine is running for this profile, or for this identity.

    `engine` is its name, `process` its process id and `machine` the host name of its machine. `identity` is the
    cookieStoreId, or empty.
    """

    def __init__(
        self,
        engine: str,
        process: int | None,
        label: str = "",
        *,
        machine: str = "",
        identity: str = "",
        name: str = "",
        problem: str = "",
    ) -> None:
        self.where = f" ({label or f'pid {process}'})" if process else ""
        """The process in messages, in parentheses, with its machine if that is another one; or empty."""
        opened = (f'identity "{name}"' if name else identity) or "this profile"
        message = f"{opened} is already open in the {engine} engine{self.where}"
        super().__init__(
            f"{message}, which {problem}. Stop that engine first."
            if problem
            else f"{message}. Use that engine, or stop it first."
        )
        self.engine = engine
        self.process = process
        self.machine = machine
        self.identity = identity


class EngineBusy(EngineAlreadyRunning):
    """Another engine serves the identities, and this program cannot attach to it. `reason` is why."""

    def __init__(
        self,
        engine: str,
        process: int | None,
        label: str = "",
        *,
        reason: str,
        program: str = "",
        machine: str = "",
        identity: str = "",
        name: str = "",
    ) -> None:
        super().__init__(engine, process, label, machine=machine, identity=identity, name=name)
        opened = (f'identity "{name}"' if name else identity) or "this profile"
        of = f" of {program}" if program else ""
        self.args = (
            f"{opened} is already open in the {engine} engine{of}{self.where}. This program cannot attach to it: "
            f"{reason.rstrip('.')}. Stop that engine first, or use other identities here. "
            "List running engines with: hatbox status",
        )
        self.program = program
        self.reason = reason


class InputWouldBeLost(EngineError):
    """New settings would close pages with typed text that cannot be saved. Nothing was changed.

    `fields` describes the text for each tab id; the id 0 is a browser that did not answer.
    """

    def __init__(self, name: str, fields: Mapping[int, Sequence[str]]) -> None:
        tabs = "; ".join(f"tab {tab}: {', '.join(each)}" if tab else ", ".join(each) for tab, each in fields.items())
        super().__init__(
            f'new settings would drop what was typed in "{name}" ({tabs}). '
            "Submit or clear it, or use force=True (hatbox settings --force)."
        )
        self.fields = dict(fields)


class EngineLeaseLost(EngineError):
    """The engine was stopped, because it no longer has the exclusive right to open the tabs. `reason` is why."""

    def __init__(self, label: str, engine: str, reason: str) -> None:
        super().__init__(
            f"{label}: the {engine} engine was stopped, because it lost its lease: {reason.rstrip('.')}. "
            "Another engine may have the tabs now. List running engines with: hatbox status. Then start this one again."
        )
        self.engine = engine
        self.reason = reason


class ProfileError(HatboxError):
    """The profile cannot be used; `label` names it and contains no password."""

    def __init__(self, label: str | os.PathLike[str], problem: str, remedy: str) -> None:
        self.label = os.fspath(label)
        super().__init__(f"{self.label}: {problem}. {remedy}")
        self.problem = problem
        self.remedy = remedy


class ProfileNotFound(ProfileError):
    """No profile exists at this address, and none may be created. `nearest` has similar addresses."""

    def __init__(self, label: str | os.PathLike[str], problem: str, remedy: str, nearest: Sequence[str] = ()) -> None:
        super().__init__(label, problem, remedy)
        self.nearest = list(nearest)


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


class WrongKey(ProfileError):
    """The key is not that of the profile: another one, none, or one for a profile that is not encrypted.

    Nothing was changed.
    """


class DecryptionError(ProfileError):
    """An encrypted value was changed, or moved from another row or profile, outside of Hatbox. It is not returned."""


class ProfileUnavailable(ProfileError):
    """The server of the profile cannot be reached. The message says whether a change may have been saved."""


class ProfileClosed(ProfileError):
    """The profile is not open here: it was closed, or it belongs to another process or thread."""


__all__ = sorted(name for name, each in globals().items() if isinstance(each, type) and issubclass(each, HatboxError))
