"""Writes a profile of the latest version, as SQL, and what is in it, as JSON. Run once, when a version is released:

python -m tests.store.profiles.make
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import tempfile
from pathlib import Path

import msgspec

import hatbox
from hatbox.store.sqlite.migrations import APPLICATION_ID, LATEST


async def make(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "profile.db"
        await fill(path)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
            unknown_values(connection)
            sql = "\n".join(connection.iterdump())
        async with hatbox.open(path) as profile:
            identities = msgspec.to_builtins(await profile.identities.query())
    header = f"PRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {LATEST};\n"
    (folder / f"v{LATEST}.sql").write_text(f"{header}{sql}\n", "utf-8")
    (folder / f"v{LATEST}.json").write_text(json.dumps(identities, indent=1, ensure_ascii=False) + "\n", "utf-8")


async def fill(path: Path) -> None:
    async with hatbox.open(path) as profile:
        made = [
            await profile.identities.create(name, color="purple", icon="tree")
            for name in ("Hüte \U0001f3a9", "Work", "'quoted'", " blanks ", "of the future", "the newest, removed")
        ]
        await profile.identities.update("firefox-container-1", name="Renamed")
        await profile.identities.remove("firefox-container-3")
        await profile.identities.move([made[2], "firefox-container-4"], 0)
        await profile.identities.hide("firefox-container-2")
        await profile.identities.hide(made[1])
        await profile.identities.remove(made[-1])


def unknown_values(connection: sqlite3.Connection) -> None:
    """As a version with more colors and icons would leave them."""
    connection.execute("UPDATE identities SET color = 'mauve', icon = 'top-hat' WHERE name = 'of the future'")


if __name__ == "__main__":
    asyncio.run(make(Path(__file__).parent))
