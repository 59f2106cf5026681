"""Transactions on PostgreSQL: how statements are grouped into trips, and how commits are ordered.

The row of the table `head` orders all commits: its column `changes` is the number of the last one. A first attempt
takes no lock until it commits, and then fails if another process has committed since. A second one locks the row first.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from hatbox.errors import DecryptionError
from hatbox.javascript.text import well_formed
from hatbox.store.base import RESYNC, ChangeRecord, CommitRecord, Processes
from hatbox.store.calls import LoggedChange
from hatbox.store.encryption import Cipher
from hatbox.store.postgres.connection import PostgresConnection, Result, Statement
from hatbox.store.postgres.failures import ServerError, too_new, unknown_outcome
from hatbox.store.postgres.rows import PostgresRows, SqlSession
from hatbox.store.postgres.schema import FORMAT
from hatbox.store.processes import current_process, program_name
from hatbox.store.tables.counters import Counters
from hatbox.store.tables.encrypted_rows import rows_with_cipher
from hatbox.store.tables.log_entries import LogEntries, decode_entries, encode_entries
from hatbox.store.tables.row_cipher import LogCipher
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import CHANGES, HEAD, Table
from hatbox.store.tables.transaction import SqlTables

__all__ = [
    "BEGIN_READ",
    "COMMIT",
    "LOCK_HEAD",
    "SELECT_HEAD",
    "ExternalChanges",
    "Head",
    "PostgresTransaction",
    "ReadSession",
    "UnknownAnswer",
    "WriteSession",
    "decoded_changes",
    "head_in",
    "insert_change",
    "key_of",
    "select_changes",
    "sequence_of",
]

ExternalChanges: TypeAlias = list[tuple[int, list[ChangeRecord]]]
"""Rows of the change log by number."""

StatementKey: TypeAlias = tuple[str, tuple[Any, ...]]

Head: TypeAlias = tuple[int, ...]
"""The counters, in the order of HEAD.columns."""

_HEAD_COLUMNS: Final = ", ".join(HEAD.columns)
_SEQUENCE: Final = HEAD.columns.index("changes")
SELECT_HEAD: Final = Statement(f"SELECT {_HEAD_COLUMNS}, format FROM head")
LOCK_HEAD: Final = Statement(f"SELECT {_HEAD_COLUMNS}, format FROM head FOR UPDATE")
_BEGIN: Final = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ")
_BEGIN_LOCKED: Final = Statement("BEGIN ISOLATION LEVEL READ COMMITTED")
BEGIN_READ: Final = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
COMMIT: Final = Statement("COMMIT")
_ROLLBACK: Final = Statement("ROLLBACK")
# Division by zero, if another process has committed since, or has upgraded the profile.
_UPDATE_HEAD: Final = (
    "UPDATE head SET "
    + ", ".join(f"{column} = ${number}" for number, column in enumerate(HEAD.columns[1:], start=3))
    + ", id = 1 + 0 / (changes = $1 AND format = $2)::int"
)
_INSERT_CHANGE: Final = (
    "INSERT INTO changes (sequence, token, at, logged, changes, program, process, machine) VALUES "
    "($1, $2, (extract(epoch FROM clock_timestamp()) * 1000)::int8, $3, $4, $5, $6, $7)"
)
_SELECT_CHANGES: Final = "SELECT sequence, token, changes FROM changes WHERE sequence >= $1 ORDER BY sequence"
_FIND_COMMIT: Final = "SELECT sequence FROM changes WHERE token = $1"
_FIRST_CHANGE: Final = Statement("SELECT min(sequence) FROM changes")
_PRUNE: Final = (
    "DELETE FROM changes WHERE sequence <= (SELECT max(sequence) FROM "
    "(SELECT sequence, logged, (extract(epoch FROM clock_timestamp()) * 1000)::int8 - at AS age FROM changes "
    "ORDER BY sequence LIMIT 2000) AS oldest WHERE age > $1 OR (age > $2 AND logged <= $3))"
)
_PRUNE_EVERY: Final = 256  # commits
_RETENTION_MS: Final = 600_000
_MIN_RETENTION_MS: Final = 120_000  # a process that has lost its connection looks for its commit in the log
_MAX_BYTES: Final = 8 * 2**20


class UnknownAnswer(BaseException):
    """A transaction function that only reads needs the answers to statements: it is run again when they are known.

    Not an Exception, so that no transaction function catches it.
    """

    def __init__(self, *statements: Statement) -> None:
        super().__init__()
        self.statements = statements


class PendingChanges:
    """ChangeLog that collects the changes of one call, and reads those of earlier commits."""

    def __init__(self, rows: Rows) -> None:
        self._log = LogEntries(rows)
        self.appended: list[LoggedChange] = []
        self.earlier: list[LoggedChange] = []
        """The changes of earlier calls in the same transaction."""

    def append(self, topic: str, payload: bytes) -> None:
        self.appended.append((topic, msgspec.Raw(payload)))

    def latest_commits(self, limit: int, before: int | None = None) -> list[CommitRecord]:
        return self._log.latest_commits(limit, before)

    def scrub(self, choose: Callable[[Sequence[tuple[str, bytes]]], Collection[int]]) -> None:
        self._log.scrub(choose, self.earlier)


class PostgresTransaction(SqlTables):
    """All tables, in one transaction after the other. `begin` starts the next one."""

    def __init__(
        self,
        processes: Callable[[SqlSession], Processes],
        clock: Callable[[], float],
        cipher: Cipher | None = None,
        label: str = "",
    ) -> None:
        self.session: ReadSession | WriteSession
        self.counters = Counters(lambda: self.session.head())
        self._used: set[PostgresRows] = set()  # those that remember something
        rows = rows_with_cipher(self._rows_of, cipher, label)
        self.changes = PendingChanges(rows(CHANGES))
        super().__init__(rows, self.counters, processes(self), clock)

    def begin(self, session: ReadSession | WriteSession) -> None:
        """Run the next functions in this session. Nothing that was read before is used."""
        self.session = session
        self.reset()
        for rows in self._used:
            rows.clear()
        self._used.clear()

    def trim(self) -> None:
        self.session.flush()
        for rows in self._used:
            rows.clear()
        self._used.clear()

    def ask(self, statement: Statement) -> Result:
        return self.session.ask(statement)

    def announce(self, statement: Statement, receive: Callable[[Result], None]) -> None:
        self.session.announce(statement, receive)

    def queue(self, statement: Statement) -> None:
        self.session.queue(statement)

    def _rows_of(self, table: Table) -> PostgresRows:
        return PostgresRows(self, table, self._used.add)


class ReadSession:
    """Runs one function that only reads. A statement whose answer is not known ends the run with UnknownAnswer."""

    def __init__(self, label: str) -> None:
        self._answers: dict[StatementKey, Result] = {}
        self._announced: list[Statement] = []
        self._label = label
        self.asked: list[Statement] = []
        """The statements whose answers are known."""

    def ask(self, statement: Statement) -> Result:
        try:
            return self._answers[key_of(statement)]
        except KeyError:
            announced, self._announced = self._announced, []
            raise UnknownAnswer(*announced, statement) from None

    def announce(self, statement: Statement, receive: Callable[[Result], None]) -> None:
        """Ask a statement together with the next one. The next run of the function receives its answer."""
        if (known := self._answers.get(key_of(statement))) is not None:
            receive(known)
        else:
            self._announced.append(statement)

    def queue(self, statement: Statement) -> None:
        raise ServerError("25006", f"a transaction function that only reads must not execute {statement.sql[:40]}")

    def flush(self) -> None:
        """Nothing is queued."""

    def add_answer(self, statement: Statement, answer: Result) -> None:
        """Provide the answer to a statement."""
        self.asked.append(statement)
        self._answers[key_of(statement)] = answer

    def head(self) -> Head:
        """The counters."""
        return head_in(self._label, self.ask(SELECT_HEAD))


class WriteSession:
    """Runs functions that write, one after the other, in one transaction.

    With `locked` it takes the lock of the head row first; without, committing raises a conflict if it comes too late.
    `known` are the counters of the last commit that this process knows of.
    """

    def __init__(self, connection: PostgresConnection, known: Head | None, log: LogCipher, *, locked: bool) -> None:
        self._connection = connection
        self._log = log
        self._locked = locked
        self._has_lock = locked  # of the head row, from the first statement that is sent
        self._known = None if locked else known
        self._is_known_used = False
        self._is_open = False
        self._failure: ServerError | None = None
        self._queued: list[Statement] = []
        self._announced: list[tuple[Statement, Callable[[Result], None]]] = []
        self.written = 0
        """How many statements were queued so far."""

    def ask(self, statement: Statement) -> Result:
        announced, self._announced = self._announced, []
        statements = {key_of(each): each for each in (*(each for each, _ in announced), statement)}
        results = dict(zip(statements, self._run([*statements.values()])[-len(statements) :], strict=True))
        for each, receive in announced:
            receive(results[key_of(each)])
        return results[key_of(statement)]

    def announce(self, statement: Statement, receive: Callable[[Result], None]) -> None:
        """Execute a query together with the next one. Without a next one it is not executed."""
        self._announced.append((statement, receive))

    def queue(self, statement: Statement) -> None:
        self.written += 1
        self._queued.append(statement)

    def flush(self) -> None:
        """Execute the queued statements now."""
        if self._queued:
            self._run([])

    def head(self) -> Head:
        """The counters at the start of the transaction."""
        if self._known is None:
            self._run([])
        self._is_known_used = True
        return self._known or ()

    @property
    def next_sequence(self) -> int:
        """The number that the commit of this transaction gets."""
        return self.head()[_SEQUENCE] + 1

    def find_commit(self, token: bytes, sequence: int) -> int | None:
        """The number of the commit with this token, which was sent as this number; None if it has failed.

        Only with the lock: a commit that is in progress ends first. Raises ProfileUnavailable if the log was pruned.
        """
        found, oldest = self._run([Statement(_FIND_COMMIT, (token,)), _FIRST_CHANGE])[-2:]
        if found:
            return int(found[0][0])
        first = oldest[0][0]
        if self.head()[_SEQUENCE] >= sequence and (first is None or first > sequence):
            raise unknown_outcome(self._connection.label, "the change log was pruned")
        return None

    def confirm(self) -> None:
        """Wait until what was found is as durable as a commit: on the synchronous standby, if there is one.

        The server answers such a wait with an error when it shuts down, although the commit exists.
        """
        self._connection.run([COMMIT])  # waits too, because the lock of the head row is in the WAL
        self._is_open = False

    def commit(
        self, head: Head, token: bytes, changes: Sequence[LoggedChange], notify: Statement, follow: int | None
    ) -> tuple[Head, Result]:
        """Commit, with one row in the change log. Returns the new counters, and the log from the row `follow` on.

        The log is not read if `follow` is None or the last row before this commit.
        """
        self._require_healthy()
        sequence = self.head()[_SEQUENCE]
        encoded = encode_entries(changes)
        values = dict(zip(HEAD.columns, head, strict=True))
        values["changes"] += 1
        values["logged"] += len(encoded)
        new = tuple(values.values())
        stored = self._log.encrypted(new[_SEQUENCE], encoded)
        statements = [] if self._is_open else [_BEGIN]
        statements += [Statement(_UPDATE_HEAD, (sequence, FORMAT, *new[1:])), *self._take_queued()]
        followed = slice(0, 0)
        if follow is not None and follow < sequence:  # before rows are pruned
            followed = slice(len(statements), len(statements) + 1)
            statements.append(select_changes(follow))
        statements.append(insert_change(new[_SEQUENCE], token, values["logged"], stored))
        if new[_SEQUENCE] % _PRUNE_EVERY == 0:
            statements.append(Statement(_PRUNE, (_RETENTION_MS, _MIN_RETENTION_MS, values["logged"] - _MAX_BYTES)))
        self._is_open = True
        # The notification is not part of what can fail: the commit would be reported as failed.
        results = self._connection.run([*statements, COMMIT], then=notify)
        self._is_open = False
        return new, [row for rows in results[followed] for row in rows]

    def roll_back(self) -> None:
        """End the transaction without a commit."""
        self._queued.clear()
        if self._is_open:
            self._is_open = False
            self._connection.send(_ROLLBACK)

    def _run(self, statements: list[Statement]) -> list[Result]:
        self._require_healthy()
        try:
            return self._run_or_fail(statements)
        except ServerError as error:
            self._failure = error
            raise

    def _require_healthy(self) -> None:
        """A function that has caught an error must not go on: the server executes nothing more of this transaction."""
        if self._failure is not None:
            raise ServerError(self._failure.code, str(self._failure))

    def _run_or_fail(self, statements: list[Statement]) -> list[Result]:
        # A write locks its rows. Every process locks the head row before any other, so that there are no deadlocks.
        must_lock = bool(self._queued) and not self._has_lock
        self._has_lock |= must_lock
        if self._is_open:
            return self._connection.run([*([LOCK_HEAD] if must_lock else []), *self._take_queued(), *statements])
        self._is_open = True
        head_statement = LOCK_HEAD if self._has_lock else SELECT_HEAD
        opening = [_BEGIN_LOCKED if self._locked else _BEGIN, head_statement]
        results = self._connection.run([*opening, *self._take_queued(), *statements])
        head = head_in(self._connection.label, results[1])
        if self._is_known_used and head != self._known:
            raise ServerError("40001", "another process has committed")
        self._known = head
        return results

    def _take_queued(self) -> list[Statement]:
        queued, self._queued = self._queued, []
        return queued


def key_of(statement: Statement) -> StatementKey:
    """The key of a statement in a dictionary of answers."""
    return statement.sql, tuple(statement.values)


def insert_change(sequence: int, token: bytes, logged: int, changes: bytes) -> Statement:
    """Inserts a row of the change log, with this process as its author."""
    return Statement(_INSERT_CHANGE, (sequence, token, logged, changes, *_author(os.getpid())))


def select_changes(first: int) -> Statement:
    """Selects the rows of the change log from this number on."""
    return Statement(_SELECT_CHANGES, (first,))


def sequence_of(head: Head) -> int:
    """The number of the last commit."""
    return head[_SEQUENCE]


def decoded_changes(rows: Result, log: LogCipher) -> ExternalChanges:
    """The changes in rows of the log. A damaged row becomes a resync."""
    return [(sequence, _decoded_row(log, sequence, changes)) for sequence, _, changes in rows]


def _decoded_row(log: LogCipher, sequence: int, changes: bytes) -> list[ChangeRecord]:
    try:
        return [
            ChangeRecord(topic, bytes(raw), None) for topic, raw in decode_entries(log.decrypted(sequence, changes))
        ]
    except (msgspec.MsgspecError, UnicodeDecodeError, DecryptionError):
        return [ChangeRecord(RESYNC, b"", None)]


@functools.lru_cache(maxsize=1)
def _author(_pid: int) -> tuple[str, int, str]:
    """Program, process and machine of a row in the log. Of each process: a fork has its own."""
    process = current_process()
    return well_formed(program_name()), process.pid, well_formed(process.machine)


def head_in(label: str, rows: Result) -> Head:
    """The counters in the answer to SELECT_HEAD. Raises ProfileTooNew."""
    if len(rows) != 1:
        raise ServerError("XX001", "the table head must have one row")
    *head, version = rows[0]
    if version > FORMAT:
        raise too_new(label, version, FORMAT)
    return tuple(head)
