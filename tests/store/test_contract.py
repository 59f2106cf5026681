"""What every store must do (store/base.py). A second store gets all of these tests by one more line in STORES."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatbox.errors import HatboxError, ProfileClosed
from hatbox.store.base import ChangeRecord, CookieRow, Store, Transaction, TransactionFunction, TrashRow
from hatbox.store.keys import Key
from hatbox.store.postgres.store import PostgresStore
from hatbox.store.processes import current_process
from hatbox.store.registry import store_at
from hatbox.store.sqlite import SqliteStore
from tests.examples import examples
from tests.postgres import address_for
from tests.store.in_loop import in_loop
from tests.store.model import moved
from tests.waiting import until, until_awaited

STORES: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: SqliteStore(folder / "profile.db"),
    "postgres": lambda folder: store_at(address_for(folder)),
    "postgres, local reads": lambda folder: LocalReads(address_for(folder)),
    "sqlite, encrypted": lambda folder: SqliteStore(folder / "profile.db"),
    "postgres, encrypted": lambda folder: store_at(address_for(folder)),
}
KINDS = [pytest.param(kind, marks=pytest.mark.server) if "postgres" in kind else kind for kind in STORES]


class LocalReads(PostgresStore):
    """Reads on the event loop's thread from the start."""

    async def open(self) -> None:
        self.reads_before_local = 1
        await super().open()
        await self.read(lambda _: None)
        await until(lambda: self._reader is not None)


NewStore = Callable[[], Store]
FIRST_FOUR = ["Personal", "Work", "Banking", "Shopping"]


@pytest.fixture(params=KINDS)
def new_store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NewStore:
    """Each call makes another store on one and the same profile."""
    if "encrypted" in request.param:
        monkeypatch.setenv("HATBOX_KEY", Key(bytes(range(32))).text)
    return lambda: STORES[request.param](tmp_path)


@contextlib.asynccontextmanager
async def opened(store: Store) -> AsyncIterator[Store]:
    await store.open()
    try:
        yield store
    finally:
        await store.close()


def add(name: str) -> TransactionFunction[int]:
    def work(transaction: Transaction) -> int:
        number = transaction.identities.insert(name, "circle", "red")
        transaction.changes.append("added", json.dumps(name).encode())
        return number

    return work


def names(transaction: Transaction) -> list[str]:
    return [row[1] for row in transaction.identities.find()]


async def is_written(store: Store, name: str) -> bool:
    return name in await store.read(names)


def numbers(transaction: Transaction) -> list[int]:
    return [row[0] for row in transaction.identities.find()]


def fail(error: Exception, after: TransactionFunction[Any] = lambda _: None) -> TransactionFunction[None]:
    def work(transaction: Transaction) -> None:
        after(transaction)
        raise error

    return work


class Heard:
    """A follower that remembers what it was told."""

    def __init__(self) -> None:
        self.changes: list[ChangeRecord] = []

    def __call__(self, change: ChangeRecord) -> None:
        self.changes.append(change)

    @property
    def texts(self) -> list[str]:
        return [text_of(change) for change in self.changes]


async def read_log_again(store: Store, new_store: NewStore) -> None:
    """Have `store` deliver one more change, "fence", of another process: what it delivers twice comes before that."""
    async with opened(new_store()) as other:
        await other.write(add("fence"))
    await store.deliver_pending_changes()


def text_of(change: ChangeRecord) -> str:
    return str(json.loads(change.payload))


# ------------------------------------------------------------------------------------------------- order and wholeness


