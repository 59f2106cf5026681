"""Calls that take effect once, although a client may send them again after the server was killed.

The first write of such a call, and each further one, stores a record in the same transaction. The call then counts as
done, so what comes before its effect and may be repeated is `unrecorded()`: requests to other processes, clean-ups.
Records are rows of extension data without an extension, so backups ignore them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Final, TypeVar

from hatbox.errors import ProfileError
from hatbox.store.base import Store, Transaction, TransactionFunction

__all__ = [
    "RecordedCall",
    "delete_records",
    "expire_records",
    "record_effect",
    "recorded",
    "recorded_numbers",
    "unrecorded",
]

T = TypeVar("T")

_NO_EXTENSION: Final = ""
_KIND: Final = "call"
_LIFETIME: Final = 24 * 3600  # seconds
_PAGE: Final = 1000


class RecordedCall:
    """A call with its number in a session. `obsolete` are numbers of the session whose records are not needed."""

    def __init__(self, session: str, number: int, obsolete: Sequence[int] = ()) -> None:
        self.session = session
        self.number = number
        self.obsolete = obsolete
        self.is_finished = False
        """Whether later writes, of tasks that it has started, do not belong to it."""
        self.has_written = False
        """Whether it has made a write."""

    @contextmanager
    def running(self) -> Iterator[None]:
        """Writes in the body, and in tasks that it creates, belong to the call."""
        token = _current.set(self)
        try:
            yield
        finally:
            _current.reset(token)

    def record(self, transaction: Transaction) -> None:
        """Store the record."""
        value = b"%d" % transaction.time()
        transaction.extensions.put(_NO_EXTENSION, _KIND, _key(self.session, self.number), value)
        delete_records(transaction, self.session, self.obsolete)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Writes in the body belong to no call: repeating them changes nothing, and the call is not done with them."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


async def record_effect(store: Store) -> None:
    """Record that the current call has changed something outside of the store, such as a file.

    If that fails, the call is repeated after a crash. It is no error of the call.
    """
    if _current.get() is not None:
        with suppress(ProfileError):
            await store.write(lambda _: None)


def recorded(work: TransactionFunction[T]) -> TransactionFunction[T]:
    """The transaction function; if it belongs to a recorded call, it also stores the record."""
    call = _current.get()
    if call is None or call.is_finished:
        return work
    call.has_written = True

    def work_and_record(transaction: Transaction) -> T:
        result = work(transaction)
        call.record(transaction)
        return result

    return work_and_record


def recorded_numbers(transaction: Transaction, session: str) -> frozenset[int]:
    """The numbers of the calls of a session that have changed the profile."""
    numbers: list[int] = []
    after = _key(session, 0)
    while True:
        page = transaction.extensions.find_page(_KIND, _NO_EXTENSION, after, _PAGE)
        found = [key for key, _ in page if key.startswith(f"{session}/")]
        numbers += (int(key.rpartition("/")[2]) for key in found)
        if len(found) < _PAGE:
            return frozenset(numbers)
        after = found[-1]


def delete_records(transaction: Transaction, session: str, numbers: Sequence[int]) -> None:
    """Delete records that are not needed: the client has the results."""
    for number in numbers:
        transaction.extensions.delete(_NO_EXTENSION, _KIND, _key(session, number))


async def expire_records(store: Store) -> None:
    """Delete records of clients that have not come back."""
    if await store.read(_expired):
        await store.write(_delete_expired)


def _expired(transaction: Transaction) -> list[str]:
    oldest = transaction.time() - _LIFETIME
    return [key for _, key, value in transaction.extensions.find(_KIND, _NO_EXTENSION) if int(value) < oldest]


def _delete_expired(transaction: Transaction) -> None:
    for key in _expired(transaction):
        transaction.extensions.delete(_NO_EXTENSION, _KIND, key)


def _key(session: str, number: int) -> str:
    return f"{session}/{number:015d}"


_current: Final[ContextVar[RecordedCall | None]] = ContextVar("hatbox recorded call", default=None)
