"""Which identity an imported one is, also after it was renamed, recolored or removed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox.cookies import Cookie
from hatbox.errors import AmbiguousImport
from hatbox.formats import FORMATS, Bundle, BundleEntry, IdentityAttributes, ImportKey, ImportReport
from tests.formats.strategies import NOW, labels, timeless

NAMES = ["Personal", "Work", "Banking", "Shopping"]
RED = IdentityAttributes("Work", "pet", "red")


def cookie(value: str) -> Cookie:
    return Cookie(name="who", value=value, domain="site.example", created=NOW - 100, sequence=int(NOW - 100) * 10**6)


def entry(label: IdentityAttributes, key: str = "", value: str = "", lasting: bool = True) -> BundleEntry:
    source = ImportKey(key, lasting) if key else None
    return BundleEntry(label, [cookie(value)] if value else [], source=source)


async def cookies_by_name(profile: hatbox.Profile) -> dict[str, list[str]]:
    bundle = await profile.export_bundle()
    return {each.label.name if each.label else "": [found.value for found in each.cookies] for each in bundle.entries}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@pytest.mark.slow
@given(
    st.lists(labels, min_size=1, max_size=4),
    st.lists(
        st.tuples(
            st.integers(0, 7),
            st.one_of(st.none(), st.sampled_from([*NAMES, "New"])),
            st.sampled_from(get_args(hatbox.Color)),
            st.sampled_from(get_args(hatbox.Icon)),
        ),
        max_size=6,
    ),
    st.sampled_from(["source", "uuid"]),
)
@timeless
def test_after_any_renames_and_recolors_an_import_makes_no_second_identity_and_mixes_no_cookies(
    tmp_path_factory: pytest.TempPathFactory,
    looks: list[IdentityAttributes],
    changes: list[tuple[int, str | None, hatbox.Color, hatbox.Icon]],
    known_by: str,
) -> None:
    entries = [
        msgspec.structs.replace(
            entry(label, f"firefox:1:{place}" if known_by == "source" else "", f"v{place}"),
            uuid=f"u{place}" if known_by == "uuid" else "",
        )
        for place, label in enumerate(looks)
    ]
    bundle = Bundle(entries)

    async def run() -> None:
        async with hatbox.open(tmp_path_factory.mktemp("hatbox") / "profile.db") as profile:
            await profile.import_bundle(bundle)
            identities = [each.cookie_store_id for each in await profile.identities.query()]
            for number, name, color, icon in changes:
                chosen = identities[number % len(identities)]
                await profile.identities.update(chosen, name=name, color=color, icon=icon)
            before = {each.number: each.cookies for each in (await profile.export_bundle()).entries}
            again = await profile.import_bundle(bundle)
            assert (again.identities_new, again.cookies_new, again.cookies_changed) == (0, 0, 0)
            assert again.identities_matched == len(entries)
            assert {each.number: each.cookies for each in (await profile.export_bundle()).entries} == before

    asyncio.run(run())


def test_the_same_backup_after_a_recolor_makes_no_second_work(path: Path) -> None:
    async def run() -> None:
        async with hatbox.open(path) as profile:
            backup = FORMATS["json-lines"].write(await profile.export_bundle()).data
            await profile.identities.update("Work", color="red", icon="pet")
            await profile.identities.update("Banking", name="Money")
            report = await profile.import_bundle(FORMATS["json-lines"].read(backup, "backup.jsonl"))
            assert (report.identities_new, report.identities_matched) == (0, 4)
            assert [each.name for each in await profile.identities.query()] == ["Personal", "Work", "Money", "Shopping"]

    asyncio.run(run())


def test_without_a_known_source_the_only_one_with_the_name_is_it(path: Path) -> None:
    async def run() -> ImportReport:
        async with hatbox.open(path) as profile:
            report = await profile.import_bundle(Bundle([entry(RED, value="v")]))
            assert (await cookies_by_name(profile))["Work"] == ["v"]
            assert (await profile.identities.find("Work")).color == "orange", "what the user sees stays"
            return report

    report = asyncio.run(run())
    assert (report.identities_new, report.identities_matched) == (0, 1)


def test_several_with_the_name_are_not_guessed_and_the_choice_is_remembered(path: Path) -> None:
    async def run() -> None:
        async with hatbox.open(path) as profile:
            second = await profile.identities.create("Work", color="green")
            bundle = Bundle([entry(RED, "firefox:1:2", "v")])
            with pytest.raises(AmbiguousImport, match=r'2 identities are named "Work".*Nothing was imported') as caught:
                await profile.import_bundle(bundle)
            assert caught.value.candidates == ("firefox-container-2", second.cookie_store_id)
            assert not any((await cookies_by_name(profile)).values())
            await profile.import_bundle(bundle, second.cookie_store_id)
            assert (await profile.import_bundle(bundle)).cookies_unchanged == 1
            exported = await profile.export_bundle([second.cookie_store_id])
            assert [each.value for each in exported.entries[0].cookies] == ["v"]

    asyncio.run(run())


def test_two_imported_with_one_name_are_two(path: Path) -> None:
    async def run() -> None:
        async with hatbox.open(path) as profile:
            blue = msgspec.structs.replace(RED, color="blue")
            bundle = Bundle([entry(RED, value="red"), entry(blue, value="blue")])
            assert (await profile.import_bundle(bundle)).identities_new == 2
            assert (await profile.import_bundle(bundle)).identities_new == 0

    asyncio.run(run())


def test_a_place_that_holds_another_profile_now_is_not_taken_for_the_old_one(path: Path) -> None:
    async def run() -> None:
        async with hatbox.open(path) as profile:
            gifts = IdentityAttributes("Gifts", "gift", "red")
            await profile.import_bundle(Bundle([entry(gifts, "firefox:place:6", "gifts", lasting=False)]))
            bank = IdentityAttributes("Bank", "dollar", "green")
            report = await profile.import_bundle(Bundle([entry(bank, "firefox:place:6", "bank", lasting=False)]))
            assert report.identities_new == 1
            found = await cookies_by_name(profile)
            assert (found["Gifts"], found["Bank"]) == (["gifts"], ["bank"])

    asyncio.run(run())


def test_what_was_removed_is_made_again(path: Path) -> None:
    async def run() -> None:
        async with hatbox.open(path) as profile:
            gifts = IdentityAttributes("Gifts", "gift", "red")
            bundle = Bundle([entry(gifts, "firefox:1:6", "v")])
            await profile.import_bundle(bundle)
            await profile.identities.remove("Gifts")
            assert (await profile.import_bundle(bundle)).identities_new == 1
            assert (await cookies_by_name(profile))["Gifts"] == ["v"]

    asyncio.run(run())


def test_what_a_newer_version_has_remembered_does_not_stop_an_import(path: Path) -> None:
    async def run() -> None:
        async with hatbox.open(path) as profile:
            await profile.store.write(lambda each: each.settings.put(2, "import", b'{"new": 1}'))
            report = await profile.import_bundle(Bundle([entry(RED, "firefox:1:2", "v")]))
            assert report.identities_matched == 1

    asyncio.run(run())