@in_loop
async def test_a_new_profile_has_the_first_four_identities(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        assert await store.read(names) == FIRST_FOUR
        assert await store.read(numbers) == [1, 2, 3, 4]


@in_loop
async def test_a_read_sees_what_was_handed_in_before_it_and_nothing_later(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        calls: list[asyncio.Future[Any]] = [store.read(names)]
        for name in "abc":
            calls.append(store.write(add(name)))
            calls.append(store.read(names))
        answers = await asyncio.gather(*calls)
    assert answers[0::2] == [[*FIRST_FOUR, *"abc"[:count]] for count in range(4)]


@in_loop
async def test_calls_are_answered_in_the_order_in_which_they_were_made(new_store: NewStore) -> None:
    answered: list[int] = []
    async with opened(new_store()) as store:
        for number in range(60):
            future: asyncio.Future[Any] = store.read(names) if number % 3 == 1 else store.write(add(str(number)))
            future.add_done_callback(lambda _, number=number: answered.append(number))  # type: ignore[misc]
        await future
        await asyncio.sleep(0)
    assert answered == list(range(60))


@in_loop
async def test_every_call_has_a_number_of_its_own(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        follower = Heard()
        store.subscribe(follower)
        made = []
        for name in "abc":
            write = store.write(add(name))
            made.append(store.last_call_id)
        await write
    assert made == sorted(set(made))
    assert [change.call_id for change in follower.changes] == made


@pytest.mark.parametrize("error", [HatboxError("no"), ValueError("no")], ids=["an error of ours", "any error"])
@pytest.mark.parametrize("after", [lambda _: None, add("half done")], ids=["at once", "after having written"])
@in_loop
async def test_work_that_raises_changes_nothing_and_does_no_harm_to_its_neighbours(
    new_store: NewStore, error: Exception, after: TransactionFunction[Any]
) -> None:
    follower = Heard()
    async with opened(new_store()) as store:
        store.subscribe(follower)
        works = [*map(add, "abc"), fail(error, after), *map(add, "de"), fail(error, after), add("f")]
        answers = await asyncio.gather(*map(store.write, works), return_exceptions=True)
        assert answers == [6, 7, 8, error, 9, 10, error, 11]  # and no number is lost
        assert await store.read(names) == [*FIRST_FOUR, *"abcdef"]
    assert follower.texts == list("abcdef")
    async with opened(new_store()) as store:
        assert await store.read(names) == [*FIRST_FOUR, *"abcdef"]


@pytest.mark.parametrize("error", [HatboxError("no"), ValueError("no")], ids=["an error of ours", "any error"])
@in_loop
async def test_a_read_that_raises_says_so_in_its_future(new_store: NewStore, error: Exception) -> None:
    async with opened(new_store()) as store:
        alone = store.read(fail(error))
        write, behind_a_write = store.write(add("a")), store.read(fail(error))
        for future in (alone, behind_a_write):
            with pytest.raises(type(error), match="no"):
                await future
        await write


def write_elsewhere(new_store: NewStore) -> None:
    """Commit something as another process would, and return when it is done."""

    async def write() -> None:
        async with opened(new_store()) as other:
            await other.write(add("from elsewhere"))

    thread = threading.Thread(target=lambda: asyncio.run(write()))
    thread.start()
    thread.join(20)


@in_loop
async def test_a_read_is_whole_whatever_another_process_does_in_the_middle_of_it(new_store: NewStore) -> None:
    def work(transaction: Transaction) -> tuple[int, int]:
        before = transaction.identities.count()
        write_elsewhere(new_store)
        return before, transaction.identities.count()

    async with opened(new_store()) as store:
        before, after = await store.read(work)
        assert before == after
        assert await store.read(names) == [*FIRST_FOUR, "from elsewhere"]


@in_loop
async def test_a_read_that_single_statement_sees_the_latest_commit(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        assert await store.read(names, single_statement=True) == FIRST_FOUR
        write_elsewhere(new_store)
        assert await store.read(names, single_statement=True) == [*FIRST_FOUR, "from elsewhere"]
        mine = store.write(add("mine"))
        assert "mine" in await store.read(names, single_statement=True)
        await mine


@in_loop
async def test_reads_together_see_one_state_and_the_next_read_the_latest(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        with store.shared_snapshot():
            first = store.read(names)
            write_elsewhere(new_store)
            with store.shared_snapshot():  # inside of another it is the same
                second = store.read(names, single_statement=True)
            third = store.read(names)
        latest = [*FIRST_FOUR, "from elsewhere"]
        if isinstance(store, SqliteStore):  # a hint, which other stores may ignore
            assert await first == await second == await third == FIRST_FOUR
        assert all(state in (FIRST_FOUR, latest) for state in (await first, await second, await third))
        assert await store.read(names) == latest


@in_loop
async def test_a_read_together_with_a_write_sees_what_was_written(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        with store.shared_snapshot():
            before, made, after = store.read(names), store.write(add("mine")), store.read(names)
        await made
        assert (await before, await after) == (FIRST_FOUR, [*FIRST_FOUR, "mine"])


@in_loop
async def test_who_begins_to_follow_between_reads_together_hears_nothing_of_the_past(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        heard = Heard()
        with store.shared_snapshot():
            await store.read(names)
            write_elsewhere(new_store)
            store.subscribe(heard)
            caught_up = store.deliver_pending_changes()
        await caught_up
        assert heard.texts == []


@in_loop
async def test_reads_together_end_although_something_raises(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        with contextlib.suppress(LookupError), store.shared_snapshot():
            failed = store.read(fail(ValueError("no")))
            raise LookupError
        with pytest.raises(ValueError, match="no"):
            await failed
        write_elsewhere(new_store)
        assert await store.read(names) == [*FIRST_FOUR, "from elsewhere"]


@in_loop
async def test_who_stops_waiting_does_not_undo_the_work(new_store: NewStore) -> None:
    follower = Heard()
    async with opened(new_store()) as store:
        store.subscribe(follower)
        writes = [store.write(add(name)) for name in "abc"]
        writes[1].cancel()
        await asyncio.gather(*writes, return_exceptions=True)
        assert await store.read(names) == [*FIRST_FOUR, *"abc"]
    assert follower.texts == list("abc")


# ----------------------------------------------------------------------------------------------------------- followers


@in_loop
async def test_a_change_is_told_once_and_before_its_call_is_answered(new_store: NewStore) -> None:
    follower = Heard()
    async with opened(new_store()) as store:
        store.subscribe(follower)
        for count, name in enumerate("abcd", start=1):
            await store.write(add(name))
            assert follower.texts == list("abcd"[:count])
        await read_log_again(store, new_store)
    assert follower.texts == [*"abcd", "fence"]
    assert [change.topic for change in follower.changes] == ["added"] * 5


@in_loop
async def test_a_caller_goes_on_before_the_next_callers_change_is_told(new_store: NewStore) -> None:
    story: list[tuple[str, str]] = []
    async with opened(new_store()) as store:
        store.subscribe(lambda change: story.append(("told", text_of(change))))

        async def one(name: str) -> None:
            await store.write(add(name))
            story.append(("went on", name))

        await asyncio.gather(*map(one, "abcdefgh"))
    assert story == [(what, name) for name in "abcdefgh" for what in ("told", "went on")]


@in_loop
async def test_several_changes_of_one_call_are_told_in_their_order(new_store: NewStore) -> None:
    def work(transaction: Transaction) -> None:
        for name in "abc":
            transaction.changes.append("noted", json.dumps(name).encode())

    one, two = Heard(), Heard()
    async with opened(new_store()) as store:
        store.subscribe(one)
        store.subscribe(two)
        await store.write(work)
    assert one.texts == two.texts == list("abc")
    assert len({change.call_id for change in one.changes}) == 1


@in_loop
async def test_who_follows_late_does_not_hear_of_calls_that_were_made_before(new_store: NewStore) -> None:
    one, two = Heard(), Heard()
    async with opened(new_store()) as store:
        calls = [store.write(add("a"))]
        store.subscribe(one)
        calls.append(store.write(add("b")))
        store.subscribe(two)
        calls.append(store.write(add("c")))
        await asyncio.gather(*calls)
        await read_log_again(store, new_store)
    assert one.texts == ["b", "c", "fence"]
    assert two.texts == ["c", "fence"]


@in_loop
async def test_who_stops_following_hears_nothing_more_and_who_comes_back_nothing_old(new_store: NewStore) -> None:
    leaves, stays = Heard(), Heard()
    async with opened(new_store()) as store:
        store.subscribe(leaves)
        store.subscribe(stays)
        await store.write(add("a"))
        store.unsubscribe(leaves)
        await store.write(add("b"))
        store.unsubscribe(stays)
        await store.write(add("c"))
        store.subscribe(leaves)
        await store.write(add("d"))
        await read_log_again(store, new_store)
    assert leaves.texts == ["a", "d", "fence"]
    assert stays.texts == ["a", "b"]


@in_loop
async def test_a_follower_may_stop_following_while_it_is_told(new_store: NewStore) -> None:
    heard: list[str] = []

    def once(change: ChangeRecord) -> None:
        heard.append(text_of(change))
        store.unsubscribe(once)

    async with opened(new_store()) as store:
        store.subscribe(once)
        await asyncio.gather(*(store.write(add(name)) for name in "abc"))
    assert heard == ["a"]


@in_loop
async def test_a_follower_that_raises_keeps_no_caller_waiting(new_store: NewStore) -> None:
    def broken(_: ChangeRecord) -> None:
        raise ValueError("a follower's own fault")

    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    async with opened(new_store()) as store:
        store.subscribe(broken)
        await asyncio.wait_for(asyncio.gather(*(store.write(add(name)) for name in "abc")), 5)
        assert await asyncio.wait_for(store.read(names), 5) == [*FIRST_FOUR, *"abc"]


@in_loop
async def test_a_follower_may_make_calls(new_store: NewStore) -> None:
    heard: list[str] = []
    further: list[asyncio.Future[int]] = []

    def follower(change: ChangeRecord) -> None:
        heard.append(text_of(change))
        if len(heard) < 5:
            further.append(store.write(add(f"{heard[-1]}+")))

    async with opened(new_store()) as store:
        store.subscribe(follower)
        await store.write(add("a"))
        await until(lambda: len(heard) == 5)
    assert heard == ["a", "a+", "a++", "a+++", "a++++"]


# ----------------------------------------------------------------------------------------------------- opening, closing


@in_loop
async def test_closing_finishes_and_answers_all_that_was_handed_in(new_store: NewStore) -> None:
    follower = Heard()
    store = new_store()
    await store.open()
    store.subscribe(follower)
    writes = [store.write(add(str(number))) for number in range(50)]
    bad, read = store.write(fail(HatboxError("no"))), store.read(names)
    await store.close()
    assert [write.result() for write in writes] == list(range(6, 56))
    assert isinstance(bad.exception(), HatboxError)
    assert read.result() == [*FIRST_FOUR, *map(str, range(50))]
    assert follower.texts == list(map(str, range(50)))
    async with opened(new_store()) as store:
        assert await store.read(names) == [*FIRST_FOUR, *map(str, range(50))]


@in_loop
async def test_a_store_that_is_not_open_says_so(new_store: NewStore) -> None:
    store = new_store()
    for state in ("not yet open", "closed"):
        for use in (lambda: store.read(names), lambda: store.write(add("a"))):
            with pytest.raises(ProfileClosed, match=r"not open.*hatbox\.open") as caught:
                use()
            assert caught.value.remedy == (
                "Open it with `async with hatbox.open() as profile`, or `profile = await hatbox.open()` in a notebook."
            )
        await store.close()  # also twice, and before it was open
        if state == "not yet open":
            await store.open()
            await store.close()


@in_loop
async def test_a_store_that_is_already_open_says_so_or_goes_on(new_store: NewStore) -> None:
    def writers() -> int:
        return sum(thread.name == "hatbox-writer" for thread in threading.enumerate())

    before = writers()
    async with opened(new_store()) as store:
        with contextlib.suppress(HatboxError):
            await store.open()
        await store.write(add("a"))
        assert await store.read(names) == [*FIRST_FOUR, "a"]
    await until(lambda: writers() <= before)


@in_loop
async def test_use_in_another_thread_is_refused(new_store: NewStore) -> None:
    refused: list[str] = []

    def elsewhere() -> None:
        for use in (lambda: store.read(names), lambda: store.write(add("a")), lambda: store.subscribe(Heard())):
            try:
                use()
            except ProfileClosed as error:
                refused.append(str(error))

    async with opened(new_store()) as store:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert len(refused) == 3
        assert all("open_sync" in message for message in refused)
        assert await store.read(names) == FIRST_FOUR


AFTER_A_FORK = """
import asyncio, os, sys, warnings
from pathlib import Path
from hatbox.errors import ProfileClosed
from tests.store.test_contract import STORES, add, names

warnings.simplefilter("ignore", DeprecationWarning)  # the fork of a process with threads: it is what happens to people

async def main():
    store = STORES[sys.argv[1]](Path(sys.argv[2]))
    await store.open()
    await store.write(add("before"))
    child = os.fork()
    if not child:
        status = 1
        try:
            for use in (lambda: store.read(names), lambda: store.write(add("a")), lambda: store.follow(print)):
                try:
                    use()
                except ProfileClosed:
                    status = 0
                else:
                    status = 1
                    break
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, "the child could use its parent's store"
    await store.write(add("after"))
    await store.close()

asyncio.run(main())
"""


@pytest.mark.process
@pytest.mark.parametrize("kind", KINDS)
def test_use_after_a_fork_is_refused_and_does_no_harm_to_the_parent(kind: str, tmp_path: Path) -> None:
    async def found() -> list[str]:
        async with opened(STORES[kind](tmp_path)) as store:
            return await store.read(names)

    root = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", AFTER_A_FORK, kind, str(tmp_path)], check=True, timeout=60, cwd=root)
    assert asyncio.run(found()) == [*FIRST_FOUR, "before", "after"]


# ------------------------------------------------------------------------------------------- two stores on one profile


@in_loop
async def test_each_store_sees_the_others_commit_at_its_next_read(new_store: NewStore) -> None:
    async with opened(new_store()) as one, opened(new_store()) as two:
        for count in range(20):
            writer, reader = (one, two) if count % 2 else (two, one)
            number = await writer.write(add(str(count)))
            assert (await reader.read(numbers))[-1] == number
            assert await reader.read(lambda transaction, number=number: transaction.identities.get(number)) == (  # type: ignore[misc]
                *(number, str(count), "circle"),
                *("red", 0),
            )


@in_loop
async def test_each_store_hears_of_all_changes_once_and_in_commit_order(new_store: NewStore) -> None:
    heard_one, heard_two = Heard(), Heard()
    async with opened(new_store()) as one, opened(new_store()) as two:
        one.subscribe(heard_one)
        two.subscribe(heard_two)

        async def change(store: Store, label: str, seed: int) -> None:
            choose = random.Random(seed)
            made = 0
            while made < 100:
                together = min(choose.choice([1, 1, 2, 7]), 100 - made)
                await asyncio.gather(*(store.write(add(f"{label}{made + index}")) for index in range(together)))
                made += together

        await asyncio.gather(change(one, "one ", 1), change(two, "two ", 2))
        await until(lambda: len(heard_one.changes) == len(heard_two.changes) == 200)
        assert heard_one.texts == heard_two.texts == (await one.read(names))[4:]
    assert [text for text in heard_one.texts if text.startswith("one")] == [f"one {number}" for number in range(100)]
    for heard, own in ((heard_one, "one"), (heard_two, "two")):
        assert all((change.call_id is not None) == text_of(change).startswith(own) for change in heard.changes)


@in_loop
async def test_what_others_commit_in_between_is_told_in_between_also_to_who_is_slow(new_store: NewStore) -> None:
    """Three commits: many of ours, one of another process, one of ours, all before ours of the first are all told."""
    heard = Heard()
    written = threading.Event()

    async def elsewhere() -> None:
        async with opened(new_store()) as two:
            await two.write(add("other"))
            written.set()
            await until_awaited(partial(is_written, two, "last"))

    async with opened(new_store()) as one:
        one.subscribe(heard)
        calls = [one.write(add(f"own {count}")) for count in range(50)]
        await calls[0]
        thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
        thread.start()
        written.wait(10)
        calls.append(one.write(add("last")))
        thread.join(10)  # and this loop stands still until all three are committed
        await asyncio.gather(*calls)
        assert heard.texts == (await one.read(names))[4:]
    assert len(heard.texts) == 52


@in_loop
async def test_anothers_earlier_change_is_told_before_ones_own_call_is_answered(new_store: NewStore) -> None:
    heard = Heard()
    async with opened(new_store()) as one, opened(new_store()) as two:
        one.subscribe(heard)
        for count in range(10):
            await two.write(add(f"other {count}"))
            await one.write(add(f"own {count}"))
            assert heard.texts[-2:] == [f"other {count}", f"own {count}"]
        assert len(heard.texts) == 20


@in_loop
async def test_who_begins_to_follow_hears_nothing_of_the_past(new_store: NewStore) -> None:
    heard = Heard()
    async with opened(new_store()) as one, opened(new_store()) as two:
        await one.write(add("own past"))
        await two.write(add("other past"))
        one.subscribe(heard)
        await two.write(add("other future"))
        await one.write(add("own future"))
        await read_log_again(one, new_store)
    assert heard.texts == ["other future", "own future", "fence"]


@in_loop
async def test_who_begins_to_follow_hears_nothing_of_what_others_did_just_before(new_store: NewStore) -> None:
    """A call of ours is committed but not answered yet, another process commits, and then somebody follows."""
    heard = Heard()

    async def elsewhere() -> None:
        async with opened(new_store()) as two:
            await until_awaited(partial(is_written, two, "own"))
            await two.write(add("other past"))

    async with opened(new_store()) as one:
        own = one.write(add("own"))
        thread = threading.Thread(target=lambda: asyncio.run(elsewhere()))
        thread.start()
        thread.join(10)  # and this loop stands still until both are committed
        one.subscribe(heard)
        await own
        await read_log_again(one, new_store)
        await one.write(add("own future"))
    assert heard.texts == ["fence", "own future"]


@in_loop
async def test_what_happened_while_a_store_was_closed_is_not_told(new_store: NewStore) -> None:
    heard = Heard()
    async with opened(new_store()) as one:
        await one.write(add("a"))
        async with opened(new_store()) as two:
            two.subscribe(heard)
            await one.write(add("b"))
            await until(lambda: len(heard.texts) == 1)
        await one.write(add("c"))
        async with opened(new_store()) as two:
            two.subscribe(heard)
            await one.write(add("d"))
            await until(lambda: len(heard.texts) == 2)
    assert heard.texts == ["b", "d"]


# ---------------------------------------------------------------------------------------------------------- identities


@in_loop
async def test_a_number_is_never_given_out_again(new_store: NewStore) -> None:
    given: list[int] = []
    for _ in range(3):
        async with opened(new_store()) as store:
            given += [await store.write(add("a")), await store.write(add("b"))]
            await store.write(lambda transaction: transaction.identities.delete(given[-1]))  # noqa: B023
    async with opened(new_store()) as store:
        for number in await store.read(numbers):
            await store.write(lambda transaction, number=number: transaction.identities.delete(number))  # type: ignore[misc]
        given.append(await store.write(add("after all were removed")))
        assert await store.read(numbers) == [given[-1]]
    assert given == [6, 7, 8, 9, 10, 11, 12]


@in_loop
async def test_all_of_an_identity_is_kept_as_it_was_written(new_store: NewStore) -> None:
    odd = ["zero \0 inside", "\U0001f3a9 hat", " blanks ", "'; DROP TABLE identities; --", "caf\u00e9", "cafe\u0301"]
    async with opened(new_store()) as store:
        made = [await store.write(add(name)) for name in odd]
        await store.write(
            lambda transaction: transaction.identities.update(made[0], icon="an icon", color="a colour", hidden=1)
        )
        await store.write(lambda transaction: transaction.identities.update(2, hidden=1))
    async with opened(new_store()) as store:
        rows = await store.read(lambda transaction: transaction.identities.find())
        assert rows[4] == (made[0], odd[0], "an icon", "a colour", 1)
        assert [row[1] for row in rows] == [*FIRST_FOUR, *odd]
        assert [row[4] for row in rows] == [0, 1, 0, 0, 1, 0, 0, 0, 0, 0]
        for number, name in zip(made, odd, strict=True):
            found = await store.read(lambda transaction, name=name: transaction.identities.find(name))  # type: ignore[misc]
            assert [row[0] for row in found] == [number]
        assert await store.read(lambda transaction: transaction.identities.get(99)) is None
        assert await store.read(lambda transaction: transaction.identities.count()) == 10


@in_loop
async def test_each_identity_has_a_uuid_of_its_own_that_never_changes(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        made = await store.write(add("a"))
        before = await store.read(lambda transaction: transaction.identities.uuids())
        assert sorted(before.values()) == [1, 2, 3, 4, made]
        await store.write(lambda transaction: transaction.identities.update(made, name="b", hidden=1))
        await store.write(lambda transaction: transaction.identities.move([made], 0))
    async with opened(new_store()) as store:
        assert await store.read(lambda transaction: transaction.identities.uuids()) == before
        found = await store.read(lambda transaction: [transaction.identities.uuid(each) for each in (made, 99)])
        assert found == [next(uuid for uuid, number in before.items() if number == made), None]


@in_loop
async def test_an_identity_comes_back_with_its_id_and_later_ids_are_higher(new_store: NewStore) -> None:
    async with opened(new_store()) as store:

        def restore(transaction: Transaction) -> None:
            transaction.identities.restore(40, "its UUID", "back", "pet", "red", 1)
            transaction.identities.move([40], 1)

        await store.write(restore)
    async with opened(new_store()) as store:
        assert await store.read(lambda transaction: transaction.identities.get(40)) == (40, "back", "pet", "red", 1)
        assert await store.read(lambda transaction: transaction.identities.uuid(40)) == "its UUID"
        assert await store.read(lambda transaction: transaction.identities.index(40)) == 1
        assert await store.read(lambda transaction: transaction.identities.last_id()) == 40
        assert await store.write(add("next")) == 41


@in_loop
async def test_names_are_listed_once_each_and_not_more_than_asked_for(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        await asyncio.gather(*(store.write(add(name)) for name in ["Work", "Work", "Play"]))
        known = await store.read(lambda transaction: transaction.identities.names(limit=100))
        assert sorted(known) == sorted([*FIRST_FOUR, "Play"])
        few = await store.read(lambda transaction: transaction.identities.names(limit=2))
        assert len(few) == 2
        assert set(few) <= set(known)


@in_loop
async def test_many_moves_to_one_spot_keep_the_order(new_store: NewStore) -> None:
    """More than any numbering with gaps has room for."""
    expected = [1, 2, 3, 4]

    def work(transaction: Transaction) -> None:
        for index in range(150):
            block = expected[-1:] if index % 3 else expected[-2:]
            transaction.identities.move(block, 1)
            expected[:] = moved(expected, block, 1)
            assert numbers(transaction) == expected
        for _ in range(150):
            transaction.identities.move(expected[-1:], 0)
            expected[:] = moved(expected, expected[-1:], 0)
            assert numbers(transaction) == expected

    async with opened(new_store()) as store:
        await store.write(work)
        expected.append(await store.write(add("at the end")))
    async with opened(new_store()) as store:
        assert await store.read(numbers) == expected


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=examples(40))
@given(data=st.data())
def test_moves_lead_to_the_same_order_as_in_a_list(kind: str, data: st.DataObject) -> None:
    async def story() -> None:
        async with opened(STORES[kind](Path(folder))) as store:
            for _ in range(data.draw(st.integers(0, 8), label="more identities")):
                await store.write(add("x"))
            expected = await store.read(numbers)
            for _ in range(data.draw(st.integers(1, 25), label="moves")):
                block = data.draw(st.lists(st.sampled_from(expected), min_size=1, unique=True))
                position = data.draw(st.integers(0, len(expected) - len(block)))
                await store.write(lambda transaction: transaction.identities.move(block, position))  # noqa: B023
                expected = moved(expected, block, position)
                assert await store.read(numbers) == expected
        async with opened(STORES[kind](Path(folder))) as store:
            assert await store.read(numbers) == expected

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(story())


@in_loop
async def test_a_caller_goes_on_before_the_next_callers_event_also_where_two_commits_are_told_of_at_once(
    new_store: NewStore,
) -> None:
    seen: list[str] = []
    began = {name: threading.Event() for name in "abc"}

    def noted(name: str) -> TransactionFunction[int]:
        def work(transaction: Transaction) -> int:
            began[name].set()
            return add(name)(transaction)

        return work

    async with opened(new_store()) as store:
        store.subscribe(lambda change: seen.append(f"event {change.payload.decode()}"))
        replies: list[asyncio.Future[int]] = []
        for name in "abc":  # the loop stands still meanwhile: what the first two bring waits in it side by side
            replies.append(store.write(noted(name)))
            replies[-1].add_done_callback(partial(_note, seen, f"reply {name}"))
            began[name].wait(10)
        await asyncio.gather(*replies)
    assert seen == ['event "a"', "reply a", 'event "b"', "reply b", 'event "c"', "reply c"]


def _note(seen: list[str], what: str, _: asyncio.Future[int]) -> None:
    seen.append(what)


@in_loop
async def test_a_lease_belongs_to_one_holder_until_it_is_released(new_store: NewStore) -> None:
    async with opened(new_store()) as one, opened(new_store()) as other:
        lease = one.lease("engine")
        assert await lease.holder() is None
        assert await lease.acquire("first") is None
        holder = await other.lease("engine").holder()
        assert holder is not None
        assert (holder.purpose, holder.process) == ("first", current_process())
        assert await other.lease("engine").acquire("second") == holder
        assert await lease.acquire("first") == holder
        await lease.release()
        await lease.release()
        second = other.lease("engine")
        assert await second.acquire("second") is None
        await second.release()


@in_loop
async def test_leases_with_different_names_are_independent(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        first, second = store.lease("engine"), store.lease("other")
        assert await first.acquire("first") is None
        assert await second.holder() is None
        assert await second.acquire("second") is None
        await first.release()
        await second.release()


@in_loop
async def test_a_store_knows_its_own_process(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        await store.register_process()
        process = await store.read(lambda each: each.processes.current)
        assert process == current_process()
        assert await store.write(lambda each: each.processes.is_running(process))


@in_loop
async def test_the_address_opens_the_same_profile(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        await store.write(add("Travel"))
        assert store.label
        async with opened(store_at(store.address)) as same:
            assert "Travel" in await same.read(names)


@in_loop
async def test_side_files_of_different_names_are_different(new_store: NewStore) -> None:
    store = new_store()
    if store.side_folder is not None:
        found = [store.side_file(name) for name in ("a.log", "b.log")]
        assert all(found)
        assert found[0] != found[1]


@in_loop
async def test_processes_that_read_and_write_the_same_rows_in_batches_do_not_block_each_other(
    new_store: NewStore,
) -> None:
    """A call reads after an earlier call of its batch has written: no process may wait for another in a circle."""

    def rename(number: int, name: str) -> TransactionFunction[None]:
        def work(transaction: Transaction) -> None:
            transaction.identities.find(name)  # a query that no earlier call has made
            transaction.identities.update(number, name=name)
            transaction.changes.append("renamed", b"null")

        return work

    async with opened(new_store()) as one, opened(new_store()) as two, opened(new_store()) as three:
        stores = (one, two, three)
        rows = await one.read(numbers)
        for turn in range(10):
            await asyncio.gather(
                *(
                    store.write(rename(number, f"{turn} {index} {number}"))
                    for index, store in enumerate(stores)
                    for number in (rows if index % 2 else reversed(rows))
                )
            )
        assert [await store.read(names) for store in stores] == [await one.read(names)] * 3


@in_loop
async def test_replaced_extension_values_come_last_and_a_kind_can_be_cleared(new_store: NewStore) -> None:
    def change(transaction: Transaction) -> None:
        for key in ("a", "b", "c"):
            transaction.extensions.put("one", "kind", key, b"1")
        transaction.extensions.put("two", "kind", "a", b"2")
        transaction.extensions.put("two", "other", "a", b"3")
        transaction.extensions.replace("one", "kind", {"b": b"4", "d": b"5"})

    async with opened(new_store()) as store:
        await store.write(change)
        found = await store.read(lambda each: each.extensions.find("kind", "one"))
        assert [(key, value) for _, key, value in found] == [("a", b"1"), ("c", b"1"), ("b", b"4"), ("d", b"5")]
        await store.write(lambda each: each.extensions.clear_kind("kind"))
        assert await store.read(lambda each: each.extensions.find("kind")) == []
        assert await store.read(lambda each: each.extensions.find("other")) == [("two", "a", b"3")]


@in_loop
async def test_announced_rows_are_read_as_they_are_after_the_writes_before(new_store: NewStore) -> None:
    def change(transaction: Transaction) -> list[object]:
        transaction.load(identities=[1], tabs=[1], windows=[1], stores=[0], values=[("x", "y", "z")], last_focused=True)
        transaction.identities.update(1, name="renamed")
        window = transaction.windows.insert()
        tab = transaction.tabs.insert(window, 0, 0)
        transaction.extensions.put("x", "y", "z", b"1")
        identity = transaction.identities.get(1)
        focused = transaction.windows.last_focused()
        assert identity is not None
        assert focused is not None
        return [
            identity[1],
            transaction.tabs.get_many([tab.id]) == [tab] == transaction.tabs.find(store=0),
            transaction.tabs.summary(window).tab_count,
            transaction.extensions.get("x", "y", "z"),
            focused.id == window,
        ]

    async with opened(new_store()) as store:
        assert await store.write(change) == ["renamed", True, 1, b"1", True]


# ------------------------------------------------------------------------------------------ settings, rules and trash


@in_loop
async def test_settings_belong_to_an_identity_or_to_the_profile(new_store: NewStore) -> None:
    async with opened(new_store()) as store:

        def put(transaction: Transaction) -> None:
            transaction.settings.put(1, "proxy", b"old")
            transaction.settings.put(1, "proxy", b"new \0")
            transaction.settings.put(1, "other", b"x")
            transaction.settings.put(2, "proxy", b"second")
            transaction.settings.put(0, "proxy", b"of the profile")

        await store.write(put)
    async with opened(new_store()) as store:
        assert await store.read(lambda transaction: transaction.settings.get(1, "proxy")) == b"new \0"
        assert await store.read(lambda transaction: transaction.settings.get(3, "proxy")) is None
        found = await store.read(lambda transaction: transaction.settings.find("proxy"))
        assert found == [(0, b"of the profile"), (1, b"new \0"), (2, b"second")]
        loaded = await store.read(lambda transaction: transaction.settings.load(1))
        assert loaded == [("other", b"x"), ("proxy", b"new \0")]
        await store.write(lambda transaction: transaction.settings.delete(1, "other"))
        assert await store.read(lambda transaction: transaction.settings.load(1)) == [("proxy", b"new \0")]
        await store.write(lambda transaction: transaction.settings.clear(1))
        assert await store.read(lambda transaction: transaction.settings.load(1)) == []
        assert await store.read(lambda transaction: transaction.settings.load(2)) == [("proxy", b"second")]


@in_loop
async def test_rules_have_numbers_that_are_never_given_out_again(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        given = [await store.write(lambda transaction: transaction.rules.insert(b"a")) for _ in range(2)]
        await store.write(lambda transaction: transaction.rules.delete(given[-1]))
        await store.write(lambda transaction: transaction.rules.put(given[0], b"changed"))
        await store.write(lambda transaction: transaction.rules.put(9, b"ninth"))
    async with opened(new_store()) as store:
        assert await store.write(lambda transaction: transaction.rules.insert(b"last")) == 10
        rules = await store.read(lambda transaction: transaction.rules.find())
        assert rules == [(given[0], b"changed"), (9, b"ninth"), (10, b"last")]


@in_loop
async def test_the_trash_lists_identities_without_reading_their_data(new_store: NewStore) -> None:
    late = TrashRow(7, "uuid 7", "Work \0", "pet", "red", 20.5, 3, 1, 4)
    early = TrashRow(9, "uuid 9", "Play", "pet", "red", 10.25, 0, 0, 2)
    async with opened(new_store()) as store:
        await store.write(lambda transaction: transaction.trash.put(late, b"late"))
        await store.write(lambda transaction: transaction.trash.put(early, b"\0\1"))
    async with opened(new_store()) as store:
        assert await store.read(lambda transaction: transaction.trash.find()) == [early, late]
        assert await store.read(lambda transaction: transaction.trash.get(7)) == (late, b"late")
        assert await store.read(lambda transaction: transaction.trash.get(8)) is None
        assert await store.read(lambda transaction: transaction.trash.total_bytes()) == 6
        await store.write(lambda transaction: transaction.trash.delete(7))
        assert await store.read(lambda transaction: transaction.trash.find()) == [early]


@in_loop
async def test_single_rows_can_be_read_without_the_others(new_store: NewStore) -> None:
    def write(transaction: Transaction) -> None:
        for origin in ("https://b.example", "https://a.example"):
            transaction.site_data.put(2, origin, origin.encode())
        transaction.site_data.put(3, "https://c.example", b"c")
        for kind, key in (("sync", "x"), ("local", "y"), ("sync", "a")):
            transaction.extensions.put("one@example", kind, key, b"1")
        transaction.extensions.put("two@example", "sync", "z", b"2")

    def check(transaction: Transaction) -> None:
        assert transaction.site_data.origins(2) == ["https://a.example", "https://b.example"]
        assert transaction.site_data.get(2, "https://b.example") == b"https://b.example"
        assert transaction.site_data.get(2, "https://c.example") is None
        assert [transaction.site_data.total_bytes(store) for store in (2, 3, 4)] == [34, 1, 0]
        assert transaction.extensions.load("one@example") == [
            ("sync", "x", b"1"),
            ("local", "y", b"1"),
            ("sync", "a", b"1"),
        ]
        uuid = transaction.identities.uuid(2)
        assert uuid is not None
        assert (transaction.identities.find_uuid(uuid), transaction.identities.find_uuid("other")) == (2, None)

    async with opened(new_store()) as store:
        await store.write(write)
        await store.read(check)
        await store.write(check)


@in_loop
async def test_a_transaction_that_releases_memory_is_still_one(new_store: NewStore) -> None:
    def write(transaction: Transaction, *, fails: bool) -> None:
        for number in range(3):
            transaction.site_data.put(2, f"https://{number}.example", b"1")
            transaction.trim()
            assert len(transaction.site_data.origins(2)) == number + 1
        if fails:
            raise ValueError

    async with opened(new_store()) as store:
        with pytest.raises(ValueError):
            await store.write(lambda transaction: write(transaction, fails=True))
        assert await store.read(lambda transaction: transaction.site_data.origins(2)) == []
        await store.write(lambda transaction: write(transaction, fails=False))
        assert len(await store.read(lambda transaction: transaction.site_data.origins(2))) == 3


# ── The change log as a record of who changed what ──


@in_loop
async def test_the_last_commits_are_read_with_their_authors_the_newest_first(new_store: NewStore) -> None:
    async with opened(new_store()) as store:
        for name in ("a", "b", "c"):
            await store.write(add(name))
        latest = await store.read(lambda each: each.changes.latest_commits(2))
        earlier = await store.read(lambda each: each.changes.latest_commits(10, latest[-1].sequence))
    assert [commit.changes for commit in latest] == [(("added", b'"c"'),), (("added", b'"b"'),)]
    assert earlier[0].changes == (("added", b'"a"'),)
    process = current_process()
    assert {(commit.process, commit.machine) for commit in latest} == {(process.pid, process.machine)}
    assert abs(latest[0].time - store.time()) < 300
    assert latest[0].program


@in_loop
async def test_scrubbed_changes_reach_no_subscriber_that_lags_and_all_others_do(new_store: NewStore) -> None:
    async with opened(new_store()) as store, opened(new_store()) as lagging:
        heard: list[tuple[str, bytes]] = []
        lagging.subscribe(lambda change: heard.append((change.topic, change.payload)))
        await lagging.deliver_pending_changes()

        def two(transaction: Transaction) -> None:
            add("secret")(transaction)
            add("other")(transaction)

        def scrub(transaction: Transaction) -> None:
            transaction.changes.scrub(lambda changes: {n for n, each in enumerate(changes) if b"secret" in each[1]})
            transaction.changes.append("removed", b'"number 5"')

        await asyncio.gather(store.write(add("first")), store.write(two), store.write(scrub), store.write(add("last")))
        await until(lambda: ("added", b'"last"') in heard)
        commits = await store.read(lambda each: each.changes.latest_commits(10))
        await store.write(scrub)  # nothing is left of it: no commit changes
        assert (await store.read(lambda each: each.changes.latest_commits(11)))[1:] == commits
    assert b"secret" not in b"".join(payload for each in commits for _, payload in each.changes)
    topics = [topic for topic, _ in heard]
    assert [each for each in heard if each[0] == "added"] in (
        [("added", b'"first"'), ("added", b'"other"'), ("added", b'"last"')],
        [("added", b'"first"'), ("added", b'"secret"'), ("added", b'"other"'), ("added", b'"last"')],  # it did not lag
    )
    assert "removed" in topics
    assert ("resync" in topics) is (("added", b'"secret"') not in heard)


@in_loop
async def test_scrubbing_earlier_commits_leaves_no_gap_in_their_numbers(new_store: NewStore) -> None:
    async with opened(new_store()) as store, opened(new_store()) as other:
        heard: list[str] = []
        other.subscribe(lambda change: heard.append(change.topic))
        await other.deliver_pending_changes()
        for name in ("secret", "b", "secret", "d"):
            await store.write(add(name))
        before = await store.read(lambda each: each.changes.latest_commits(10))
        await until(lambda: heard == ["added"] * 4)
        await store.write(
            lambda each: each.changes.scrub(lambda found: {n for n, e in enumerate(found) if e[1] == b'"secret"'})
        )
        await store.write(add("e"))
        await until(lambda: heard == ["added"] * 5)  # and no resync: it had received them
        after = await store.read(lambda each: each.changes.latest_commits(10))
        numbers = [commit.sequence for commit in after]
    assert numbers[-len(before) :] == [commit.sequence for commit in before]
    assert [commit.changes for commit in after if commit.sequence == before[-1].sequence] == [(("resync", b"null"),)]


# ------------------------------------------------------------------------------------------------------------- counts


@in_loop
async def test_cookies_are_listed_without_their_values(new_store: NewStore) -> None:
    def row(domain: str, name: str, expires: float | None) -> CookieRow:
        return domain, 1, "/", name, "", "secret", 1, 1, "lax", expires, 5, 10.0, 20.0

    def put(transaction: Transaction) -> None:
        transaction.cookies.put(0, [row("default.example", "a", None)])
        transaction.cookies.put(1, [row("one.example", "b", 99.5), row("ünï.example", "ñ", None)])
        transaction.cookies.put(2, [row("two.example", "c", None)])

    async with opened(new_store()) as store:
        assert await store.read(lambda each: each.cookies.metadata()) == []
        await store.write(put)
        one = (1, "one.example", "b", 1, 99.5, 10.0, 20.0)
        other = (1, "ünï.example", "ñ", 1, None, 10.0, 20.0)
        default = (0, "default.example", "a", 1, None, 10.0, 20.0)
        two = (2, "two.example", "c", 1, None, 10.0, 20.0)
        assert sorted(await store.read(lambda each: each.cookies.metadata())) == [default, one, other, two]
        assert sorted(await store.read(lambda each: each.cookies.metadata([1, 7, 1]))) == [one, other]
        assert await store.read(lambda each: each.cookies.metadata([])) == []
        many = range(2, 3000)
        assert await store.read(lambda each: each.cookies.metadata(many)) == [two]
        valid = await store.read(lambda each: each.cookies.domains([0, 1, 7, 1], 99.5))
        assert sorted(valid) == [(0, "default.example"), (1, "ünï.example")]
        assert (1, "one.example") in await store.read(lambda each: each.cookies.domains([1], 99))
        assert await store.read(lambda each: each.cookies.domains(many, 0.0)) == [(2, "two.example")]


@in_loop
async def test_identities_and_texts_of_tabs_are_listed_for_pages(new_store: NewStore) -> None:
    def put(transaction: Transaction) -> tuple[int, int]:
        numbers = [transaction.identities.insert(name, "circle", "red") for name in ("One", "Two")]
        transaction.identities.move(numbers[1:], 0)
        transaction.tabs.insert(transaction.windows.insert(), 0, numbers[0], url="https://a.example/", title="Ä")
        return numbers[0], numbers[1]

    async with opened(new_store()) as store:
        one, two = await store.write(put)
        ids = await store.read(lambda each: each.identities.ids())
        assert ids == [row[0] for row in await store.read(lambda each: each.identities.find())]
        assert ids.index(two) < ids.index(one)
        found = await store.read(lambda each: each.identities.get_many([two, 999_999, one, two]))
        assert [row[1] for row in found] == ["Two", "One"]
        assert len(await store.read(lambda each: each.identities.get_many(range(5000)))) == len(ids)
        assert await store.read(lambda each: each.tabs.texts()) == [(one, "Ä", "https://a.example/", "")]


@in_loop
async def test_tabs_are_counted_by_cookie_store(new_store: NewStore) -> None:
    def put(transaction: Transaction) -> None:
        window, other = transaction.windows.insert(), transaction.windows.insert()
        transaction.tabs.insert(window, 0, 1)
        transaction.tabs.insert(window, 1, 0)
        transaction.tabs.insert(other, 0, 1, hidden=1)

    async with opened(new_store()) as store:
        assert await store.read(lambda each: each.tabs.counts_by_store()) == {}
        await store.write(put)
        assert await store.read(lambda each: each.tabs.counts_by_store()) == {0: 1, 1: 2}
        assert await store.read(lambda each: each.tabs.counts_by_store([1, 2])) == {1: 2}
        assert await store.read(lambda each: each.tabs.counts_by_store([])) == {}
