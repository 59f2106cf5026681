"""A byte of a profile is flipped, the profile is opened and everything in it read, then it is checked.

The figures for a longer run than that of test_damage.py: python -m tests.store.fuzz [FLIPS] [SEED]
"""

from __future__ import annotations

import asyncio
import functools
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Literal

from hatbox.errors import ProfileError
from hatbox.store.base import CookieRow, Transaction
from hatbox.store.sqlite import SqliteStore
from hatbox.store.sqlite.check import check

Kind = Literal["database", "log", "database with a log"]

STORES = (0, 1, 2, 3, 4, 6, 7)
KINDS = ("local", "sync", "session", "grants")
ENDS = ("", "-wal", "-shm")
NAME = "profile.db"


def make(folder: Path, kind: Kind) -> Path:
    """A small profile of every kind of row. For a log, a process that has it open ends without closing it."""
    folder.mkdir(parents=True)
    path = folder / NAME
    if kind == "database":
        asyncio.run(_make(path, kind))
    else:
        subprocess.run([sys.executable, "-m", "tests.store.fuzz", "make", kind, str(path)], check=True)
    path.with_name(f"{NAME}-lock").unlink(missing_ok=True)
    return path


async def _make(path: Path, kind: Kind) -> None:
    store = SqliteStore(path)
    await store.open()
    choose = random.Random(7)
    for turn in range(12):
        await store.write(functools.partial(_write, choose=choose, turn=turn))
    if kind != "database":
        os._exit(0)
    await store.close()


def _write(transaction: Transaction, choose: random.Random, turn: int) -> None:
    identity = transaction.identities.insert(f"identity {turn}", "pet", "red")
    window = transaction.windows.insert(title_preface=f"window {turn}")
    for number in range(4):
        tab = transaction.tabs.insert(
            window,
            number,
            STORES[turn % len(STORES)],
            url=f"https://site{turn}.example/{number}",
            title=f"page {turn} {number}",
        )
        if number % 2:
            transaction.tabs.save_page_snapshot(tab.id, choose.randbytes(300))
    cookies: list[CookieRow] = []
    for n in range(15):
        of = (f"site{choose.randrange(50)}.example", 1, "/", f"name{n}", "")
        cookies.append((*of, choose.randbytes(20).hex(), 1, 0, "lax", 2e9 + n, n, 1e9, 1.5e9))
    transaction.cookies.put(STORES[turn % len(STORES)], cookies)
    transaction.site_data.put(STORES[turn % len(STORES)], f"https://site{turn}.example", choose.randbytes(600 * turn))
    for key in range(5):
        value = b'{"a": "%s"}' % choose.randbytes(40).hex().encode()
        transaction.extensions.put(f"{turn % 3}@example", KINDS[key % len(KINDS)], f"key {turn} {key}", value)
    transaction.packages.put(f"{turn % 3}" * 64, choose.randbytes(5000))
    transaction.cookie_time.put(1e9 + turn, None, None)
    if turn > 6:
        transaction.identities.update(identity, name=f"renamed {turn}")
        transaction.tabs.delete(turn)
    transaction.changes.append("turn", b"%d" % turn)


def everything(transaction: Transaction) -> dict[str, Any]:
    """Every row that a program can read."""
    tabs = transaction.tabs.find()
    return {
        "identities": transaction.identities.find(),
        "by id": [transaction.identities.get(number) for number in range(30)],
        "by name": [transaction.identities.find(f"identity {turn}") for turn in range(12)],
        "cookies": [sorted(transaction.cookies.load(store), key=repr) for store in STORES],
        "windows": transaction.windows.find(),
        "tabs": tabs,
        "indexes": transaction.tabs.indexes(tabs),
        "by store": [transaction.tabs.find(store=store) for store in STORES],
        "pages": [transaction.tabs.page_snapshot(tab.id) for tab in tabs],
        "site data": [transaction.site_data.load(store) for store in STORES],
        "extensions": [transaction.extensions.find(kind) for kind in KINDS],
        "packages": [(digest, transaction.packages.get(digest)) for digest in transaction.packages.digests()],
        "cookie time": transaction.cookie_time.get(),
    }


async def read(path: Path) -> dict[str, Any]:
    store = SqliteStore(path)
    await store.open()
    try:
        return await store.read(everything)
    finally:
        await store.close()


def contents(path: Path) -> list[bytes]:
    """The bytes that last: those of the database and of its log."""
    files = (path, path.with_name(f"{NAME}-wal"))
    return [file.read_bytes() if file.exists() else b"" for file in files]


class Fuzz:
    """One profile, which is flipped again and again."""

    def __init__(self, folder: Path, kind: Kind) -> None:
        self.kind = kind
        self._source = make(folder / "source", kind)
        self._folder = folder
        self._whole = asyncio.run(read(self._copy()))
        self._sizes = [len(content) for content in contents(self._source)]

    def _copy(self) -> Path:
        target = self._folder / "copy"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir()
        for end in ENDS:
            if (file := self._source.with_name(f"{NAME}{end}")).exists():
                shutil.copyfile(file, target / file.name)
        return target / NAME

    def _flipped(self, offset: int, bits: int) -> Path:
        path = self._copy()
        with path.with_name(f"{NAME}-wal" if self.kind == "log" else NAME).open("r+b") as file:
            file.seek(offset)
            (byte,) = file.read(1)
            file.seek(offset)
            file.write(bytes([byte ^ bits]))
        return path

    def flip(self, choose: random.Random) -> tuple[str, int, int]:
        """Flip some bits of one byte: "right" data, an "error", or what was "missed" at open or "undetected" at all."""
        offset, bits = choose.randrange(self._sizes[self.kind == "log"]), choose.randrange(1, 256)
        return self.outcome(offset, bits), offset, bits

    def outcome(self, offset: int, bits: int) -> str:
        path = self._flipped(offset, bits)
        before = contents(path)
        try:
            found = asyncio.run(read(path))
        except ProfileError:
            if contents(path) != before:
                return "error, but the file was changed"
            opened = "error"
        else:
            opened = "right" if found == self._whole else "missed"
        if opened == "right":
            return opened
        path = self._flipped(offset, bits)
        try:
            is_reported = not check(path).is_sound
        except ProfileError:
            is_reported = True
        if contents(path) != before:
            return "changed by the check"
        return opened if is_reported else f"undetected ({opened})"


def main(flips: int, seed: int) -> None:
    """Print the figures for many flips."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        kinds: tuple[Kind, ...] = ("database", "log", "database with a log")
        for kind in kinds:
            fuzz = Fuzz(Path(folder, kind), kind)
            choose = random.Random(seed)
            outcomes = [fuzz.flip(choose) for _ in range(flips)]
            print(f"{flips} flips of the {kind}:", dict(Counter(outcome for outcome, *_ in outcomes)))  # noqa: T201
            for outcome, offset, bits in outcomes:
                if outcome not in ("right", "error", "missed"):
                    print(f"  byte {offset} ^ {bits}: {outcome}")  # noqa: T201


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        asyncio.run(_make(Path(sys.argv[3]), sys.argv[2]))  # type: ignore[arg-type]
    else:
        main(*map(int, (sys.argv[1:] + ["500", "1"][len(sys.argv) - 1 :])[:2]))
