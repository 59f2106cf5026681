from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
import pytest

import hatbox
from hatbox.archive.identity_archive import ArchivedIdentity, decode_identity, encode_identity, read_identity
from hatbox.archive.identity_restore import restore_identity
from hatbox.errors import ArchiveDamaged, ArchiveTooNew
from hatbox.identities import changes
from hatbox.store.base import RESYNC, ChangeRecord, Transaction
from hatbox.tabs.strip import close_rows
from tests.archive.contents import cookie, fill_identity, fill_profile, rows_of, uuid_of

T = TypeVar("T")

WORK = 2


def run(address: str, *works: Callable[[Transaction], T]) -> list[T]:
    """Run transaction functions, each in a transaction of its own."""

    async def main() -> list[T]:
        async with hatbox.open(address) as profile:
            return [await profile.store.write(work) for work in works]

    return asyncio.run(main())


def archived(address: str, number: int = WORK) -> ArchivedIdentity:
    (found,) = run(address, lambda each: read_identity(each, number))
    assert found is not None
    return decode_identity(encode_identity(found))


def contents(found: ArchivedIdentity) -> dict[str, Any]:
    """What a user sees of an identity: without the ids of tabs and windows, and without times of access."""
    tabs = [
        {name: value for name, value in tab.columns.items() if name in ("url", "title", "pinned", "hidden", "status")}
        | {"page": tab.page, "values": tab.values}
        for tab in found.tabs
    ]
    return {
        "looks": (found.name, found.icon, found.color, found.hidden, found.index, found.uuid),
        "settings": found.settings,
        "cookies": sorted(found.cookies),
        "site data": found.site_data,
        "tabs": tabs,
        "rules": len(found.rules),
    }


def remove(transaction: Transaction) -> None:
    changes.remove(transaction, f"firefox-container-{WORK}")
    for number, rule in transaction.rules.find():
        if f'"firefox-container-{WORK}"'.encode() in rule:
            transaction.rules.delete(number)


def test_a_removed_identity_comes_back_with_everything_and_its_place(address: str) -> None:
    run(address, fill_profile)
    before = archived(address)
    run(address, remove)
    (done,) = run(address, lambda each: restore_identity(each, before, keep_id=True))
    assert (done.created, done.cookie_store_id, done.has_new_id) == (True, "firefox-container-2", False)
    assert (done.cookies_added, done.tabs_opened, done.sites_changed) == (3, 3, 2)
    assert contents(archived(address)) == contents(before)


def test_a_second_restore_changes_nothing(address: str) -> None:
    run(address, fill_profile)
    before = archived(address)
    run(address, remove)
    run(address, lambda each: restore_identity(each, before, keep_id=True))
    rows = rows_of(address)
    (again,) = run(address, lambda each: restore_identity(each, before, keep_id=True))
    assert not again.changed
    assert rows_of(address) == rows


def test_an_identity_that_exists_is_made_equal_and_never_doubled(address: str) -> None:
    run(address, fill_profile)
    before = archived(address)

    def change(transaction: Transaction) -> None:
        changes.update(transaction, "firefox-container-2", name="Renamed", color="red")
        fill_identity(transaction, WORK, "z")
        transaction.cookies.put(WORK, [cookie("a0", "changed")])
        transaction.site_data.put(WORK, "https://third.example", b"{}")
        transaction.settings.put(WORK, "extra", b"1")

    run(address, change)
    (done,) = run(address, lambda each: restore_identity(each, before, keep_id=True))
    assert (done.created, done.appearance_changed, done.settings_changed) == (False, True, True)
    assert (done.cookies_added, done.cookies_changed, done.cookies_removed) == (0, 1, 3)
    assert (done.tabs_opened, done.tabs_closed, done.sites_changed) == (0, 3, 2)
    found, wanted = contents(archived(address)), contents(before)
    assert found.pop("rules") == 2  # those that were added since stay
    assert wanted.pop("rules") == 1
    assert found == wanted
    (names,) = run(address, lambda each: [row[1] for row in each.identities.find()])
    assert sorted(names) == sorted(["Shopping", "Personal", "Work", "Späte Gäste \0"])


def test_restoring_one_identity_leaves_the_rows_of_others_as_they_are(address: str) -> None:
    run(address, fill_profile)
    before, rows = archived(address), rows_of(address)
    run(address, remove)
    run(address, lambda each: restore_identity(each, before, keep_id=True))
    after = rows_of(address)
    for table, column in (("cookies", 13), ("site_data", 2), ("settings", 0), ("identities", 0)):
        assert [row for row in after[table] if row[column] != WORK] == [
            row for row in rows[table] if row[column] != WORK
        ]
    for table in ("packages", "cookie_time", "trash"):
        assert after[table] == rows[table]


def test_an_id_that_was_never_given_out_is_kept_and_skipped_by_the_counter(address: str) -> None:
    run(address, lambda each: fill_identity(each, WORK))
    foreign = replaced(archived(address), id=20, uuid="00000000-0000-4000-8000-000000000020")
    (done,) = run(address, lambda each: restore_identity(each, foreign))
    assert (done.cookie_store_id, done.created) == ("firefox-container-20", True)
    (new,) = run(address, lambda each: each.identities.insert("Next", "pet", "red"))
    assert new == 21


def replaced(found: ArchivedIdentity, **changed: Any) -> ArchivedIdentity:
    return msgspec.structs.replace(found, **changed)


