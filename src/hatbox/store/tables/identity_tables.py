"""The tables of identities, their settings, their rules, and the trash. Runs inside a transaction of the caller."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Collection, Sequence
from typing import Final

from hatbox.store.base import IdentityRow, TrashRow
from hatbox.store.tables.counters import Counters
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.rows_by_id import among, id_parts

__all__ = ["SqlIdentityTable", "SqlRuleTable", "SqlSettingsTable", "SqlTrashTable", "creation_time", "new_uuid"]

_GAP: Final = 2**20  # between the positions of neighbours, so that a move seldom renumbers the others
_ORDER: Final = "ORDER BY position, id"
_MAX_PARAMETERS: Final = 500  # of one statement
_BY_KEY: Final = "WHERE identity = ? AND name = ?"
_COLUMNS: Final = ", ".join(TrashRow._fields)


def new_uuid() -> str:
    """A UUID for a new identity: version 7, which contains the time (RFC 9562, 5.7)."""
    random = int.from_bytes(os.urandom(10), "big") & ~(0xF << 76 | 0b11 << 62)
    return str(uuid.UUID(int=int(time.time() * 1000) << 80 | 7 << 76 | 0b10 << 62 | random))


def creation_time(identity: str) -> float | None:
    """When the identity with a UUID was created, in seconds since 1970; None for one of an earlier Hatbox."""
    value = uuid.UUID(identity)
    return (value.int >> 80) / 1000 if value.version == 7 else None


class SqlIdentityTable:
    """IdentityTable in SQL. The user's order is that of `position`, whose values have gaps for moved rows."""

    def __init__(self, rows: Rows, counters: Counters) -> None:
        self._rows = rows
        self._counters = counters

    def get(self, user_context_id: int) -> IdentityRow | None:
        row = self._rows.get(user_context_id)
        return None if row is None else row[:5]

    def prefetch(self, user_context_ids: Collection[int]) -> None:
        """See Transaction.load."""
        for user_context_id in user_context_ids:
            self._rows.prefetch("WHERE id = ?", (user_context_id,))

    def find(self, name: str | None = None) -> list[IdentityRow]:
        found = self._rows.find(f"WHERE name = ? {_ORDER}", (name,)) if name is not None else self._rows.find(_ORDER)
        return [row[:5] for row in found]

    def ids(self) -> list[int]:
        return [user_context_id for (user_context_id,) in self._rows.select("id", _ORDER)]

    def get_many(self, user_context_ids: Collection[int]) -> list[IdentityRow]:
        wanted = list(dict.fromkeys(user_context_ids))
        found = {row[0]: row[:5] for part in id_parts(wanted) for row in self._rows.find(among(part), part)}
        return [found[each] for each in wanted if each in found]

    def names(self, limit: int) -> list[str]:
        return [name for (name,) in self._rows.select("DISTINCT name", "LIMIT ?", (limit,))]

    def count(self) -> int:
        ((count,),) = self._rows.select("count(*)")
        return int(count)

    def uuid(self, user_context_id: int) -> str | None:
        row = self._rows.get(user_context_id)
        return None if row is None else row[6]

    def uuids(self) -> dict[str, int]:
        return {each: user_context_id for user_context_id, each in self._rows.select("id, uuid")}

    def find_uuids(self, uuids: Collection[str]) -> dict[str, int]:
        wanted = list(dict.fromkeys(uuids))
        found: dict[str, int] = {}
        for start in range(0, len(wanted), _MAX_PARAMETERS):
            part = wanted[start : start + _MAX_PARAMETERS]
            rows = self._rows.select("id, uuid", f"WHERE uuid IN ({', '.join('?' * len(part))})", part)
            found |= {each: user_context_id for user_context_id, each in rows}
        return found

    def find_uuid(self, uuid: str) -> int | None:
        found = self._rows.select("id", "WHERE uuid = ?", (uuid,))
        return int(found[0][0]) if found else None

    def index(self, user_context_id: int) -> int:
        row = self._rows.get(user_context_id)
        if row is None:
            raise KeyError(user_context_id)
        before = "WHERE position < ? OR (position = ? AND id < ?)"
        ((count,),) = self._rows.select("count(*)", before, (row[5], row[5], user_context_id))
        return int(count)

    def last_id(self) -> int:
        return self._counters.get("identities")

    def insert(self, name: str, icon: str, color: str, *, uuid: str | None = None) -> int:
        user_context_id = self._counters.increment("identities")
        self._append(user_context_id, name, icon, color, 0, uuid or new_uuid())
        return user_context_id

    def position(self, user_context_id: int) -> int | None:
        row = self._rows.get(user_context_id)
        return None if row is None else row[5]

    def restore(
        self,
        user_context_id: int,
        uuid: str,
        name: str,
        icon: str,
        color: str,
        hidden: int,
        *,
        position: int | None = None,
    ) -> None:
        self._counters.raise_to("identities", user_context_id)
        if position is not None:
            self._counters.raise_to("identity_position", position)
            self._rows.insert((user_context_id, name, icon, color, hidden, position, uuid))
        else:
            self._append(user_context_id, name, icon, color, hidden, uuid)

    def _append(self, user_context_id: int, name: str, icon: str, color: str, hidden: int, uuid: str) -> None:
        position = self._counters.increment("identity_position", _GAP)
        self._rows.insert((user_context_id, name, icon, color, hidden, position, uuid))

    def update(self, user_context_id: int, **changed: str | int) -> None:
        self._rows.update((user_context_id,), changed)

    def delete(self, user_context_id: int) -> None:
        self._rows.delete("id = ?", (user_context_id,))

    def move(self, user_context_ids: Sequence[int], position: int) -> None:
        found = [row for each in dict.fromkeys(user_context_ids) if (row := self._rows.get(each)) is not None]
        block = [row[0] for row in sorted(found, key=lambda row: (row[5], row[0]))]
        before, after = self._neighbours(block, position)
        if after is None:
            for user_context_id in block:
                self._set_position(user_context_id, self._counters.increment("identity_position", _GAP))
            return
        if before is None:
            before = after - _GAP * (len(block) + 1)
        step = (after - before) // (len(block) + 1)
        if step == 0:  # no gap is left
            self._renumber(block, position)
            return
        for index, user_context_id in enumerate(block, start=1):
            self._set_position(user_context_id, before + step * index)

    def _neighbours(self, block: Sequence[int], position: int) -> tuple[int | None, int | None]:
        """The positions of the identities before and after this place in the list of those that are not moved."""
        first = max(position - 1, 0)
        if len(block) > _MAX_PARAMETERS:
            moved = set(block)
            order = self._rows.select("id, position", _ORDER)
            others = [(each,) for user_context_id, each in order if user_context_id not in moved][first : position + 1]
        else:
            kept = f"WHERE id NOT IN ({', '.join('?' * len(block))})" if block else ""
            rest = f"{kept} {_ORDER} LIMIT ? OFFSET ?"
            others = self._rows.select("position", rest, (*block, position + 1 - first, first))
        places = [each for (each,) in others]
        before = places.pop(0) if position and places else None
        return before, places[0] if places else None

    def _renumber(self, block: Sequence[int], position: int) -> None:
        """Give all identities new positions. The counter is not below the last one: it grew with every identity."""
        moved = set(block)
        others = [each for (each,) in self._rows.select("id", _ORDER) if each not in moved]
        for index, each in enumerate([*others[:position], *block, *others[position:]], start=1):
            self._set_position(each, index * _GAP)

    def _set_position(self, user_context_id: int, position: int) -> None:
        self._rows.update((user_context_id,), {"position": position})


