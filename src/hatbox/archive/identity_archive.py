"""One identity with all its data, as a struct and as bytes. The trash stores these bytes; `hatbox clone` copies them.

`identity_restore` writes it into a profile. Knows no file. The bytes state the columns of rows, as a backup does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from hatbox.archive.archived_columns import read_columns
from hatbox.archive.earlier_tabs import without_flags
from hatbox.errors import ArchiveDamaged, ArchiveTooNew
from hatbox.history.history_archive import read_history
from hatbox.identity.ids import cookie_store_id_of
from hatbox.store.base import CookieRow, TabRow, Transaction
from hatbox.store.profile_copy import Table, copied_table
from hatbox.store.record_tables import PageRow, VisitRow
from hatbox.tabs.first_tab import first_tab
from hatbox.tabs.hiders import hider_of
from hatbox.tabs.session_values import kind_of_tab

__all__ = [
    "ArchiveSummary",
    "ArchivedIdentity",
    "ArchivedRule",
    "ArchivedTab",
    "ArchivedWindow",
    "Columns",
    "decode_identity",
    "encode_identity",
    "read_identity",
    "read_tabs",
    "rule_identities",
    "summarize",
    "window_columns",
]

T = TypeVar("T")

Columns: TypeAlias = dict[str, str | int | float | None]
"""Values of a row by column. By name, so that a later version, whose tables have more columns, can read them."""

ArchivedWindow: TypeAlias = tuple[int, Columns]
"""The id of a window, and its state, kind, title and place."""

ArchivedRule: TypeAlias = tuple[int, bytes]
"""A site rule: its id, and its JSON text."""

_MAGIC: Final = b"hatbox identity\n"
_VERSION: Final = 1
_FIRST_COLUMNS: Final[Mapping[str, Sequence[str]]] = {
    "cookies": (
        *("domain", "host_only", "path", "name", "partition", "value", "secure", "http_only", "same_site"),
        *("expires", "sequence", "created", "last_access"),
    ),
    "pages": ("id", "store", "url", "title", "visits", "typed", "last_visit"),
    "visits": ("id", "store", "page", "visited", "transition", "referrer"),
}
"""The columns of rows in bytes that do not state them."""
_DIGEST_BYTES: Final = 16


class ArchivedTab(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tab: its row, its index in the window, the snapshot of its page, and what extensions store about it."""

    columns: Columns
    index: int
    page: bytes | None = None
    values: list[tuple[str, str, bytes]] = []
    """Values that extensions have attached to it: extension, key, value."""
    hidden_by: str = ""
    """The extension that has hidden it."""


class ArchivedIdentity(msgspec.Struct, frozen=True, omit_defaults=True):
    """An identity and everything that belongs to it. The default store has the id 0, and neither name nor UUID."""

    id: int
    uuid: str
    name: str
    icon: str
    color: str
    hidden: bool = False
    index: int = 0
    """Its place in the user's order."""
    position: int | None = None
    """In the trash, its place as the table stores it: without reading the other identities."""
    settings: dict[str, bytes] = {}
    cookies: list[CookieRow] = []
    site_data: list[tuple[str, bytes]] = []
    """The data of each origin."""
    tabs: list[ArchivedTab] = []
    """By window and index."""
    windows: list[ArchivedWindow] = []
    """The windows of the tabs."""
    rules: list[ArchivedRule] = []
    """The site rules that name it."""
    pages: list[PageRow] = []
    """The pages that were visited in it."""
    visits: list[VisitRow] = []
    removed_by: str = ""
    """In the trash, the program that has removed it. Earlier versions did not record it."""


class ArchiveSummary(msgspec.Struct, frozen=True):
    """A few facts about an archived identity."""

    domains: frozenset[str]
    """Those of its cookies."""
    removed_by: str
    """The program that has removed it; empty if that is not recorded."""


