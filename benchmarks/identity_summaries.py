"""hatbox.identities.list() with many identities, against a bare scan of the same rows with the sqlite3 module.

python -m benchmarks.identity_summaries [IDENTITIES]
"""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from rich.console import Console

import hatbox
from benchmarks.bars import bars_table
from hatbox.identities.changes import create
from hatbox.identities.ids import container_user_context_id
from hatbox.store.base import CookieRow, Transaction

_NAMES: Final = ("sid", "csrftoken", "_ga", "lang", "session", "auth_token", "cart", "prefs", "_gid", "theme")
_ROUNDS: Final = 5


def main() -> None:
    """Print the times."""
    identities = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        listed, scanned = asyncio.run(_measure(Path(folder) / "profile.db", identities))
    console = Console()
    console.print(f"{identities:,} identities with {len(_NAMES)} cookies each, best of {_ROUNDS}:")
    console.print(f"hatbox.identities.list() {listed * 1000:.0f} ms, bare scan {scanned * 1000:.0f} ms")
    console.print(bars_table([("list() / bare scan", listed / scanned, "<=", 4.0)]))


async def _measure(path: Path, identities: int) -> tuple[float, float]:
    async with hatbox.open(path) as profile:
        await profile.store.write(lambda transaction: _fill(transaction, identities))
        api = profile.browser(["hatbox"]).hatbox.identities
        listed = []
        for _ in range(_ROUNDS):
            start = time.perf_counter()
            await api.list()
            listed.append(time.perf_counter() - start)
        return min(listed), min(_scan(path) for _ in range(_ROUNDS))


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


if __name__ == "__main__":
    main()
