"""Damage in a write-ahead log, as opposed to a tail that a crash has torn (store/sqlite/wal.py), in logs of SQLite."""

from __future__ import annotations

import contextlib
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hatbox.store.sqlite import wal as wal_module
from hatbox.store.sqlite.wal import damage_in

HEADER, FRAME, PAGE = 32, 24, 512
STRIDE = FRAME + PAGE


class Log:
    """The files of a database as a killed process leaves them, to be changed and read at will."""

    def __init__(self, folder: Path, page_size: int = PAGE) -> None:
        self.page_size = page_size
        self.database, self.wal, self.index = (folder / f"x.db{end}" for end in ("", "-wal", "-shm"))
        self._live = folder / "live.db"
        self.connection = sqlite3.connect(self._live, isolation_level=None)
        self.connection.execute(f"PRAGMA page_size = {page_size}")
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")
        self.connection.execute("PRAGMA wal_autocheckpoint = 0")
        self.connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)")

    def commit(self, *texts: str) -> None:
        self.connection.execute("BEGIN")
        self.connection.executemany("INSERT INTO notes (text) VALUES (?)", [(text,) for text in texts])
        self.connection.execute("COMMIT")

    def kill(self, *, with_index: bool = False) -> bytes:
        """Copy the files as they stand on disk at this point; returns the log's bytes."""
        for end in ("", "-wal", "-shm"):
            shutil.copyfile(f"{self._live}{end}", f"{self.database}{end}")
        if not with_index:
            self.index.unlink()
        return self.wal.read_bytes()

    def rows(self, log: bytes) -> int:
        """How many rows SQLite reads with this log."""
        self.wal.write_bytes(log)
        self.index.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(f"{self.database.as_uri()}?mode=ro", uri=True)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_schema").fetchall():
                return 0  # the table itself was made by a transaction of the log
            (count,) = connection.execute("SELECT count(*) FROM notes").fetchone()
        return int(count)

    def damage(self, log: bytes) -> str | None:
        self.wal.write_bytes(log)
        return damage_in(self.database)

    def commits(self, log: bytes) -> list[int]:
        """Where each transaction of the log ends."""
        starts = range(HEADER, len(log), FRAME + self.page_size)
        return [s + FRAME + self.page_size for s in starts if struct.unpack_from(">I", log, s + 4)[0]]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Log]:
    log = Log(tmp_path)
    yield log
    log.connection.close()


def flipped(log: bytes, offset: int, bits: int = 0xFF) -> bytes:
    return log[:offset] + bytes([log[offset] ^ bits]) + log[offset + 1 :]


def interesting(log: bytes, start: int, end: int) -> list[int]:
    """Each byte of every header, and some of every page."""
    return [o for o in range(start, end) if o < HEADER + FRAME or (o - HEADER) % STRIDE < FRAME or o % 61 == 0]


def test_a_changed_byte_before_the_newest_transaction_is_reported_wherever_it_is(log: Log) -> None:
    for number in range(5):
        log.commit(*[f"note {number}"] * (1 if number % 2 else 20))
    whole = log.kill()
    assert log.damage(whole) is None
    *_, before_last, _ = log.commits(whole)
    for offset in interesting(whole, 0, before_last):
        damage = log.damage(flipped(whole, offset))
        assert damage is not None, offset
        assert "damaged write-ahead log" in damage


def test_a_single_changed_bit_is_reported_and_the_message_names_the_byte(log: Log) -> None:
    for number in range(4):
        log.commit(f"note {number}")
    whole = log.kill()
    offset = HEADER + STRIDE + FRAME + 100
    for bit in range(8):
        assert f"frame 2 (byte {HEADER + STRIDE})" in (log.damage(flipped(whole, offset, 1 << bit)) or "")


def test_damage_is_reported_also_where_the_newest_transaction_was_never_finished(log: Log) -> None:
    for number in range(3):
        log.commit(*[f"note {number}"] * 30)
    whole = log.kill()
    *_, second, third, fourth = log.commits(whole)
    torn = whole[: third + STRIDE]
    assert fourth > third + STRIDE
    assert log.damage(torn) is None
    for offset in (second + 4, second + FRAME + 9, third - STRIDE + 9, third - STRIDE + 30):
        assert log.damage(flipped(torn, offset)) is not None


def test_a_torn_tail_of_any_length_is_no_damage(log: Log) -> None:
    for number in range(4):
        log.commit(*[f"note {number}"] * 15)
    whole = log.kill(with_index=True)
    *_, before_last, end = log.commits(whole)
    assert end == len(whole)
    for length in range(before_last, end):
        assert log.damage(whole[:length]) is None, length
    for length in [*range(HEADER + FRAME + 1), *range(HEADER + FRAME, before_last, 97)]:
        assert log.damage(whole[:length]) is None, length