def read_identity(
    transaction: Transaction, user_context_id: int, *, for_trash: bool = False
) -> ArchivedIdentity | None:
    """An identity with all its data; None if it does not exist. 0 is the default store."""
    transaction.load(identities=[user_context_id] if user_context_id else [], stores=[user_context_id])
    row = transaction.identities.get(user_context_id) if user_context_id else (0, "", "", "", 0)
    if row is None:
        return None
    _, name, icon, color, hidden = row
    identities = transaction.identities
    rows = transaction.tabs.find(store=user_context_id)
    tabs = read_tabs(transaction, rows)
    pages, visits = read_history(transaction, user_context_id)
    return ArchivedIdentity(
        id=user_context_id,
        uuid=(identities.uuid(user_context_id) or "") if user_context_id else "",
        name=name,
        icon=icon,
        color=color,
        hidden=hidden == 1,
        index=identities.index(user_context_id) if user_context_id and not for_trash else 0,
        position=identities.position(user_context_id) if for_trash else None,
        settings=dict(transaction.settings.load(user_context_id)),
        cookies=transaction.cookies.load(user_context_id),
        site_data=transaction.site_data.load(user_context_id),
        tabs=tabs,
        windows=_windows(transaction, {row.window for row in rows}),
        rules=_rules_naming(transaction, cookie_store_id_of(user_context_id)) if user_context_id else [],
        pages=pages,
        visits=visits,
    )


def as_other_identity(archived: ArchivedIdentity, user_context_id: int, uuid: str) -> ArchivedIdentity:
    """The same contents as those of another identity. Site rules name that one."""
    before, after = (f'"{cookie_store_id_of(each)}"'.encode() for each in (archived.id, user_context_id))
    rules = [(number, rule.replace(before, after)) for number, rule in archived.rules]
    return msgspec.structs.replace(archived, id=user_context_id, uuid=uuid, rules=rules)


def read_tabs(transaction: Transaction, rows: Sequence[TabRow]) -> list[ArchivedTab]:
    """These tabs, except the blank tab of the first window: it is not the user's."""
    unused = first_tab(transaction) if rows else None
    indexes = transaction.tabs.indexes(rows) if rows else {}
    return [
        ArchivedTab(
            row._asdict(),
            indexes[row.id],
            transaction.tabs.page_snapshot(row.id),
            transaction.extensions.find(kind_of_tab(row.id)),
            hider_of(transaction, row.id) if row.hidden else "",
        )
        for row in rows
        if row.id != unused
    ]


def window_columns(row: Any) -> Columns:
    """The columns of a window that are restored: not which one has the focus."""
    columns: Columns = row._asdict()
    return {name: value for name, value in columns.items() if name not in ("id", "focused")}


def _windows(transaction: Transaction, windows: Collection[int]) -> list[ArchivedWindow]:
    found = [transaction.windows.get(window) for window in sorted(windows)]
    return [(row.id, window_columns(row)) for row in found if row is not None]


def _rules_naming(transaction: Transaction, cookie_store_id: str) -> list[ArchivedRule]:
    quoted = f'"{cookie_store_id}"'.encode()  # decoding ten thousand rules takes longer
    found = [row for row in transaction.rules.find() if quoted in row[1]]
    return [(rule, data) for rule, data in found if cookie_store_id in rule_identities(data)]


class _RuleIdentities(msgspec.Struct):
    identities: list[str] = []


_decode_rule_identities = msgspec.json.Decoder(_RuleIdentities).decode


def rule_identities(data: bytes) -> list[str]:
    """The identities that a stored site rule names. None, if it cannot be decoded."""
    try:
        return _decode_rule_identities(data).identities
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return []


# --------------------------------------------------------------------------------------------------------------- bytes

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ArchivedIdentity).decode


class _Encoded(ArchivedIdentity, frozen=True, omit_defaults=True):
    """An identity as its bytes have it."""

    columns: dict[str, tuple[str, ...]] = {}
    """The columns of the rows of cookies, pages and visits. Tabs and windows have names in each row."""


