"""One connection to PostgreSQL, used by one thread: prepared statements, sent in pipelines, one trip for many.

Uses libpq directly: the comfortable layer of psycopg costs as much again as a trip to a server on this machine.
"""

from __future__ import annotations

import select
import struct
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, TypeAlias

import psycopg
from psycopg import pq
from psycopg.pq.abc import PGresult

from hatbox.store.postgres.address import PostgresAddress, is_local
from hatbox.store.postgres.failures import ConnectionLost, ServerError, connection_failure, no_locks, pooler_refused

__all__ = ["PostgresConnection", "Result", "Statement", "Value"]

Value: TypeAlias = str | bytes | int | float | None
Result: TypeAlias = list[tuple[Any, ...]]

_OK: Final = (pq.ExecStatus.COMMAND_OK, pq.ExecStatus.TUPLES_OK)
_LOST_STATES: Final = ("57P01", "57P02", "57P03", "08")  # of SQLSTATE: shutdown, crash, starting up, connection failure
_FATAL: Final = (b"FATAL", b"PANIC")  # severities after which the server closes the connection
_POOLER_STATES: Final = ("26000", "42P05")  # of SQLSTATE: a prepared statement is missing, or another client's
_MAX_PREPARED: Final = 500
_MIN_VERSION: Final = 130000
_BYTEA, _INT8, _INT2, _INT4, _TEXT, _FLOAT8, _BOOL, _OID, _NAME = 17, 20, 21, 23, 25, 701, 16, 26, 19
_double: Final = struct.Struct(">d").unpack


def _integer(value: bytes) -> int:
    return int.from_bytes(value, "big", signed=True)


_DECODERS: Final[dict[int, Callable[[bytes], Any]]] = {
    _BYTEA: bytes,
    _INT8: _integer,
    _INT4: _integer,
    _INT2: _integer,
    _OID: lambda value: int.from_bytes(value, "big"),
    _FLOAT8: lambda value: _double(value)[0],
    _BOOL: lambda value: value == b"\x01",
    _TEXT: lambda value: value.decode(),
    _NAME: lambda value: value.decode(),
}


class Statement(NamedTuple):
    """One statement with $1 for parameters. Text is sent as bytea: PostgreSQL's text cannot contain NUL."""

    sql: str
    values: Sequence[Value] = ()
    text_columns: frozenset[str] = frozenset()
    """The names of result columns that have text as bytea."""


class _Sent(NamedTuple):
    """What was sent in one pipeline."""

    expected: list[Statement | None]
    """What the results belong to; None for the result of preparing a statement."""
    prepared: list[str]
    """The statements that were prepared."""


