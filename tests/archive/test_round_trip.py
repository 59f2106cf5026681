"""Property: backup, destroy, restore gives a profile that is equal in every table, on both stores and across them."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hatbox
from hatbox.identities import changes
from hatbox.store.base import Transaction
from tests.archive.contents import open_page, rows_of
from tests.archive.test_profile_archive import without_counters
from tests.postgres import shared_cluster

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NAMES = TEXT.filter(lambda text: bool(text.strip("\0 \t\n")) and bool(text.strip()))
NUMBERS = st.integers(0, 7)

CHANGES = st.one_of(
    st.tuples(st.just("create"), NAMES, st.sampled_from(["red", "blue"]), st.sampled_from(["pet", "circle"])),
    st.tuples(st.just("remove"), NUMBERS),
    st.tuples(st.just("move"), NUMBERS, st.integers(0, 3)),
    st.tuples(st.just("hide"), NUMBERS),
    st.tuples(st.just("cookie"), NUMBERS, TEXT, TEXT, st.none() | st.floats(1e9, 2e9)),
    st.tuples(st.just("site"), NUMBERS, TEXT, st.binary(max_size=50)),
    st.tuples(st.just("tab"), NUMBERS, TEXT, TEXT, st.booleans()),
    st.tuples(st.just("window")),
    st.tuples(st.just("setting"), NUMBERS, TEXT, st.binary(max_size=20)),
    st.tuples(st.just("rule"), NUMBERS, TEXT),
    st.tuples(st.just("value"), TEXT.filter(bool), TEXT, st.binary(max_size=20)),
    st.tuples(st.just("package"), st.binary(max_size=20)),
)


def apply(transaction: Transaction, change: tuple[Any, ...]) -> None:
    """Make a change, if the identity that it names exists. 0 is the default store."""
    verb, *values = change
    if verb == "create":
        changes.create(transaction, *values)
    elif verb == "value":
        transaction.extensions.put(values[0], "local", *values[1:])
    elif verb == "package":
        transaction.packages.put(hashlib.sha256(values[0]).hexdigest(), values[0])
    elif verb == "window":
        transaction.windows.focus(transaction.windows.insert(title_preface="window"))
        open_page(transaction, 0, "https://window.example/", "Window")
    elif values[0] == 0 or transaction.identities.get(values[0]) is not None:
        _change_identity(transaction, verb, *values)


def _change_identity(transaction: Transaction, verb: str, number: int, *values: Any) -> None:
    cookie_store_id = f"firefox-container-{number}"
    if verb == "cookie":
        name, value, expires = values
        row = ("site.example", 1, "/", name, "", value, 1, 0, "lax", expires, 1, 1e9, 1e9)
        transaction.cookies.put(number, [row])
    elif verb == "site":
        transaction.site_data.put(number, f"https://{values[0]}", values[1])
    elif verb == "tab":
        url, title, pinned = values
        open_page(transaction, number, f"https://site.example/{url}", title, pinned=pinned)
    elif number and verb == "setting":
        transaction.settings.put(number, *values)
    elif number and verb == "rule":
        rule = {"pattern": values[0], "identities": [cookie_store_id]}
        if rule["pattern"] not in [each["pattern"] for each in map(decode, transaction.rules.find())]:
            transaction.rules.insert(encode(rule))
    elif number and verb == "remove":
        changes.remove(transaction, cookie_store_id)
        for rule_number, data in transaction.rules.find():
            if cookie_store_id in decode((0, data))["identities"]:
                transaction.rules.delete(rule_number)
    elif number and verb == "move":
        changes.move(transaction, [cookie_store_id], min(values[0], transaction.identities.count() - 1))
    elif number and verb == "hide":
        changes.hide(transaction, cookie_store_id)


def encode(rule: dict[str, Any]) -> bytes:
    return msgspec.json.encode(rule)


def decode(row: tuple[int, bytes]) -> dict[str, Any]:
    return msgspec.json.decode(row[1], type=dict[str, Any])


async def round_trip(source: str, target: str, file: Path, first: list[Any], later: list[Any]) -> None:
    async with hatbox.open(source) as profile:
        for change in [("create", "First", "red", "pet"), *first]:  # an unchanged profile would be filled again
            await profile.store.write(lambda each, change=change: apply(each, change))  # type: ignore[misc]
        await profile.backup(file)
    before = await asyncio.to_thread(rows_of, source)
    async with hatbox.open(target) as profile:
        report = await profile.restore(file)
        assert report.filled
    assert await asyncio.to_thread(rows_of, target) == before
    async with hatbox.open(source) as profile:
        for change in later:
            await profile.store.write(lambda each, change=change: apply(each, change))  # type: ignore[misc]
        await profile.store.write(remove_what_was_added(before))
        await profile.restore(file)
    after = await asyncio.to_thread(rows_of, source)
    assert without_counters(after) == without_counters(before)
    async with hatbox.open(source) as profile:
        report = await profile.restore(file)
        assert not report.changed
    assert await asyncio.to_thread(rows_of, source) == after


def remove_what_was_added(before: dict[str, list[tuple[Any, ...]]]) -> Any:
    """A restore leaves what the backup does not contain: other identities, rules, extensions and packages."""
    identities = {row[0] for row in before["identities"]}
    rules = {row[0] for row in before["rules"]}
    extensions = {row[0] for row in before["extension_data"]}
    packages = {row[0] for row in before["packages"]}

    def remove(transaction: Transaction) -> None:
        for row in transaction.identities.find():
            if row[0] not in identities:
                changes.remove(transaction, f"firefox-container-{row[0]}")
        for number, _ in transaction.rules.find():
            if number not in rules:
                transaction.rules.delete(number)
        for extension, _, _ in transaction.extensions.find("local"):
            if extension not in extensions:
                transaction.extensions.clear(extension)
        for digest in transaction.packages.digests():
            if digest not in packages:
                transaction.packages.delete(digest)

    return remove


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("sqlite", "sqlite"),
        pytest.param("sqlite", "postgres", marks=pytest.mark.server),
        pytest.param("postgres", "sqlite", marks=pytest.mark.server),
    ],
)
def test_backup_destroy_and_restore_gives_an_equal_profile(source: str, target: str) -> None:
    # A new profile of each store for each example.
    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(CHANGES, max_size=25), st.lists(CHANGES, max_size=15))
    def check(first: list[Any], later: list[Any]) -> None:
        with tempfile.TemporaryDirectory() as folder:

            def address(store: str, name: str) -> str:
                return shared_cluster().new_address() if store == "postgres" else str(Path(folder) / name)

            file = Path(folder) / "backup"
            asyncio.run(round_trip(address(source, "source.db"), address(target, "target.db"), file, first, later))

    check()
