"""A process that seems to be on another machine: it registers, and waits for a lease. Run by test_leases.py."""

from __future__ import annotations

import asyncio
import sys

from hatbox.store import processes
from hatbox.store.registry import store_at


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


async def main(address: str, machine: str) -> None:
    processes.host_id = lambda: machine  # type: ignore[assignment]
    current = processes.current_process()
    store = store_at(address)
    await store.open()
    await store.register_process()
    lease = store.lease("engine")
    if await lease.acquire("there") is not None:
        say(f"busy {current.pid} {current.started_at}")
        while await lease.acquire("there") is not None:  # noqa: ASYNC110 - no event reports it
            await asyncio.sleep(0.01)
    say(f"acquired {current.pid} {current.started_at}")
    await asyncio.sleep(3600)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
