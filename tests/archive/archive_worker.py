"""Processes for the tests of archives.

python -m tests.archive.archive_worker backup|restore ADDRESS FILE [CALLS]   is killed after a number of function calls
python -m tests.archive.archive_worker grow ADDRESS SITES                    makes a profile with much data
python -m tests.archive.archive_worker peak backup|restore ADDRESS FILE      prints the highest use of memory, in KiB
python -m tests.archive.archive_worker storm ADDRESS NAME                    writes until its standard input is closed
"""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import hatbox
from hatbox.store.base import Transaction
from tests.archive.contents import cookie


async def run(verb: str, address: str, file: str) -> None:
    async with hatbox.open(address) as profile:
        if verb == "backup":
            await profile.backup(file, overwrite=True)
        else:
            await profile.restore(file)


def run_until_killed(verb: str, address: str, file: str, limit: int | None) -> None:
    calls = 0

    def count(_frame: FrameType, _event: str, _argument: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == limit:
            os.kill(os.getpid(), signal.SIGKILL)

    threading.setprofile(count)
    sys.setprofile(count)
    asyncio.run(run(verb, address, file))
    sys.setprofile(None)
    sys.stdout.write(f"{calls}\n")


async def grow(address: str, sites: int) -> None:
    """256 KiB of site data and 50 cookies for each site, in ten identities."""
    choose = random.Random(1)
    async with hatbox.open(address) as profile:
        for number in range(10):
            identity = await profile.identities.create(f"identity {number}")
            store = int(identity.cookie_store_id.rpartition("-")[2])
            for site in range(number, sites, 10):
                data = choose.randbytes(2**17).hex().encode()

                def write(transaction: Transaction, store: int = store, site: int = site, data: bytes = data) -> None:
                    host = f"site{site}.example"
                    transaction.site_data.put(store, f"https://{host}", data)
                    transaction.cookies.put(store, [cookie(f"c{each}", "v" * 400, host) for each in range(50)])
                    transaction.changes.append("grown", b"{}")

                await profile.store.write(write)


async def storm(address: str, name: str) -> None:
    """Each transaction creates an identity with the next number, and stores this number in two cookies."""
    done = threading.Event()

    def wait() -> None:
        sys.stdin.read()
        done.set()

    threading.Thread(target=wait, daemon=True).start()

    def write(transaction: Transaction, number: int) -> None:
        transaction.identities.insert(f"{name} {number}", "pet", "red")
        transaction.cookies.put(0, [cookie(f"{name} {each}", str(number)) for each in ("left", "right")])
        transaction.changes.append("storm", b"{}")

    async with hatbox.open(address) as profile:
        number = 0
        while not done.is_set():
            number += 1
            await profile.store.write(lambda transaction, number=number: write(transaction, number))  # type: ignore[misc]
            if number == 3:
                sys.stdout.write("started\n")
                sys.stdout.flush()
    sys.stdout.write(f"{number}\n")


def peak() -> int:
    """The highest use of memory, in KiB. Not that of getrusage(), which a child inherits from its parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def main(verb: str, *arguments: str) -> None:
    if verb == "grow":
        asyncio.run(grow(arguments[0], int(arguments[1])))
    elif verb == "storm":
        asyncio.run(storm(*arguments))
    elif verb == "peak":
        asyncio.run(run(*arguments))
        sys.stdout.write(f"{peak()}\n")
    else:
        run_until_killed(verb, arguments[0], arguments[1], int(arguments[2]) if arguments[2:] else None)


if __name__ == "__main__":
    main(*sys.argv[1:])
