"""The log of a background engine by itself: archived, discarded, never moved while it is written."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hatbox.engines.background.engine_log import EngineLog, log_folder
from hatbox.store.sqlite import SqliteStore


def stored() -> list[Path]:
    return sorted(log_folder().glob("*")) if log_folder().exists() else []


def test_a_log_that_cannot_be_stored_stays_where_it_is(profile: Path) -> None:
    log_folder().parent.mkdir(parents=True)
    log_folder().write_text("a file in its place")
    log = EngineLog.of(SqliteStore(profile))
    log.path.write_text("words")
    assert log.archive() is None
    assert log.path.read_text() == "words"


def test_of_a_long_log_the_end_is_stored_and_of_many_logs_the_latest(profile: Path) -> None:
    log = EngineLog.of(SqliteStore(profile))
    for number in range(15):
        log.path.write_bytes(b"x" * 2**19 + b"end %d" % number)
        os.utime(log.path, (number, number))
        assert log.archive() is not None
    assert len(stored()) == 10
    assert all(each.stat().st_size == 2**18 for each in stored())
    assert sorted(int(each.read_bytes().split()[-1]) for each in stored()) == list(range(5, 15))


def test_an_empty_log_is_removed(profile: Path) -> None:
    log = EngineLog.of(SqliteStore(profile))
    log.path.touch()
    assert log.archive() is None
    assert not log.path.exists()
    assert stored() == []


WRITE = """
import os, sys
from pathlib import Path
from hatbox.engines.background.engine_log import EngineLog
log = EngineLog(Path(sys.argv[1]))
for number in range(50):
    descriptor = log.open()
    for line in range(50):
        os.write(descriptor, b"%d-%d-%d\\n" % (os.getpid(), number, line))
    assert os.path.samestat(os.fstat(descriptor), log.path.stat()), "the log was moved while it was in use"
    os.close(descriptor)
print("done")
"""


@pytest.mark.process
def test_no_log_is_moved_while_it_is_written_and_no_line_is_lost(
    profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hatbox.engines.background.engine_log._MAX_LOGS", 10**6)
    log, over = EngineLog.of(SqliteStore(profile)), threading.Event()

    def clean_up() -> None:
        while not over.is_set():
            log.archive()

    cleaners = [threading.Thread(target=clean_up) for _ in range(2)]
    for cleaner in cleaners:
        cleaner.start()
    command = [sys.executable, "-c", WRITE, str(log.path)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    outputs = [writer.communicate(timeout=120)[0] for writer in writers]
    over.set()
    for cleaner in cleaners:
        cleaner.join()
    log.archive()
    assert outputs == ["done\n"] * 3
    lines = [line for each in stored() for line in each.read_text().split()]
    assert len(lines) == len(set(lines)) == 3 * 50 * 50


def test_the_log_of_a_store_without_local_files_is_in_the_log_folder(profile: Path) -> None:
    class RemoteStore(SqliteStore):
        label = "postgresql://host/db"

        def side_file(self, name: str) -> None:  # type: ignore[override]
            return None

    log = EngineLog.of(RemoteStore(profile))
    assert not log_folder().exists()
    os.close(log.open())
    assert [log.path] == stored() == [log_folder() / "postgresql_host_db-engine.log"]