class _StatedColumns(msgspec.Struct):
    columns: dict[str, list[str]] = {}


_decode_columns = msgspec.msgpack.Decoder(_StatedColumns).decode
_decode_fields = msgspec.msgpack.Decoder(dict[str, msgspec.Raw]).decode


def _row_tables() -> dict[str, Table]:
    """The tables of rows without names, by field."""
    cookies, pages, visits = (copied_table(name) for name in ("cookies", "history", "visits"))
    return {"cookies": cookies.without("store"), "pages": pages, "visits": visits}


def encode_identity(archived: ArchivedIdentity) -> bytes:
    """An identity as bytes: a version, the contents, and a checksum."""
    columns = {name: table.columns for name, table in _row_tables().items()}
    encoded = _Encoded(**msgspec.structs.asdict(archived), columns=columns)
    content = _MAGIC + bytes([_VERSION]) + _encode(encoded)
    return content + _digest(content)


def decode_identity(data: bytes, source: str = "the archived identity") -> ArchivedIdentity:
    """The identity in these bytes. Raises ArchiveDamaged, or ArchiveTooNew; `source` names it in messages."""
    archived = _decoded(data, source, _decode)
    tabs = [msgspec.structs.replace(tab, columns=_tab_columns(tab.columns, source)) for tab in archived.tabs]
    for _, columns in archived.windows:
        _require_known("windows", columns, source)
    return msgspec.structs.replace(archived, tabs=tabs)


def summarize(data: bytes, source: str = "the archived identity") -> ArchiveSummary:
    """What these bytes say in short: tabs, site data and history are skipped. Raises as decode_identity()."""
    summarized = _decoded(data, source, _decode_summarized)
    return ArchiveSummary(frozenset(cookie[0] for cookie in summarized.cookies), summarized.removed_by)


class _Summarized(msgspec.Struct):
    """The part of ArchivedIdentity that summarize() reads."""

    cookies: list[CookieRow] = []
    removed_by: str = ""


_decode_summarized = msgspec.msgpack.Decoder(_Summarized).decode


def _decoded(data: bytes, source: str, decode: Callable[[bytes], T]) -> T:
    content, digest = data[:-_DIGEST_BYTES], data[-_DIGEST_BYTES:]
    if len(content) <= len(_MAGIC) or not content.startswith(_MAGIC) or _digest(content) != digest:
        raise ArchiveDamaged(source, "it is damaged: its checksum is wrong")
    version = content[len(_MAGIC)]
    if version > _VERSION:
        raise ArchiveTooNew(source, version, _VERSION)
    try:
        return decode(_with_current_columns(content[len(_MAGIC) + 1 :], source))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ArchiveDamaged(source, f"it is damaged: {error}") from error


def _with_current_columns(data: bytes, source: str) -> bytes:
    """The contents, where rows have the columns of this version."""
    stated = _decode_columns(data).columns or _FIRST_COLUMNS
    columns = read_columns(_row_tables(), stated, lambda unknown: _too_new(source, unknown), source)
    if all(rows.is_current for rows in columns.values()):
        return data
    fields = _decode_fields(data)
    for name, rows in columns.items():
        if name in fields:
            fields[name] = msgspec.Raw(_encode(rows.rows(fields[name])))
    return _encode(fields)


def _tab_columns(columns: Columns, source: str) -> Columns:
    _require_known("tabs", columns, source)
    return dict(copied_table("tabs").defaults) | without_flags(columns)


def _require_known(name: str, columns: Columns, source: str) -> None:
    for column in columns:
        if column not in copied_table(name).columns:
            raise _too_new(source, f"the column {column} of the table {name}")


def _too_new(source: str, unknown: str) -> ArchiveTooNew:
    return ArchiveTooNew(source, _VERSION, _VERSION, unknown)


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:_DIGEST_BYTES]