def test_a_tail_that_reached_the_disk_in_part_or_out_of_order_is_no_damage(log: Log) -> None:
    for number in range(4):
        log.commit(*[f"note {number}"] * 15)
    whole = log.kill()
    *_, before_last, end = log.commits(whole)
    for offset in range(before_last, end, 128):
        assert log.damage(whole[:offset] + bytes(end - offset)) is None  # zeroes where nothing was written
        assert log.damage(whole[:offset] + bytes(128) + whole[offset + 128 :]) is None  # a hole


def test_a_changed_byte_in_the_newest_transaction_is_reported_while_the_index_exists(log: Log) -> None:
    for number in range(3):
        log.commit(*[f"note {number}"] * 5)
    whole = log.kill(with_index=True)
    assert log.damage(whole) is None
    *_, before_last, end = log.commits(whole)
    for offset in interesting(whole, before_last, end):
        assert log.damage(flipped(whole, offset)) is not None, offset
    log.index.unlink()  # as after a power cut: now it looks like a torn tail
    assert log.damage(flipped(whole, before_last + FRAME)) is None


def test_calls_that_failed_at_the_end_of_the_log_are_no_damage(log: Log, tmp_path: Path) -> None:
    for number in range(3):
        log.commit(f"note {number}")
    whole = log.kill(with_index=True)
    log.wal.write_bytes(whole)
    failed = b""
    for size in (9, 5, 1):  # the disk refuses each, so the next one starts at the same place
        copy = tmp_path / f"failed {size}"
        for end in ("", "-wal"):
            shutil.copy(f"{log.database}{end}", f"{copy}{end}")
        with contextlib.closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO notes (text) VALUES (?)", [("x" * 3000,)] * size)
            connection.execute("COMMIT")
            written = Path(f"{copy}-wal").read_bytes()
        failed = written + failed[len(written) :]
    assert len(failed) > len(whole)
    assert log.damage(failed) is None
    assert len([end for end in log.commits(failed) if end > len(whole)]) == 3
    assert log.damage(flipped(failed, len(whole) - 9)) is not None, "of a commit that succeeded"
    log.index.unlink()
    assert log.damage(failed) is not None, "without the index they look the same"


def test_an_index_that_is_damaged_or_of_another_log_proves_nothing(log: Log) -> None:
    for number in range(3):
        log.commit(f"note {number}")
    whole = log.kill(with_index=True)
    torn = flipped(whole, len(whole) - 1)
    index = log.index.read_bytes()
    assert log.damage(torn) is not None
    for offset in range(96):
        log.index.write_bytes(flipped(index, offset))
        assert log.damage(torn) is None, offset
    for length in range(0, 96, 5):
        log.index.write_bytes(index[:length])
        assert log.damage(torn) is None


def test_older_frames_behind_a_restarted_log_are_no_damage(log: Log) -> None:
    for number in range(6):
        log.commit(*[f"note {number}"] * 10)
    log.connection.execute("PRAGMA wal_checkpoint(RESTART)")
    log.commit("after the restart")
    log.commit("and one more")
    whole = log.kill()
    assert len(log.commits(whole)) > 6  # the older commits are still in the file
    assert log.damage(whole) is None
    assert log.rows(whole) == 62
    # The commits of before do not make damage of a torn tail.
    second = HEADER + STRIDE * 2
    assert log.damage(flipped(whole, second)) is None
    # Damage in what is current is reported, damage in what is not is none.
    assert log.damage(flipped(whole, HEADER + FRAME)) is not None
    assert log.damage(flipped(whole, len(whole) - STRIDE * 3)) is None


def test_a_restarted_log_with_no_frame_of_its_own_is_no_damage(log: Log) -> None:
    for number in range(3):
        log.commit(f"note {number}")
    log.connection.execute("PRAGMA wal_checkpoint(RESTART)")
    log.commit("restarted")
    restarted = log.kill()
    log.connection.execute("PRAGMA wal_checkpoint(RESTART)")
    log.commit("again")
    assert log.damage(log.kill()[:HEADER] + restarted[HEADER:]) is None