class PostgresConnection:
    """A connection in pipeline mode. Its methods raise ConnectionLost and ServerError."""

    def __init__(self, address: PostgresAddress) -> None:
        try:
            self._owner = psycopg.Connection.connect(address.with_service(), autocommit=True)
        except psycopg.Error as error:
            raise connection_failure(str(error)) from None
        self.label = address.label
        self._pg = self._owner.pgconn
        self._warning = ""  # of the statement whose result is read
        self._owner.add_notice_handler(self._on_notice)
        self._prepared: dict[str, bytes] = {}
        self._count = 0
        self._outstanding: deque[_Sent] = deque()
        self._decoders: dict[str, list[tuple[int, Callable[[bytes], Any]]]] = {}
        self.trips = 0
        """How many times it has waited for the server."""
        self.answer_seconds: float | None = None
        """How long it may take the server to answer; None for ever. Then the connection counts as lost."""
        self.backend_pid = self._pg.backend_pid
        try:
            self._check()
            self._pg.nonblocking = 1
            self._pg.enter_pipeline_mode()
            self._poll_input, self._poll_both = select.poll(), select.poll()
            self._poll_input.register(self._pg.socket, select.POLLIN)
            self._poll_both.register(self._pg.socket, select.POLLIN | select.POLLOUT)
        except BaseException:
            self.close()
            raise

    def _check(self) -> None:
        version = self._pg.server_version
        if version < _MIN_VERSION:
            reason = f"the server has version {version // 10000}, and {_MIN_VERSION // 10000} is the oldest that works"
            raise ConnectionLost(reason, remedy="Update the server, or use another one.", permanent=True)
        if self._pg.parameter_status(b"crdb_version"):
            raise no_locks("CockroachDB")
        if b"-YB-" in (self._pg.parameter_status(b"server_version") or b""):
            raise no_locks("YugabyteDB")
        used = {each.keyword: each.val for each in self._pg.info}
        host = self._pg.host.decode()
        if not self._pg.ssl_in_use and not is_local(host) and used.get(b"sslmode") in (b"prefer", b"allow"):
            reason = f"the connection to {host} is not encrypted"
            raise ConnectionLost(reason, remedy="Set up TLS, or allow it with ?sslmode=disable.", permanent=True)

    def close(self) -> None:
        """Close the connection."""
        self._pg.finish()

    @property
    def server_version(self) -> int:
        """The version of the server: 150004 is 15.4."""
        return self._pg.server_version

    @property
    def socket(self) -> int:
        """The file descriptor, to wait for input."""
        return self._pg.socket

    def run(self, statements: Sequence[Statement], *, then: Statement | None = None) -> list[Result]:
        """Send statements in one trip; returns the rows of each. After an error the rest is not executed.

        `then` is sent in the same trip, executed in any case, and not waited for: its errors are not reported.
        """
        wanted = self._send(statements)
        if then is not None:
            self._send([then], prepare=False)
        self.trips += 1
        while True:
            sent = self._outstanding.popleft()
            try:
                results = self._receive(sent)
            except ServerError:
                for sql in sent.prepared:  # some may not have been prepared: prepare them again under another name
                    self._prepared.pop(sql, None)
                if sent is wanted:
                    raise
                continue
            if sent is wanted:
                return results

    def send(self, statement: Statement) -> None:
        """Send a statement without waiting for it. Its errors are not reported."""
        self._send([statement], prepare=False)
        with self._losses():
            self._pg.flush()

    def _send(self, statements: Sequence[Statement], *, prepare: bool = True) -> _Sent:
        # Before anything is sent: a value that cannot be encoded must not leave half a pipeline behind.
        encoded = [_encoded(statement.values) for statement in statements]
        if prepare and len(self._prepared) > _MAX_PREPARED:
            self._prepared.clear()
            self._decoders.clear()
            self.send(Statement("DEALLOCATE ALL"))
        sent = _Sent([], [])
        send_query = self._pg.send_query_prepared
        with self._losses():
            for statement, (values, formats) in zip(statements, encoded, strict=True):
                if not prepare:  # whether it succeeds is learned too late to use it again by its name
                    sql = statement.sql.encode()
                    self._pg.send_query_params(sql, values, None, formats, 1)
                    sent.expected.append(statement)
                    continue
                name = self._prepared.get(statement.sql)
                if name is None:
                    self._count += 1
                    name = self._prepared[statement.sql] = b"s%d" % self._count
                    sent.prepared.append(statement.sql)
                    self._pg.send_prepare(name, statement.sql.encode())
                    sent.expected.append(None)
                send_query(name, values, formats, 1)
                sent.expected.append(statement)
            self._pg.pipeline_sync()
        self._outstanding.append(sent)
        return sent

    def _receive(self, sent: _Sent) -> list[Result]:
        """The results of a pipeline, to its end."""
        results: list[Result] = []
        failure: ServerError | None = None
        self._warning = ""
        position = 0
        while True:
            result = self._next_result()
            if result is None:
                continue  # separates the results of two statements
            status = result.status
            if status == pq.ExecStatus.PIPELINE_SYNC:
                break
            # One more than expected, if the connection is lost after the last one.
            statement = sent.expected[position] if position < len(sent.expected) else None
            position += 1
            if status in _OK:
                if statement is not None and statement.sql == "COMMIT" and result.command_status != b"COMMIT":
                    # The server answers ROLLBACK, which is not an error, if the transaction has failed before.
                    failure = failure or ServerError("25P02", "the transaction was rolled back")
                elif statement is not None and statement.sql == "COMMIT" and self._warning:
                    # It is committed, but the wait for the synchronous standby was cancelled.
                    raise ConnectionLost(self._warning)
                if statement is not None:
                    results.append(self._decoded(result, statement) if status == pq.ExecStatus.TUPLES_OK else [])
            elif status != pq.ExecStatus.PIPELINE_ABORTED and failure is None:
                failure = self._failure(result)
        if failure is not None:
            raise failure
        return results

    def _on_notice(self, notice: psycopg.errors.Diagnostic) -> None:
        if notice.severity_nonlocalized == "WARNING" and notice.sqlstate == "01000":
            self._warning = notice.message_primary or ""

    def _decoded(self, result: PGresult, statement: Statement) -> Result:
        count = result.ntuples
        if not count:
            return []
        columns = self._decoders.get(statement.sql)
        if columns is None:
            columns = self._decoders[statement.sql] = _decoders_of(result, statement)
        get = result.get_value
        return [
            tuple([None if (value := get(row, index)) is None else decode(value) for index, decode in columns])
            for row in range(count)
        ]

    def _next_result(self) -> PGresult | None:
        pg = self._pg
        try:
            while pg.is_busy():
                self._wait(writing=pg.flush() == 1)
                pg.consume_input()
            result = pg.get_result()
        except (psycopg.Error, OSError) as error:
            raise self._lost(error) from None
        if result is None and pg.status != pq.ConnStatus.OK:
            raise self._lost(None)
        return result

    def _wait(self, *, writing: bool) -> None:
        poll = self._poll_both if writing else self._poll_input
        if not poll.poll(None if self.answer_seconds is None else self.answer_seconds * 1000):
            raise ConnectionLost(f"no answer within {self.answer_seconds:.0f} s")

    def _failure(self, result: PGresult) -> ServerError:
        code = (result.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()
        message = (result.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"").decode("utf-8", "replace")
        is_fatal = result.error_field(pq.DiagnosticField.SEVERITY_NONLOCALIZED) in _FATAL
        if not code or is_fatal or code.startswith(_LOST_STATES):
            raise ConnectionLost(message or self._message() or "the connection was closed")
        if code in _POOLER_STATES:
            raise pooler_refused()
        return ServerError(code, message)

    @contextmanager
    def _losses(self) -> Iterator[None]:
        try:
            yield
        except (psycopg.Error, OSError) as error:
            raise self._lost(error) from None

    def _lost(self, error: Exception | None) -> ConnectionLost:
        return ConnectionLost(self._message() or (str(error) if error else "") or "the connection was closed")

    def _message(self) -> str:
        lines = self._pg.get_error_message().strip().splitlines() if self._pg.error_message else []
        return lines[0] if lines else ""

    # ── Notifications ──

    def take_notifications(self) -> list[int]:
        """The process ids of the backends that have sent notifications."""
        found = []
        with self._losses():
            self._pg.consume_input()
            while (notify := self._pg.notifies()) is not None:
                found.append(notify.be_pid)
        if self._pg.status != pq.ConnStatus.OK:
            raise self._lost(None)
        return found

    def read_clock(self) -> float:
        """The time of the server, in seconds since 1970."""
        ((now,),) = self.run([Statement("SELECT extract(epoch FROM clock_timestamp())::float8")])[0]
        return float(now)


_ENCODERS: Final[dict[type, tuple[Callable[[Any], bytes | None], int]]] = {
    type(None): (lambda value: value, 0),
    bytes: (lambda value: value, 1),
    str: (str.encode, 1),
    int: (lambda value: b"%d" % value, 0),
    bool: (lambda value: b"%d" % value, 0),
    float: (lambda value: repr(value).encode(), 0),
}
"""By type of a value: how it is sent, and its format, 0 for text and 1 for binary."""


def _encoded(values: Sequence[Value]) -> tuple[list[bytes | None], list[int]]:
    encoded, formats = [], []
    for value in values:
        encode, form = _ENCODERS[type(value)]
        encoded.append(encode(value))
        formats.append(form)
    return encoded, formats


def _decoders_of(result: PGresult, statement: Statement) -> list[tuple[int, Callable[[bytes], Any]]]:
    columns: list[tuple[int, Callable[[bytes], Any]]] = []
    for index in range(result.nfields):
        decode = _DECODERS[result.ftype(index)]
        if result.ftype(index) == _BYTEA and _name(result, index) in statement.text_columns:
            decode = bytes.decode
        columns.append((index, decode))
    return columns


def _name(result: PGresult, index: int) -> str:
    return (result.fname(index) or b"").decode()
