"""The tables of cookies, and of the time that they expire by. Runs inside a transaction of the caller."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from hatbox.store.base import CookieDescription, CookieMetadata, CookieRow, CookieRowKey, CookieTimeRow
from hatbox.store.tables.rows import Rows

__all__ = ["SqlCookieTable", "SqlCookieTimeTable"]

_DESCRIPTION: Final = (
    "domain, host_only, path, name, partition, secure, http_only, same_site, expires, created, last_access"
)
_MAX_PARAMETERS: Final = 1000  # of one statement
_DOMAINS: Final = "DISTINCT store, domain"
_METADATA: Final = "store, domain, name, http_only, expires, created, last_access"


class SqlCookieTable:
    """CookieTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def load(self, store: int) -> list[CookieRow]:
        return [row[:13] for row in self._rows.find("WHERE store = ?", (store,))]

    def describe(self, store: int) -> list[CookieDescription]:
        return self._rows.select(_DESCRIPTION, "WHERE store = ?", (store,))

    def find(
        self,
        store: int,
        *,
        names: Sequence[str] | None = None,
        domains: Sequence[str] | None = None,
        below: str | None = None,
    ) -> list[CookieRow]:
        conditions, values = self._of_store(store, below)
        for column, allowed in (("domain", domains), ("name", names)):
            if allowed is not None:
                conditions += f" AND {column} IN ({', '.join('?' * len(allowed))})"
                values += allowed
        return [row[:13] for row in self._rows.find(f"WHERE {conditions}", values)]

    def count(self, store: int, below: str | None = None) -> int:
        conditions, values = self._of_store(store, below)
        ((count,),) = self._rows.select("count(*)", f"WHERE {conditions}", values)
        return int(count)

    def _of_store(self, store: int, below: str | None) -> tuple[str, list[str | int]]:
        if below is None:
            return "store = ?", [store]
        tail = f".{below}"
        conditions = "store = ? AND (domain = ? OR substr(domain, length(domain) - ?) = ?)"
        return conditions, [store, below, len(tail) - 1, tail]

    def metadata(self, stores: Collection[int] | None = None) -> list[CookieMetadata]:
        if stores is None:
            return self._rows.select(_METADATA)
        return [row for part in _parts(stores) for row in self._rows.select(_METADATA, f"WHERE {_in(part)}", part)]

    def domains(self, stores: Collection[int], now: float) -> list[tuple[int, str]]:
        parts = (self._rows.select(_DOMAINS, _valid_in(part), (*part, float(now))) for part in _parts(stores))
        return [row for part in parts for row in part]

    def next_expiries(self, stores: Collection[int], after: float) -> dict[int, float]:
        found: dict[int, float] = {}
        for part in _parts(stores):
            rest = f"WHERE {_in(part)} AND expires > ? GROUP BY store"
            found |= dict(self._rows.select("store, min(expires)", rest, (*part, float(after))))
        return found

    def put(self, store: int, rows: Iterable[CookieRow]) -> None:
        self._rows.put((*_as_stored(row), store) for row in rows)

    def delete(self, store: int, keys: Iterable[CookieRowKey]) -> None:
        self._rows.delete_keys((store, *key) for key in keys)

    def clear(self, store: int) -> None:
        self._rows.delete("store = ?", (store,))

    def touch(self, store: int, used: Iterable[tuple[float, CookieRowKey]]) -> None:
        used_at = {key: float(when) for when, key in used}
        domains = sorted({domain for domain, *_ in used_at})
        for part in (domains[start : start + _MAX_PARAMETERS] for start in range(0, len(domains), _MAX_PARAMETERS)):
            rows = self.find(store, domains=part)
            self.put(store, [(*row[:-1], used_at[row[:5]]) for row in rows if row[-1] < used_at.get(row[:5], 0.0)])


def _parts(stores: Collection[int]) -> Iterator[Sequence[int]]:
    """The stores, each once, in parts that one statement can have."""
    wanted = list(dict.fromkeys(stores))
    return (wanted[start : start + _MAX_PARAMETERS] for start in range(0, len(wanted), _MAX_PARAMETERS))


def _in(stores: Sequence[int]) -> str:
    return f"store IN ({', '.join('?' * len(stores))})"


def _valid_in(stores: Sequence[int]) -> str:
    return f"WHERE {_in(stores)} AND (expires IS NULL OR expires > ?)"


def _as_stored(row: CookieRow) -> CookieRow:
    """The row as SQLite returns it: the checksums of 1, 1.0 and True differ."""
    domain, host_only, path, name, partition, value, secure, http_only, same_site, expires, *rest = row
    sequence, created, last_access = rest
    return (
        *(domain, int(host_only), path, name, partition, value, int(secure), int(http_only), same_site),
        None if expires is None else expires + 0.0,  # also turns -0.0, which SQLite does not store, into 0.0
        *(int(sequence), created + 0.0, last_access + 0.0),
    )


class SqlCookieTimeTable:
    """CookieTimeTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def get(self) -> CookieTimeRow | None:
        row = self._rows.get(1)
        return None if row is None else row[:3]

    def put(self, reached: float, before: float | None, landed: float | None) -> None:
        self._rows.put([(float(reached), _float(before), _float(landed), 1)])


def _float(value: float | None) -> float | None:
    return None if value is None else float(value)
