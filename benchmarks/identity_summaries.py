"""hatbox.identities.list() with many identities, against a bare scan of the same rows with the sqlite3 module.

python -m benchmarks.identity_summaries
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from typing import Final

import hatbox
from benchmarks.benchmark import Benchmark, Figure, Measured
from hatbox.identities.changes import create
from hatbox.identity.ids import container_user_context_id
from hatbox.store.base import CookieRow, Transaction

_NAMES: Final = ("sid", "csrftoken", "_ga", "lang", "session", "auth_token", "cart", "prefs", "_gid", "theme")


async def measure(folder: Path, identities: int, rounds: int) -> Measured:
    """Both, the best of the rounds."""
    path = folder / "profile.db"
    async with hatbox.open(path) as profile:
        await profile.store.write(lambda transaction: _fill(transaction, identities))
        api = profile.browser(["hatbox"]).hatbox.identities
        listed = []
        for _ in range(rounds):
            start = time.perf_counter()
            await api.list()
            listed.append(time.perf_counter() - start)
        scanned = min(_scan(path) for _ in range(rounds))
        return {"list 10,000 identities with numbers of cookies and tabs": (min(listed) * 1e3, scanned * 1e3)}


def _fill(transaction: Transaction, identities: int) -> None:
    for number in range(identities):
        identity = create(transaction, f"Identity {number}", "red", "circle")
        store = container_user_context_id(identity.cookie_store_id) or 0
        transaction.cookies.put(store, [_cookie(number, place) for place in range(len(_NAMES))])


def _cookie(identity: int, place: int) -> CookieRow:
    host = f"www.host{(identity * 7 + place % 3) % 2000}.example"
    return host, 1, "/", _NAMES[place], "", "v" * 40, 1, place % 2, "lax", None, place, 1e9, 1e9


def _scan(path: Path) -> float:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    start = time.perf_counter()
    connection.execute("SELECT id, name, icon, color, hidden FROM identities ORDER BY position, id").fetchall()
    connection.execute("SELECT store, domain, name, http_only, expires, created, last_access FROM cookies").fetchall()
    connection.execute("SELECT store, count(*) FROM tabs GROUP BY store").fetchall()
    taken = time.perf_counter() - start
    connection.close()
    return taken


BENCHMARK = Benchmark(
    measure,
    [Figure("list 10,000 identities with numbers of cookies and tabs", "ms", "scan of the rows", at_most=4)],
    identities=(10_000, 5),
    rounds=(5, 1),
)

if __name__ == "__main__":
    BENCHMARK.main()