def test_frames_that_a_crash_left_behind_newer_ones_are_no_damage(log: Log) -> None:
    log.commit("first")
    log.commit(*["a long transaction that is torn by a power cut"] * 40)
    crashed = log.kill()
    *_, before_last, end = log.commits(crashed)
    hole = before_last + STRIDE * 2
    log.wal.write_bytes(crashed[:hole] + bytes(STRIDE) + crashed[hole + STRIDE :])
    with contextlib.closing(sqlite3.connect(log.database, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("INSERT INTO notes (text) VALUES ('after the crash')")
        copied = log.wal.read_bytes()
    assert len(copied) == end
    assert struct.unpack_from(">I", copied, end - STRIDE + 4)[0]  # the lost commit is still at the end
    assert log.damage(copied) is None


@pytest.mark.parametrize("page_size", [512, 1024, 4096, 65536])
def test_every_page_size_is_read(tmp_path: Path, page_size: int) -> None:
    log = Log(tmp_path, page_size)
    with contextlib.closing(log.connection):
        for number in range(4):
            log.commit(f"note {number}" * 100)
        whole = log.kill()
    assert log.damage(whole) is None
    for offset in (0, 5, 9, 14, 17, 22, 30, HEADER + 9, HEADER + FRAME + page_size - 1):
        assert log.damage(flipped(whole, offset)) is not None, offset


def test_logs_of_a_machine_with_the_other_byte_order_are_read(log: Log) -> None:
    for number in range(4):
        log.commit(*[f"note {number}"] * 10)
    other = in_other_byte_order(log.kill())
    assert log.rows(other) == 40, "SQLite itself must accept it, or the test tests nothing"
    assert log.damage(other) is None
    *_, before_last, _ = log.commits(other)
    for offset in interesting(other, 0, before_last):
        assert log.damage(flipped(other, offset)) is not None, offset


def in_other_byte_order(log: bytes) -> bytes:
    """The same log with checksums as a machine of the other byte order computes them."""
    (magic,) = struct.unpack_from(">I", log)
    words = ">II" if magic == 0x377F0682 else "<II"
    header = struct.pack(">I", magic ^ 1) + log[4:24]
    sums = summed(words, (0, 0), header)
    out = header + struct.pack(">II", *sums)
    for start in range(HEADER, len(log), STRIDE):
        frame = log[start : start + STRIDE]
        sums = summed(words, sums, frame[:8] + frame[FRAME:])
        out += frame[:16] + struct.pack(">II", *sums) + frame[FRAME:]
    return out


def summed(words: str, sums: tuple[int, int], data: bytes) -> tuple[int, int]:
    first, second = sums
    for one, two in struct.iter_unpack(words, data):
        first = (first + one + second) % 2**32
        second = (second + two + first) % 2**32
    return first, second


def test_a_log_with_one_transaction_and_a_damaged_header_is_damaged(tmp_path: Path) -> None:
    log = Log(tmp_path)
    with contextlib.closing(log.connection):
        log.connection.execute("PRAGMA wal_checkpoint(RESTART)")
        log.connection.execute("PRAGMA user_version = 7")  # one page, one frame
        whole = log.kill()[: HEADER + STRIDE]
    assert len(log.commits(whole)) == 1
    for offset in range(HEADER):
        assert log.damage(flipped(whole, offset)) is not None, offset


def test_a_lost_first_block_is_reported(log: Log) -> None:
    for number in range(8):
        log.commit(*[f"note {number}"] * 10)
    whole = log.kill()
    for length in (HEADER, 512, 4096):
        assert log.damage(bytes(length) + whole[length:]) is not None


def test_a_missing_an_empty_and_a_zeroed_log_are_no_damage(log: Log) -> None:
    log.commit("a note")
    whole = log.kill()
    log.wal.unlink()
    assert damage_in(log.database) is None
    for content in (b"", whole[:1], whole[:HEADER], bytes(HEADER), bytes(100_000)):
        assert log.damage(content) is None


def test_garbage_is_no_log_and_raises_nothing(log: Log) -> None:
    log.kill()
    assert log.damage(b"\xff" * 50_000) is None
    assert log.damage(bytes(range(256)) * 300) is None


def test_sqlite_and_the_walk_agree_on_every_flip(log: Log) -> None:
    """What SQLite would silently lose is what is reported, but for the newest transaction."""
    for number in range(4):
        log.commit(*[f"note {number}"] * 3)
    whole = log.kill()
    *_, before_last, _ = log.commits(whole)
    everything = log.rows(whole)
    for offset in range(0, len(whole), 41):
        changed = flipped(whole, offset)
        is_lost = log.rows(changed) < everything
        log.index.unlink(missing_ok=True)
        assert (log.damage(changed) is not None) == (is_lost and offset < before_last), offset


WRITER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = WAL")
connection.execute("PRAGMA synchronous = FULL")
connection.execute("PRAGMA wal_autocheckpoint = 0")
connection.execute("PRAGMA cache_size = 5")  # long transactions are written to the log before their commit
connection.execute("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text)")
number = 0
while True:
    number += 1
    connection.execute("BEGIN")
    for _ in range(1 + number % 7 * 20):
        connection.execute("INSERT INTO notes (text) VALUES (?)", ("x" * 500,))
        connection.execute("UPDATE notes SET text = ? WHERE id = 1", (str(number),))
    connection.execute("COMMIT")
    print(number, flush=True)
"""


@pytest.mark.process
def test_processes_that_are_killed_while_they_write_leave_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "killed.db"
    for turn in range(12):
        command = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout
            for _ in range(3 + turn):
                process.stdout.readline()
            time.sleep(0.003 * turn)  # the point of death is what this test is about
            process.send_signal(signal.SIGKILL)
        assert damage_in(path) is None


def test_the_log_is_read_in_bounded_pieces(log: Log, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        log.commit(*[f"note {number}"] * 20)
    whole = log.kill()
    *_, before_last, _ = log.commits(whole)
    monkeypatch.setattr(wal_module, "_CHUNK", 3 * STRIDE)
    assert log.damage(whole) is None
    for start in range(HEADER, before_last, STRIDE):
        assert log.damage(flipped(whole, start + 40)) is not None
