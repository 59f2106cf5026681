"""One process of the fault tests: a mixed workload on a profile, until it is told to stop.

Run as a script by faults.py. Prints a JSON line when it is ready, one for each call that was made and each that has
ended, and at the end everything that its subscriber has received.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from typing import Any

import hatbox
from hatbox.store.base import ChangeRecord


def say(what: str, *values: Any) -> None:
    os.write(1, json.dumps([what, *values]).encode() + b"\n")


async def main(address: str, name: str, seed: int) -> None:
    choose = random.Random(seed)
    received: list[tuple[str, str]] = []

    def record(change: ChangeRecord) -> None:
        received.append((change.topic, change.payload.decode()))

    async with hatbox.open(address) as profile:
        store = profile._store
        store.subscribe(record)
        await store.deliver_pending_changes()
        say("ready")
        loop = asyncio.get_running_loop()
        lines = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        await lines.readline()
        stop = asyncio.ensure_future(lines.readline())
        mine: list[str] = []
        number = 0
        while not stop.done():
            calls = []
            for _ in range(choose.choice([1, 1, 1, 2, 5])):
                number += 1
                calls.append(call(profile, choose, mine, f"{name}-{number}"))
            await asyncio.gather(*calls)
            await asyncio.sleep(choose.choice([0, 0, 0.01]))
        await lines.readline()  # all processes have stopped
        await store.deliver_pending_changes()
        say("received", received)
        await lines.readline()  # closing may write more


async def call(profile: hatbox.Profile, choose: random.Random, mine: list[str], name: str) -> None:
    """One call. `mine` has the identities that this process has created, so that every outcome is known."""
    kind = choose.choice(["create", "create", "create", "update", "remove", "cookie", "query"])
    taken = mine.pop(choose.randrange(len(mine))) if mine and kind in ("update", "remove", "cookie") else None
    try:
        if taken is None:
            if kind == "query":
                await profile.identities.query()
                return
            say("call", "create", name, None)
            identity = await profile.identities.create(name, color="red", icon="circle")
            mine.append(identity.cookie_store_id)
            say("done", "create", name, identity.cookie_store_id)
        elif kind == "update":
            say("call", "update", name, taken)
            await profile.identities.update(taken, name=name)
            mine.append(taken)
            say("done", "update", name, taken)
        elif kind == "remove":
            say("call", "remove", name, taken)
            await profile.identities.remove(taken)
            say("done", "remove", name, taken)
        else:
            say("call", "cookie", name, taken)
            cookies = await profile.cookies.open(taken)
            await cookies.receive([f"{name}=1; Max-Age=99999"], "https://site.example/")
            mine.append(taken)
            say("done", "cookie", name, taken)
    except hatbox.ProfileUnavailable as error:
        say("failed", kind if taken else "create", name, taken, str(error))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