@pytest.mark.parametrize("number", [2, 5])
def test_an_id_of_another_identity_or_one_that_was_given_out_is_replaced_and_reported(
    address: str, number: int
) -> None:
    run(address, lambda each: fill_identity(each, WORK))
    foreign = replaced(archived(address), id=number, uuid="00000000-0000-4000-8000-000000000020")
    done, again = run(address, *[lambda each: restore_identity(each, foreign)] * 2)
    assert (done.cookie_store_id, done.has_new_id) == ("firefox-container-6", True)
    assert not again.changed
    (names,) = run(address, lambda each: [row[1] for row in each.identities.find()])
    assert {"Work", "Work (2)"} <= set(names)  # by the UUID it is another one


def test_open_programs_see_what_is_restored(address: str) -> None:
    run(address, fill_profile)
    before = archived(address)
    run(address, remove)

    async def main() -> tuple[list[str], list[str]]:
        async with hatbox.open(address) as watching, hatbox.open(address) as restoring:
            created: list[str] = []
            records: list[str] = []
            watching.identities.on_created.add_listener(lambda identity: created.append(identity.cookie_store_id))
            watching.store.subscribe(lambda record: records.append(record.topic))
            await restoring.store.write(lambda each: restore_identity(each, before, keep_id=True))
            await watching.store.deliver_pending_changes()
            assert len(await (await watching.cookie_store("Work")).cookies()) == 3
            return created, records

    created, records = asyncio.run(main())
    assert created == ["firefox-container-2"]
    assert records.count("cookies.changed") == 3
    assert records.count("tabs.created") == 3
    assert {"identities.settings", "rules.changed"} <= {*records}


@pytest.mark.slow
def test_a_restore_with_very_many_changes_makes_programs_reload(address: str) -> None:
    run(address, fill_profile)
    before = replaced(archived(address), cookies=[cookie(f"c{number}") for number in range(25_000)])
    records: list[ChangeRecord] = []

    async def main() -> None:
        async with hatbox.open(address) as profile:
            profile.store.subscribe(records.append)
            await profile.store.write(lambda each: restore_identity(each, before, keep_id=True))

    asyncio.run(main())
    assert RESYNC in [record.topic for record in records]
    assert len(records) < 100
    assert len(archived(address).cookies) == 25_000


def test_a_hidden_identity_comes_back_hidden_with_hidden_tabs(address: str) -> None:
    run(address, fill_profile, lambda each: changes.hide(each, "firefox-container-2"))
    before = archived(address)
    assert before.hidden
    run(address, remove)
    run(address, lambda each: restore_identity(each, before, keep_id=True))
    after = archived(address)
    assert after.hidden
    assert [tab.columns["hidden"] for tab in after.tabs] == [1, 1, 1]
    run(address, lambda each: changes.show(each, "firefox-container-2"))
    assert [tab.columns["hidden"] for tab in archived(address).tabs] == [0, 0, 0]


def test_tabs_come_back_between_their_neighbours_and_their_window_is_opened_again(address: str) -> None:
    run(address, fill_profile)
    before = archived(address)

    def close_all(transaction: Transaction) -> None:
        close_rows(transaction, transaction.tabs.find())

    run(address, remove, close_all)
    (done,) = run(address, lambda each: restore_identity(each, before, keep_id=True))
    assert done.tabs_opened == 3
    assert contents(archived(address)) == contents(before)
    (windows,) = run(address, lambda each: each.windows.find())
    assert len(windows) == 1
    (active,) = run(address, lambda each: [row.active for row in each.tabs.find()])
    assert sum(active) == 1


def test_the_bytes_of_an_identity_are_refused_if_one_is_changed(tmp_path: Any) -> None:
    found = ArchivedIdentity(
        id=7, uuid="u", name="Work", icon="pet", color="red", cookies=[cookie("a")], settings={"a": b"1"}
    )
    data = encode_identity(found)
    assert decode_identity(data) == found
    for place in range(len(data)):
        damaged = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        with pytest.raises(ArchiveDamaged):
            decode_identity(damaged)
        with pytest.raises(ArchiveDamaged):
            decode_identity(data[:place])
    with pytest.raises(ArchiveDamaged):
        decode_identity(data + b"\0")


def test_a_newer_version_of_the_bytes_is_named() -> None:
    data = b"hatbox identity\n" + bytes([2]) + b"anything"
    with pytest.raises(ArchiveTooNew, match="version 2"):
        decode_identity(data + hashlib.sha256(data).digest()[:16])


def test_a_crafted_identity_is_refused_and_nothing_changes(address: str) -> None:
    run(address, fill_profile)
    before, rows = archived(address), rows_of(address)
    bad_cookie = (*cookie("a")[:8], "sideways", *cookie("a")[9:])
    for changed in ({"id": 0}, {"id": 2**32}, {"uuid": ""}, {"name": " "}, {"cookies": [bad_cookie]}):
        with pytest.raises(ArchiveDamaged):
            run(address, lambda each, c=changed: restore_identity(each, replaced(before, **c)))  # type: ignore[misc]
    assert rows_of(address) == rows


def test_the_default_store_can_be_read(address: str) -> None:
    run(address, fill_profile)
    found = archived(address, 0)
    assert (found.id, found.uuid, len(found.cookies), len(found.tabs)) == (0, "", 3, 3)


def test_an_identity_that_does_not_exist_is_none(address: str) -> None:
    (found,) = run(address, lambda each: read_identity(each, 99))
    assert found is None


def test_unknown_uuid_is_not_found(address: str) -> None:
    found, missing = run(
        address,
        lambda each: each.identities.find_uuid(uuid_of(each, WORK)),
        lambda each: each.identities.find_uuid("unknown"),
    )
    assert (found, missing) == (WORK, None)
