"""Finds the identity of the profile that each imported identity is: transaction functions.

An identity is the one with the same UUID, or the one that the last import from this source gave its cookies to, also if
it was renamed or recolored since. Else it is the one with the same name, icon and color; else the only one with its
name. Two identities are never guessed to be one where several have the name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from hatbox.errors import AmbiguousImport, InvalidColor, InvalidIcon
from hatbox.formats.base import Bundle, BundleEntry, IdentityAttributes, ImportReport
from hatbox.identities import changes
from hatbox.identity import model, palette
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of, user_context_id_of
from hatbox.identity.model import ContextualIdentity
from hatbox.javascript.text import is_blank, well_formed
from hatbox.store.base import Transaction

__all__ = ["match_identities", "remember_sources"]

UNNAMED: Final = "identities without a name"
UNKNOWN_LOOKS: Final = "identities whose color or icon is not in the palette: they are gray, or have a circle"

_SETTING: Final = "import"
_MAX_SOURCES: Final = 100  # of one identity; the oldest are forgotten


class _Source(msgspec.Struct, frozen=True):
    """Where an identity was imported from: the key of the source, and the name that it had there."""

    key: str
    name: str


_decode = msgspec.json.Decoder(list[_Source]).decode


def match_identities(transaction: Transaction, bundle: Bundle, report: ImportReport) -> list[str | None]:
    """The cookie store of each entry; None if it is skipped. Creates identities that do not exist."""
    matches = _Matches(transaction, bundle.entries)
    matches.by_source()
    matches.by_looks()
    matches.by_name()
    return [_store_of(transaction, entry, matches.found.get(at), report) for at, entry in enumerate(bundle.entries)]


def remember_sources(transaction: Transaction, entries: Iterable[BundleEntry], ids: Iterable[str | None]) -> None:
    """Store where these identities come from."""
    for entry, cookie_store_id in zip(entries, ids, strict=True):
        number = user_context_id_of(cookie_store_id) if cookie_store_id else 0
        keys = _keys(entry)
        if number and entry.label is not None and keys:
            known = _sources(transaction.settings.get(number, _SETTING))
            new = [_Source(key, entry.label.name) for key in keys]
            merged = [*(each for each in known if each.key not in keys), *new][-_MAX_SOURCES:]
            if not all(each in known for each in new):
                transaction.settings.put(number, _SETTING, msgspec.json.encode(merged))


class _Matches:
    """The entries that are matched, by their place, and the identities that are not matched yet."""

    def __init__(self, transaction: Transaction, entries: Sequence[BundleEntry]) -> None:
        self._transaction = transaction
        self._identities = model.query(transaction)
        self._free = {each.cookie_store_id: each for each in self._identities}
        self._open = {
            at: (entry, entry.label)
            for at, entry in enumerate(entries)
            if entry.label is not None and not is_blank(entry.label.name)
        }
        self._names = Counter(well_formed(label.name) for _, label in self._open.values())
        self.found: dict[int, ContextualIdentity] = {}

    def by_source(self) -> None:
        """Match by UUID, and by what earlier imports have stored."""
        uuids = self._transaction.identities.uuids() if any(entry.uuid for entry, _ in self._open.values()) else {}
        imported: dict[str, tuple[int, str]] = {}
        for number, value in self._transaction.settings.find(_SETTING):
            for source in _sources(value):
                imported.setdefault(source.key, (number, source.name))
        for at, (entry, label) in list(self._open.items()):
            number = uuids.get(entry.uuid, 0) if entry.uuid else 0
            for key in [] if number else _keys(entry):
                known, name = imported.get(key, (0, ""))
                is_same = entry.source is None or entry.source.key != key or entry.source.lasting or name == label.name
                if known and is_same:
                    number = known
                    break
            if number:
                self._match(at, self._free.get(cookie_store_id_of(number)))

    def by_looks(self) -> None:
        """Match by name, icon and color."""
        free: dict[tuple[str, str, str], list[ContextualIdentity]] = {}
        for identity in self._free.values():
            free.setdefault((identity.name, identity.icon, identity.color), []).append(identity)
        for at, (_, label) in list(self._open.items()):
            # Values outside the palette may be stored by a newer version.
            name, fitting = well_formed(label.name), _fitting(label)
            same = free.get((name, label.icon, label.color)) or free.get((name, *fitting))
            self._match(at, same.pop(0) if same else None)

    def by_name(self) -> None:
        """Match by name, if only one has it on either side. Raises AmbiguousImport."""
        for at, (_, label) in list(self._open.items()):
            name = well_formed(label.name)
            named = [each for each in self._identities if each.name == name]
            if self._names[name] > 1:
                continue
            if len(named) > 1:
                raise AmbiguousImport(name, [each.cookie_store_id for each in named])
            self._match(at, self._free.get(named[0].cookie_store_id) if named else None)

    def _match(self, at: int, identity: ContextualIdentity | None) -> None:
        if identity is not None:
            self.found[at] = identity
            del self._open[at], self._free[identity.cookie_store_id]


def _store_of(
    transaction: Transaction, entry: BundleEntry, identity: ContextualIdentity | None, report: ImportReport
) -> str | None:
    label = entry.label
    if label is None:
        return DEFAULT_COOKIE_STORE_ID
    if is_blank(label.name):
        report.skipped[UNNAMED] += 1
        return None
    if identity is None:
        icon, color = _fitting(label)
        identity = changes.create(transaction, well_formed(label.name), color, icon)
        report.identities_new += 1
        if not _is_known(label):
            report.dropped[UNKNOWN_LOOKS] += 1
    else:
        report.identities_matched += 1
    if label.hidden is not None and label.hidden != identity.hidden:
        change = changes.hide if label.hidden else changes.show
        change(transaction, identity.cookie_store_id)
    return identity.cookie_store_id


def _keys(entry: BundleEntry) -> list[str]:
    own = [f"uuid:{entry.uuid}"] if entry.uuid else []
    return own + ([entry.source.key] if entry.source is not None else [])


def _sources(value: bytes | None) -> list[_Source]:
    try:
        return _decode(value) if value else []
    except msgspec.DecodeError:  # of a newer version: match by looks
        return []


def _fitting(label: IdentityAttributes) -> tuple[str, str]:
    """Icon and color, or those of an identity whose own are not in the palette."""
    return _known_icon(label.icon) or "circle", _known_color(label.color) or "gray"


def _is_known(label: IdentityAttributes) -> bool:
    return _known_icon(label.icon) is not None and _known_color(label.color) is not None


def _known_icon(name: str) -> str | None:
    try:
        return palette.accepted_icon(name)
    except InvalidIcon:
        return None


def _known_color(name: str) -> str | None:
    try:
        return palette.accepted_color(name)
    except InvalidColor:
        return None
