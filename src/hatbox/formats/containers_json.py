"""Firefox's containers.json, versions 1 to 6: identities, without their cookies.

Knows the file's text only. Entries that are not public are Firefox's own: never imported, and kept in a file that is
added to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from hatbox.errors import InvalidColor, InvalidInputFile
from hatbox.formats.base import Bundle, BundleEntry, ExportResult, Format, IdentityAttributes, Tally, decode_json
from hatbox.identity import palette
from hatbox.javascript.text import is_blank, well_formed

__all__ = ["FORMAT", "UNNAMED", "Containers", "read", "write"]

_LATEST: Final = 6
_LARGEST_NUMBER: Final = 2**32 - 2
_BOM: Final = b"\xef\xbb\xbf"

HIDDEN: Final = "hidden identities, which are shown in Firefox"
COOKIES: Final = "cookies, because the file has identities only"
UNNAMED: Final = "containers without a name or number"

# The four default identities have a localization key instead of a name until they are renamed.
_DEFAULTS: Final = {
    "user-context-personal": IdentityAttributes("Personal", "fingerprint", "blue"),
    "user-context-work": IdentityAttributes("Work", "briefcase", "orange"),
    "user-context-banking": IdentityAttributes("Banking", "dollar", "green"),
    "user-context-shopping": IdentityAttributes("Shopping", "cart", "pink"),
}
_KEY_OF: Final = {(each.name, each.icon, each.color): key for key, each in _DEFAULTS.items()}
_NEW_KEY: Final = {f"userContext{label.name}.label": key for key, label in _DEFAULTS.items()}  # up to version 4
_INTERNAL: Final[tuple[dict[str, object], ...]] = (
    {
        "public": False,
        "icon": "",
        "color": "",
        "name": "userContextIdInternal.thumbnail",
        "accessKey": "",
        "userContextId": 5,
    },
    {
        "userContextId": 2**32 - 1,
        "public": False,
        "icon": "",
        "color": "",
        "name": "userContextIdInternal.webextStorageLocal",
        "accessKey": "",
    },
)


class _Entry(msgspec.Struct):
    number: int | None = msgspec.field(name="userContextId", default=None)  # null was written by broken releases
    public: bool = True
    icon: str = ""
    color: str = ""
    name: str = ""
    key: str = msgspec.field(name="l10nId", default="")
    old_key: str = msgspec.field(name="l10nID", default="")


class _File(msgspec.Struct):
    version: int
    identities: list[dict[str, Any]]
    last: int | None = msgspec.field(name="lastUserContextId", default=None)


_decode = msgspec.json.Decoder(_File).decode


class Containers:
    """The containers.json of a Firefox profile."""

    def __init__(self, data: bytes, source: str) -> None:
        file = decode_json(_decode, data.removeprefix(_BOM), source)
        try:
            entries = msgspec.convert(file.identities, list[_Entry])
        except msgspec.ValidationError as error:
            raise InvalidInputFile(source, f"invalid identity: {error}") from error
        if not 1 <= file.version <= _LATEST:
            raise InvalidInputFile(source, f"unsupported version {file.version} (supported: 1 to {_LATEST})")
        self.is_current = file.version == _LATEST
        """Whether its version is the latest. Only then it may be changed: an older Firefox would discard it."""
        self._entries = file.identities
        self._numbers = {each.number for each in entries if each.number is not None}
        self._last = max([file.last or 0, *(number for number in self._numbers if number <= _LARGEST_NUMBER)])
        self.labels: dict[int, IdentityAttributes] = {}
        """The public containers by userContextId, in the user's order. Of duplicates the first counts."""
        self.unnamed = 0
        """The number of containers without name or userContextId."""
        for entry in entries:
            self._take_in(entry)

    @classmethod
    def new(cls) -> Containers:
        """A file with the internal containers that Firefox requires."""
        return cls(_encode(_INTERNAL, 5), "containers.json")

    def add(self, label: IdentityAttributes, wanted: int = 0) -> int:
        """Append a container. Returns its userContextId, the requested one if it is free."""
        number = wanted if wanted and wanted not in self._numbers else self._last + 1
        self._numbers.add(number)
        self._last = max(self._last, number)
        entry: dict[str, object] = {"userContextId": number, "public": True, "icon": label.icon, "color": label.color}
        key = _KEY_OF.get((label.name, label.icon, label.color))
        self._entries.append(entry | ({"l10nId": key} if key else {"name": label.name}))
        self.labels[number] = label
        return number

    def encode(self) -> bytes:
        """Encode the file, in the latest version."""
        internal = {entry.get("name") for entry in self._entries if entry.get("public") is False}
        missing = [entry for entry in _INTERNAL if entry["name"] not in internal]
        return _encode([*self._entries, *missing], self._last)

    def _take_in(self, entry: _Entry) -> None:
        if not entry.public or entry.number in self.labels:
            return
        default = _DEFAULTS.get(entry.key or _NEW_KEY.get(entry.old_key, ""))
        name = entry.name or (default.name if default else "")
        if entry.number is None or not 1 <= entry.number <= _LARGEST_NUMBER or is_blank(name):
            self.unnamed += 1
        else:
            self.labels[entry.number] = IdentityAttributes(well_formed(name), entry.icon, _renamed(entry.color))


def read(data: bytes, source: str) -> Bundle:
    """Parse the identities of a file, in the user's order."""
    containers = Containers(data, source)
    skipped: Tally = Counter({UNNAMED: containers.unnamed} if containers.unnamed else {})
    return Bundle([BundleEntry(label, [], number) for number, label in containers.labels.items()], skipped=skipped)


def write(bundle: Bundle) -> ExportResult:
    """Write all identities. Firefox gives them the same ids."""
    containers = Containers.new()
    lost: Tally = Counter(bundle.not_carried)
    for holding in bundle.entries:
        if holding.label is not None:
            containers.add(holding.label, holding.number)
            lost.update([HIDDEN] if holding.label.hidden else [])
    if bundle.count:
        lost[COOKIES] = bundle.count
    return ExportResult(containers.encode(), 0, lost)


def _encode(entries: Iterable[dict[str, Any]], last: int) -> bytes:
    return msgspec.json.encode({"version": _LATEST, "lastUserContextId": last, "identities": list(entries)})


def _renamed(color: str) -> str:
    try:
        return palette.accepted_color(color)
    except InvalidColor:
        return color


FORMAT: Final = Format(
    "containers.json",
    read,
    write,
    has_identities=True,
    unsupported=(COOKIES, HIDDEN),
)
