"""Children to be killed: forks one for each path and seed that it is told, and says what becomes of it.

Run as a script by test_crash.py. It never opens a profile itself, so a child begins with a clean process and with all
modules loaded. What a child does goes to the same pipe, a JSON line each: which calls it is about to make together, and
each answer as soon as it is there.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import random
import sys
from collections.abc import Awaitable
from typing import Any

import hatbox

COLORS, ICONS = ("red", "blue", "no such color"), ("pet", "tree", "no such icon")


def main() -> None:
    for line in sys.stdin:
        path, seed = json.loads(line)
        child = os.fork()
        if not child:
            try:
                say("started", os.getpid())
                asyncio.run(work(path, random.Random(seed)))
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        say("ended", os.waitstatus_to_exitcode(status))


def say(what: str, value: Any) -> None:
    os.write(1, json.dumps([what, value]).encode() + b"\n")  # at once, whatever happens next


async def work(path: str, choose: random.Random) -> None:
    """Make calls for ever, now one, now some together; answers are told in the order in which they come."""
    async with hatbox.open(path) as profile:
        known = [identity.cookie_store_id for identity in await profile.identities.query()]
        say("open", known)
        for number in itertools.count():
            calls = [call(choose, known, number) for _ in range(choose.choice([1, 1, 1, 2, 5, 30]))]
            say("calls", calls)
            answers = [getattr(profile.identities, name)(*arguments, **named) for name, arguments, named in calls]
            for (name, _, _), answer in zip(calls, answers, strict=True):
                id_ = await told(answer)
                if id_ and name == "create":
                    known.append(id_)
                elif id_ and name == "remove":
                    known.remove(id_)


async def told(answer: Awaitable[hatbox.ContextualIdentity | None]) -> str | None:
    """Say what has become of a call; returns the id in the answer, if there is one."""
    try:
        identity = await answer
    except hatbox.ApiError as error:
        say("refused", type(error).__name__)
        return None
    say("resolved", identity and identity.cookie_store_id)
    return identity.cookie_store_id if identity else None


def call(choose: random.Random, known: list[str], number: int) -> tuple[str, list[Any], dict[str, str]]:
    """A call: name, arguments, named arguments. Also wrong ones, and on identities that are gone."""
    known = known or ["firefox-container-1"]
    some, name, color, icon = choose.choice(known), f"name {number}", choose.choice(COLORS), choose.choice(ICONS)
    match choose.randrange(12):
        case 0 | 1 | 2 | 3:
            return "create", [name], {"color": color, "icon": icon}
        case 4 | 5:
            return "update", [some], {"name": name, "color": color}
        case 6 | 7:
            return "remove", [some], {}
        case 8:
            return "move", [[some, choose.choice(known)], choose.randrange(-2, 5)], {}
        case 9:
            return "move", [[some], choose.randrange(-1, 5)], {}
        case 10:
            return "hide", [some], {}
        case _:
            return "show", [some], {}


if __name__ == "__main__":
    main()
