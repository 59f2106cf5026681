"""The tables of a profile: names, columns and keys. Each store has the statements that create them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec

__all__ = [
    "ACTIVITY",
    "BOOKMARKS",
    "CHANGES",
    "CLOSED_TABS",
    "COOKIES",
    "COOKIE_TIME",
    "EXTENSION_DATA",
    "GRANTS",
    "HEAD",
    "HISTORY",
    "IDENTITIES",
    "PACKAGES",
    "PROFILE",
    "RULES",
    "SETTINGS",
    "SITE_DATA",
    "TABLES",
    "TABS",
    "TAB_COUNTS",
    "TAB_PAGES",
    "TRASH",
    "VISITS",
    "WINDOWS",
    "Table",
]


class Table(NamedTuple):
    """One table. The order of its columns is that of its rows, and the one in which a checksum covers them."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str, ...]
    """The type of each column: integer, text, real or blob."""
    nullable: frozenset[str]
    key: tuple[str, ...]
    secret: frozenset[str] = frozenset()
    """The columns that are encrypted in an encrypted profile."""
    bound: tuple[str, ...] = ()
    """The columns that are authenticated with them: an encrypted value is valid only beside these values."""
    defaults: tuple[tuple[str, Any], ...] = ()
    """The columns that a later format has added, and the value of each in earlier rows.

    Migrations and the restore of earlier archives use it. A value that was released is never changed.
    """

    def encrypted(self) -> Table:
        """The table as an encrypted profile stores it: its secret columns are blobs."""
        types = tuple(
            "blob" if column in self.secret else kind for column, kind in zip(self.columns, self.types, strict=True)
        )
        return self._replace(types=types)

    def place(self, column: str) -> int:
        """The index of a column in a row."""
        return self.columns.index(column)

    def without(self, *columns: str) -> Table:
        """The table as an earlier format has it, which these columns were added to."""
        kept = [place for place, column in enumerate(self.columns) if column not in columns]
        return self._replace(
            columns=tuple(self.columns[place] for place in kept), types=tuple(self.types[place] for place in kept)
        )

    def completed(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """A row from values by column. A missing column has its default; raises KeyError if it has none."""
        defaults = dict(self.defaults)
        return tuple([values[column] if column in values else defaults[column] for column in self.columns])


def _table(name: str, columns: str, *, key: str, bound: str = "") -> Table:
    """`columns` has a line for each column: its name, its type, and null if it may be NULL or secret if it is.

    Then `default` and a value in JSON, if a later format has added it. `bound` has the columns that are bound to secret
    ones beside the key.
    """
    parted = [line.partition(" default ") for line in columns.strip().splitlines()]
    lines = [line.split() for line, _, _ in parted]
    return Table(
        name,
        columns=tuple(line[0] for line in lines),
        types=tuple(line[1] for line in lines),
        nullable=frozenset(line[0] for line in lines if line[2:] == ["null"]),
        key=tuple(key.split()),
        secret=frozenset(line[0] for line in lines if line[2:] == ["secret"]),
        bound=(*key.split(), *bound.split()),
        defaults=tuple(
            (line[0], _default(line[1], value)) for line, (_, _, value) in zip(lines, parted, strict=True) if value
        ),
    )


def _default(kind: str, text: str) -> Any:
    value = msgspec.json.decode(text)
    if kind == "blob" and value is not None:
        return value.encode()
    return float(value) if kind == "real" and value is not None else value


# One row. The highest number that was ever given to an identity, a window, a tab, a row of the change log or of
# extension data, a site rule, so that none is given twice; the highest position of an identity; the bytes ever written
# to the log.
HEAD: Final = _table(
    "head",
    """
    id integer
    identities integer
    windows integer
    tabs integer
    changes integer
    logged integer
    extension_data integer
    identity_position integer
    rules integer default 0
    """,
    key="id",
)

# One row. key_check: a value encrypted with the profile's key, to detect a wrong one; NULL if nothing is encrypted.
PROFILE: Final = _table(
    "profile",
    """
    uuid text
    key_check blob null
    id integer
    """,
    key="id",
)

# uuid: the same in every profile that a copy or a backup of the identity is restored to.
IDENTITIES: Final = _table(
    "identities",
    """
    id integer
    name text
    icon text
    color text
    hidden integer
    position integer
    uuid text
    """,
    key="id",
)

# Settings of an identity, or of the profile itself (identity 0), by name. A proxy's URL can contain a password.
SETTINGS: Final = _table(
    "settings",
    """
    identity integer
    name text
    value blob secret
    """,
    key="identity name",
)

# Site rules: which identity a URL belongs to.
RULES: Final = _table(
    "rules",
    """
    id integer
    rule blob
    """,
    key="id",
)

# Removed identities. data: an archive with everything that belonged to one; size: its length. cookies, tabs: how many.
TRASH: Final = _table(
    "trash",
    """
    id integer
    uuid text
    name text
    icon text
    color text
    removed real
    cookies integer
    tabs integer
    size integer
    data blob secret
    """,
    key="id",
)

# store: the number of the identity; 0 is the store of no identity. expires: NULL for a session cookie.
COOKIES: Final = _table(
    "cookies",
    """
    domain text
    host_only integer
    path text
    name text
    partition text
    value text secret
    secure integer
    http_only integer
    same_site text
    expires real null
    sequence integer
    created real
    last_access real
    store integer
    """,
    key="store domain host_only path name partition",
    bound="secure http_only same_site",  # else a server could have a cookie sent without TLS
)

# The high-water time by which cookies expire: one row. before, landed: of a leap that is not confirmed.
COOKIE_TIME: Final = _table(
    "cookie_time",
    """
    reached real
    before real null
    landed real null
    id integer
    """,
    key="id",
)

WINDOWS: Final = _table(
    "windows",
    """
    id integer
    focused integer
    state text
    kind text
    title_preface text
    left integer null
    top integer null
    width integer null
    height integer null
    """,
    key="id",
)

TABS: Final = _table(
    "tabs",
    """
    id integer
    window integer
    position integer
    store integer
    url text
    target text
    title text
    icon text
    active integer
    pinned integer
    hidden integer
    muted integer
    muted_by text
    discardable integer
    opener integer null
    owner integer null
    related integer null
    successor integer null
    last_accessed real
    navigation integer
    begun integer
    loaded integer
    status integer null
    content_type text
    error text
    discarded integer default 0
    highlighted integer default 0
    tab_group integer default -1
    """,
    key="id",
)

# The numbers of tabs in ranges of positions, see tab_order.py. Computed from the table tabs.
TAB_COUNTS: Final = _table(
    "tab_counts",
    """
    window integer
    block integer
    tabs integer
    pinned integer
    """,
    key="window block",
)

# A table of its own, so that reading a tab does not read, and verify, the snapshot of its page.
TAB_PAGES: Final = _table(
    "tab_pages",
    """
    tab integer
    page blob secret
    """,
    key="tab",
)

SITE_DATA: Final = _table(
    "site_data",
    """
    origin text
    data blob secret
    store integer
    """,
    key="store origin",
)

EXTENSION_DATA: Final = _table(
    "extension_data",
    """
    extension text
    key text
    value blob secret
    kind text
    sequence integer
    """,
    key="sequence",
    bound="extension kind key",
)

# The files of installed extensions, by the hash of their contents.
PACKAGES: Final = _table(
    "packages",
    """
    digest text
    data blob
    """,
    key="digest",
)

# The pages that were visited, by cookie store. visits, typed: how many of its visits, and how many of them were typed.
HISTORY: Final = _table(
    "history",
    """
    id integer
    store integer
    url text
    title text
    visits integer
    typed integer
    last_visit real
    """,
    key="store id",
)

# page: the id in the table history. referrer: the visit from which a link was followed; 0 for none.
VISITS: Final = _table(
    "visits",
    """
    id integer
    store integer
    page integer
    visited real
    transition text
    referrer integer
    """,
    key="store id",
)

# kind: bookmark, folder or separator. parent: the folder. The root folders have rows once a bookmark was written.
BOOKMARKS: Final = _table(
    "bookmarks",
    """
    id text
    parent text
    position integer
    kind text
    url text
    title text
    added real
    modified real
    """,
    key="id",
)

# Recently closed tabs. session: the same in all tabs that were closed with their window. data: a tab, as an archive.
CLOSED_TABS: Final = _table(
    "closed_tabs",
    """
    id integer
    session integer
    store integer
    closed real
    data blob secret
    """,
    key="id",
)

# Capabilities that were given to programs. digest: the SHA-256 of the token. data: what is allowed, and the purpose.
# All that decides whether a token is valid is bound to data: a server cannot replace it in an encrypted profile.
GRANTS: Final = _table(
    "grants",
    """
    id text
    digest blob
    created real
    expires real null
    revoked real null
    program text
    machine text
    data blob secret
    """,
    key="id",
    bound="digest created expires revoked",
)

# The activity log. store: NULL if no identity is concerned. times: how often the same was done within a minute.
ACTIVITY: Final = _table(
    "activity",
    """
    id integer
    at real
    grant_id text
    program text
    machine text
    store integer null
    action text
    host text secret
    outcome text
    times integer
    """,
    key="id",
    bound="at grant_id program machine store action outcome times",
)

# A row for each commit. logged: the bytes that the log had ever had after it. program, process, machine: who made it.
CHANGES: Final = _table(
    "changes",
    """
    sequence integer
    at integer
    logged integer
    changes blob secret
    program text
    process integer
    machine text
    """,
    key="sequence",
)

TABLES: Final = (
    *(HEAD, PROFILE, IDENTITIES, COOKIES, COOKIE_TIME, WINDOWS, TABS, TAB_COUNTS, TAB_PAGES, SITE_DATA),
    *(EXTENSION_DATA, PACKAGES, SETTINGS, RULES, TRASH, HISTORY, VISITS, BOOKMARKS, CLOSED_TABS),
    *(GRANTS, ACTIVITY, CHANGES),
)
