"""The table of packages, and data that changes its name."""

from __future__ import annotations

from pathlib import Path

import hatbox
from hatbox.store.base import Transaction
from tests.store.in_loop import in_loop


@in_loop
async def test_a_package_is_stored_under_its_hash_until_it_is_deleted(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        store = profile.store

        def write(transaction: Transaction) -> None:
            transaction.packages.put("b", b"1")
            transaction.packages.put("a", bytes(3_000_000))
            transaction.packages.put("b", b"2\0")

        await store.write(write)
        assert await store.read(lambda each: each.packages.digests()) == ["a", "b"]
        await store.write(lambda each: each.packages.delete("nothing"))
    async with hatbox.open(tmp_path / "profile.db") as profile:
        store = profile.store
        assert await store.read(lambda each: (each.packages.get("a"), each.packages.get("b"))) == (
            bytes(3_000_000),
            b"2\0",
        )
        await store.write(lambda each: each.packages.delete("a"))
        assert await store.read(lambda each: (each.packages.get("a"), each.packages.digests())) == (None, ["b"])


@in_loop
async def test_data_that_moves_keeps_its_order_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:

        def write(transaction: Transaction) -> None:
            table = transaction.extensions
            for kind, key in (("k", "z"), ("other", ""), ("k", "a")):
                table.put("one", kind, key, key.encode())
            table.put("two", "k", "a", b"overwritten")
            table.move("one", "two")

        await profile.store.write(write)
        found = await profile.store.read(lambda each: [each.extensions.find(kind) for kind in ("k", "other")])
        assert found == [[("two", "a", b"a"), ("two", "z", b"z")], [("two", "", b"")]]
