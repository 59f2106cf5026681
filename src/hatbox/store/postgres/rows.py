"""Rows on PostgreSQL. Writes are queued and cost no trip; a row is read once in a transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from hatbox.store.postgres.connection import Result, Statement
from hatbox.store.postgres.failures import ServerError
from hatbox.store.postgres.schema import unique_columns
from hatbox.store.postgres.sql import quoted, translated
from hatbox.store.tables.rows import Value
from hatbox.store.tables.schema import Table

__all__ = ["PostgresRows", "SqlSession"]


class SqlSession(Protocol):
    """What runs the statements of a transaction."""

    def ask(self, statement: Statement) -> Result:
        """Execute all queued statements, and then this one; returns its rows."""

    def announce(self, statement: Statement, receive: Callable[[Result], None]) -> None:
        """Execute a query together with the next one, and pass its rows to `receive`."""

    def queue(self, statement: Statement) -> None:
        """Execute a statement later, in order."""


class PostgresRows:
    """Rows on PostgreSQL, with what a transaction has read. `clear` starts another transaction."""

    def __init__(self, session: SqlSession, table: Table, used: Callable[[PostgresRows], None] | None = None) -> None:
        """`used` is called before something is remembered. Without it, for copies, only the last query is."""
        self._session = session
        self._used = used or PostgresRows.clear
        self._table = table
        self._text = frozenset(name for name, kind in zip(table.columns, table.types, strict=True) if kind == "text")
        columns = ", ".join(quoted(column) for column in table.columns)
        places = ", ".join(f"${number}" for number in range(1, len(table.columns) + 1))
        others = [column for column in table.columns if column not in table.key]
        self._select = f"SELECT {columns} FROM {table.name} "
        self._insert = f"INSERT INTO {table.name} ({columns}) VALUES ({places})"
        updates = ", ".join(f"{quoted(column)} = excluded.{quoted(column)}" for column in others)
        action = f"UPDATE SET {updates}" if others else "NOTHING"
        self._put = f"{self._insert} ON CONFLICT ({unique_columns(table)}) DO {action}"
        self._by_key = " AND ".join(f"{quoted(column)} = ${n}" for n, column in enumerate(table.key, 1))
        self._where_key = " AND ".join(f"{column} = ?" for column in table.key)
        self._key_places = [table.columns.index(column) for column in table.key]
        self._known: dict[tuple[Value, ...], tuple[Any, ...] | None] = {}
        self._found: dict[tuple[str, tuple[Value, ...]], Result] = {}
        self._announced: set[tuple[str, tuple[Value, ...]]] = set()

    def clear(self) -> None:
        """Forget what was read: another transaction begins."""
        self._known.clear()
        self._found.clear()
        self._announced.clear()

    # ── Reading ──

    def get(self, *key: Value) -> tuple[Any, ...] | None:
        if key in self._known:
            return self._known[key]
        self._used(self)
        found = self._session.ask(Statement(f"{self._select}WHERE {self._by_key}", key, self._text))
        self._known[key] = row = found[0] if found else None
        return row

    def find(self, rest: str, values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        found = self._ask(self._select + rest, values)
        self._note(found)
        return found

    def prefetch(self, rest: str, values: Sequence[Value] = ()) -> None:
        key = (self._select + rest, tuple(values))
        if key in self._found or key in self._announced:
            return
        self._used(self)

        def receive(found: Result) -> None:
            self._announced.discard(key)
            self._found[key] = found
            self._note(found)

        self._announced.add(key)
        self._session.announce(Statement(translated(key[0]), values, self._text), receive)

    def _note(self, found: Result) -> None:
        for row in found:
            self._known[self._key_of(row)] = row

    def select(self, columns: str, rest: str = "", values: Sequence[Value] = ()) -> list[tuple[Any, ...]]:
        return self._ask(f"SELECT {columns} FROM {self._table.name} {rest}", values)

    def total_bytes(self, columns: Sequence[str], rest: str = "", values: Sequence[Value] = ()) -> int:
        size = " + ".join(f"octet_length({column})" for column in columns)
        ((total,),) = self.select(f"coalesce(sum({size}), 0)::int8", rest, values)
        return int(total)

    def max_bytes(self) -> int:
        ((size,),) = self._session.ask(Statement(f"SELECT pg_total_relation_size('{self._table.name}')"))
        return int(size)

    def damage(self, problem: str) -> Exception:
        return ServerError("XX001", problem)

    def _ask(self, sql: str, values: Sequence[Value]) -> Result:
        key = (sql, tuple(values))
        self._used(self)
        if key not in self._found:
            self._found[key] = self._session.ask(Statement(translated(sql), values, self._text))
        return list(self._found[key])

    def _key_of(self, row: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(row[place] for place in self._key_places)

    # ── Writing ──

    def insert(self, values: Sequence[Value]) -> None:
        self._write(self._insert, values)
        self._known[self._key_of(values)] = tuple(values)

    def put(self, rows: Iterable[Sequence[Value]]) -> None:
        for values in rows:
            self._write(self._put, values)
            self._known[self._key_of(values)] = tuple(values)

    def update(self, key: Sequence[Value], changed: Mapping[str, Value]) -> None:
        if not changed:
            return
        count = len(self._table.key)
        assignments = ", ".join(f"{quoted(column)} = ${count + n}" for n, column in enumerate(changed, 1))
        sql = f"UPDATE {self._table.name} SET {assignments} WHERE {self._by_key}"
        self._write(sql, (*key, *changed.values()))
        row = self._known.get(tuple(key))
        if row is not None:
            pairs = zip(self._table.columns, row, strict=True)
            self._known[tuple(key)] = tuple(changed.get(column, value) for column, value in pairs)

    def delete(self, where: str, values: Sequence[Value]) -> None:
        if where == self._where_key:
            self.delete_keys([values])
            return
        self._write(translated(f"DELETE FROM {self._table.name} WHERE {where}"), values)
        self._known.clear()

    def delete_keys(self, keys: Iterable[Sequence[Value]]) -> None:
        for key in keys:
            self._write(f"DELETE FROM {self._table.name} WHERE {self._by_key}", key)
            self._known[tuple(key)] = None

    def _write(self, sql: str, values: Sequence[Value]) -> None:
        self._used(self)
        self._session.queue(Statement(sql, values))
        self._found.clear()
