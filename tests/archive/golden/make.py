"""Writes archives of the current version, and what is in them, as JSON. Run once, when their columns change:

python -m tests.archive.golden.make
"""

from __future__ import annotations

import asyncio
import io
import json
import tempfile
from pathlib import Path
from typing import Any, Final

import msgspec

import hatbox
from hatbox.archive.age_format import EncryptingWriter
from hatbox.archive.block_file import ARCHIVE_VERSION
from hatbox.store.registry import dump_at
from tests.archive.contents import fill_profile

FOLDER: Final = Path(__file__).parent
PASSPHRASE: Final = "golden"
IDENTITY: Final = "Work"
"""The identity of the archive that has only one."""
REMOVED: Final = 4
"""The identity that is in the trash."""


async def make(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        address = str(Path(scratch) / "profile.db")
        backup, identity = Path(scratch) / "backup", Path(scratch) / "identity"
        async with hatbox.open(address) as profile:
            await profile.store.write(fill_profile)
            await fill_tabs(profile)
            before = rows_by_name(address)
            await profile.identities.remove(f"firefox-container-{REMOVED}")
            tabs = msgspec.to_builtins({"windows": await profile.tabs.windows(), "tabs": await profile.tabs.query()})
            contents = {"tables": rows_by_name(address), "removed": rows_of_store(before, REMOVED), **tabs}
            await profile.backup(backup)
            await profile.backup(identity, [IDENTITY])
        write(folder, contents, backup.read_bytes(), identity.read_bytes())


async def fill_tabs(profile: hatbox.Profile) -> None:
    """Discarded, highlighted and grouped tabs, and one that was closed."""
    await profile.store.write(lambda each: each.settings.put(0, "closed_tabs", b"10"))
    browser = profile.browser(["tabs", "tabHide", "cookies"], "make")
    removed = await profile.tabs.query(f"firefox-container-{REMOVED}")
    [active] = [
        tab for tab in await profile.tabs.query() if tab.active and tab.cookie_store_id == "firefox-container-1"
    ]
    window = active.window_id
    first, second, third = [
        await browser.tabs.create(
            {
                "url": f"https://{name}.example/",
                "cookieStoreId": "firefox-container-2",
                "windowId": window,
                "active": False,
            }
        )
        for name in ("first", "second", "third")
    ]
    await browser.tabs.group({"tabIds": [first["id"], second["id"]], "createProperties": {"windowId": window}})
    await browser.tabs.discard([first["id"], *(tab.id for tab in removed if not tab.active)])
    await browser.tabs.update(first["id"], {"autoDiscardable": False})
    await browser.tabs.highlight({"tabs": [active.index, active.index - 1], "windowId": window})
    await browser.tabs.remove(third["id"])


def rows_by_name(address: str) -> dict[str, Any]:
    """The rows of every copied table, by column. Bytes are base64."""
    tables: dict[str, list[dict[str, Any]]] = {}
    with dump_at(address) as dumped:
        for table, rows in dumped.batches:
            tables.setdefault(table.name, []).extend(dict(zip(table.columns, row, strict=True)) for row in rows)
    found: dict[str, Any] = json.loads(msgspec.json.encode(tables))
    return found


def rows_of_store(tables: dict[str, Any], store: int) -> dict[str, Any]:
    """The rows of one identity in the tables that an archived identity has as they are."""
    names = ("cookies", "site_data", "history", "visits")
    return {name: [row for row in tables[name] if row["store"] == store] for name in names if name in tables}


def encrypted(data: bytes) -> bytes:
    """As with a passphrase, but with a work factor that costs a test nothing."""
    file = io.BytesIO()
    writer = EncryptingWriter(file, PASSPHRASE, work_factor=4)
    writer.write(data)
    writer.close()
    return file.getvalue()


def write(folder: Path, contents: dict[str, Any], whole: bytes, identity: bytes) -> None:
    name = f"v{ARCHIVE_VERSION}"
    if (folder / f"{name}.json").exists():
        raise SystemExit(f"{name} exists. Increment ARCHIVE_VERSION in src/hatbox/archive/block_file.py first.")
    (folder / f"{name}.hatbox").write_bytes(whole)
    (folder / f"{name}.identity.hatbox").write_bytes(identity)
    (folder / f"{name}.age").write_bytes(encrypted(whole))
    (folder / f"{name}.json").write_text(json.dumps(contents, indent=0, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    asyncio.run(make(FOLDER))