class SqlRuleTable:
    """RuleTable in SQL."""

    def __init__(self, rows: Rows, counters: Counters) -> None:
        self._rows = rows
        self._counters = counters

    def find(self, numbers: Collection[int] | None = None) -> list[tuple[int, bytes]]:
        if numbers is None:
            return [(number, rule) for number, rule in self._rows.find("ORDER BY id")]
        found = {number: rule for part in id_parts(numbers) for number, rule in self._rows.find(among(part), part)}
        return sorted(found.items())

    def insert(self, rule: bytes) -> int:
        number = self._counters.increment("rules")
        self._rows.insert((number, rule))
        return number

    def put(self, number: int, rule: bytes) -> None:
        self._counters.raise_to("rules", number)
        self._rows.put([(number, rule)])

    def delete(self, number: int) -> None:
        self._rows.delete("id = ?", (number,))


class SqlSettingsTable:
    """SettingsTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def get(self, identity: int, name: str) -> bytes | None:
        found = self._rows.find(_BY_KEY, (identity, name))
        return found[0][2] if found else None

    def prefetch(self, identity: int, name: str) -> None:
        """See Transaction.load."""
        self._rows.prefetch(_BY_KEY, (identity, name))

    def load(self, identity: int) -> list[tuple[str, bytes]]:
        return [row[1:] for row in self._rows.find("WHERE identity = ? ORDER BY name", (identity,))]

    def find(self, name: str) -> list[tuple[int, bytes]]:
        found = self._rows.find("WHERE name = ? ORDER BY identity", (name,))
        return [(identity, value) for identity, _, value in found]

    def put(self, identity: int, name: str, value: bytes) -> None:
        self._rows.put([(identity, name, value)])

    def delete(self, identity: int, name: str) -> None:
        self._rows.delete("identity = ? AND name = ?", (identity, name))

    def clear(self, identity: int) -> None:
        self._rows.delete("identity = ?", (identity,))


class SqlTrashTable:
    """TrashTable in SQL."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def find(self, user_context_ids: Collection[int] | None = None) -> list[TrashRow]:
        if user_context_ids is None:
            return [TrashRow._make(row) for row in self._rows.select(_COLUMNS, "ORDER BY removed, id")]
        parts = id_parts(user_context_ids)
        rows = [TrashRow._make(row) for part in parts for row in self._rows.select(_COLUMNS, among(part), part)]
        return sorted(rows, key=lambda row: (row.removed, row.id))

    def count(self) -> int:
        ((count,),) = self._rows.select("count(*)")
        return int(count)

    def get(self, user_context_id: int) -> tuple[TrashRow, bytes] | None:
        row = self._rows.get(user_context_id)
        return None if row is None else (TrashRow._make(row[:-1]), row[-1])

    def size(self, user_context_id: int) -> int | None:
        found = self._rows.select("size", "WHERE id = ?", (user_context_id,))
        return int(found[0][0]) if found else None

    def put(self, row: TrashRow, data: bytes) -> None:
        self._rows.put([(*row, data)])

    def delete(self, user_context_id: int) -> None:
        self._rows.delete("id = ?", (user_context_id,))

    def total_bytes(self) -> int:
        ((total,),) = self._rows.select("CAST(coalesce(sum(size), 0) AS BIGINT)")
        return int(total)
