"""Backups and restores beside other processes, killed processes, and their use of memory. Takes seconds."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hatbox.archive.archive_file import opened_archive
from hatbox.store.base import Transaction
from tests.archive.contents import fill_profile, rows_of
from tests.archive.test_profile_archive import backup, destroy, restore, without_counters, write
from tests.postgres import address_of, shared_cluster, sqlite_file
from tests.store.kill_count import kill_count

KILLS = kill_count(8)
SITES = 24  # of the small profile: 6 MB of site data


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.archive.archive_worker", *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def finish(*arguments: str) -> tuple[int, str]:
    with start(*arguments) as process:
        output, _ = process.communicate(timeout=300)
    return process.returncode, output


@pytest.mark.process
def test_a_backup_while_four_processes_write_is_a_prefix_of_what_each_has_written(address: str, tmp_path: Path) -> None:
    write(address, lambda each: each.identities.delete(4))
    names = ["ant", "bee", "cat", "dog"]
    storms = [start("storm", address, name) for name in names]
    files = [tmp_path / f"backup {number}" for number in range(4)]
    try:
        for process in storms:
            assert process.stdout
            assert process.stdout.readline() == "started\n"
        for file in files:
            backup(address, file)
    finally:
        ends = [int(process.communicate(timeout=300)[0]) for process in storms]
    last = dict.fromkeys(names, 0)
    for file in files:
        with opened_archive(file) as archive:
            rows = {
                name: [row for table, batch in archive.rows().batches() if table.name == name for row in batch]
                for name in ("identities", "cookies", "head")
            }
        cookies = {row[3]: int(row[5]) for row in rows["cookies"]}
        written = 0
        for name in names:
            numbers = [int(row[1].split()[1]) for row in rows["identities"] if row[1].startswith(f"{name} ")]
            assert numbers == [*range(1, len(numbers) + 1)]
            assert cookies[f"{name} left"] == cookies[f"{name} right"] == len(numbers) >= last[name]
            last[name] = len(numbers)
            written += len(numbers)
        assert rows["head"][0][1] == 5 + written
    assert all(last[name] <= end for name, end in zip(names, ends, strict=True))


def killed_at(verb: str, address: str, file: Path, limit: int) -> bool:
    status, _ = finish(verb, address, str(file), str(limit))
    assert status in (0, -signal.SIGKILL)
    return status != 0


@pytest.mark.process
@pytest.mark.parametrize("kind", ["merged", "filled"])
def test_a_killed_restore_changes_nothing_or_everything(tmp_path: Path, kind: str) -> None:
    source, file = sqlite_file(tmp_path / "source.db"), tmp_path / "backup"
    write(str(source), fill_profile)
    whole = rows_of(str(source))
    backup(str(source), file)
    if kind == "merged":
        write(str(source), destroy)
        start_state = source
    else:
        start_state = tmp_path / "new.db"
        write(str(start_state), lambda _: None)
    before = rows_of(str(start_state))
    calls = int(finish("restore", str(copy_of(start_state, tmp_path / "first")), str(file))[1])
    choose, states = random.Random(3), set()
    for number in range(KILLS):
        path = copy_of(start_state, tmp_path / f"kill {number}")
        if not killed_at("restore", str(path), file, choose.randrange(calls // 3, calls)):
            continue
        after = rows_of(str(path))
        is_done = after != before
        states.add(is_done)
        if is_done:
            assert without_counters(after) == without_counters(whole)
        assert restore(str(path), file).identities
        assert without_counters(rows_of(str(path))) == without_counters(whole)
    assert False in states


def copy_of(path: Path, folder: Path) -> Path:
    folder.mkdir()
    return Path(shutil.copy(path, folder / path.name))


@pytest.mark.process
def test_a_killed_backup_leaves_the_earlier_file_and_the_profile(tmp_path: Path) -> None:
    source, file = sqlite_file(tmp_path / "source.db"), tmp_path / "backup"
    write(str(source), fill_profile)
    rows = rows_of(str(source))
    calls = int(finish("backup", str(source), str(file))[1])
    complete = file.read_bytes()
    choose, kills = random.Random(4), 0
    for _ in range(KILLS):
        kills += killed_at("backup", str(source), file, choose.randrange(calls // 3, calls))
        assert len(file.read_bytes()) == pytest.approx(len(complete), abs=40)
        assert not restore(str(source), file, dry_run=True).changed
        assert rows_of(str(source)) == rows
    assert kills


def test_an_interrupted_restore_changes_nothing(address: str, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    write(address, fill_profile)
    backup(address, file)
    write(address, destroy)
    before = rows_of(address)

    def interrupt(done: int, total: int) -> None:
        if 0 < done < total and total < 1000:  # rows, not bytes
            raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        restore(address, file, progress=interrupt)
    assert rows_of(address) == before


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the use of memory from /proc")
@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgres", marks=pytest.mark.server)])
def test_memory_does_not_grow_with_the_profile(tmp_path: Path, store: str) -> None:
    def new_address(name: str) -> str:
        return shared_cluster().new_address() if store == "postgres" else address_of(tmp_path / name)

    peaks: dict[str, list[int]] = {"backup": [], "filled": [], "merged": []}
    for sites in (SITES, 8 * SITES):
        source, target, file = new_address(f"{sites}.db"), new_address(f"{sites} new.db"), tmp_path / f"{sites}"
        assert finish("grow", source, str(sites))[0] == 0
        peaks["backup"].append(int(finish("peak", "backup", source, str(file))[1]))
        peaks["filled"].append(int(finish("peak", "restore", target, str(file))[1]))
        write(target, clear_sites)
        peaks["merged"].append(int(finish("peak", "restore", target, str(file))[1]))
        assert rows_of(target)["site_data"] == rows_of(source)["site_data"]
        assert rows_of(target)["cookies"] == rows_of(source)["cookies"]
    sys.stdout.write(f"\n{store}: peak use of memory in KiB for n and 8n: {peaks}\n")
    for small, large in peaks.values():
        assert large < small + 20_000  # the larger profile has 42 MB more, and 4 MB more of cookies


def clear_sites(transaction: Transaction) -> None:
    for row in transaction.identities.find():
        transaction.site_data.clear(row[0])
        transaction.cookies.clear(row[0])
    transaction.changes.append("cleared", b"{}")
