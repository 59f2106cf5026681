"""The trash: removed identities come back as they were, once, and are gone for ever when the user says so."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hatbox
from hatbox.archive.identity_archive import read_identity
from hatbox.archive.identity_restore import restore_identity
from hatbox.identities import trash_rows
from hatbox.identities.clean_up import clean_up
from hatbox.identities.trash_state import TrashState, is_due, load_state
from hatbox.identity.ids import container_user_context_id
from hatbox.store.base import Transaction, TrashRow
from hatbox.store.profile_settings import PROFILE
from hatbox.store.record_tables import PageRow, VisitRow
from hatbox.tabs.pages import PageState, save_page_snapshot, update_page
from tests.api.caller import extension_browser
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess
from tests.store.store_clock import set_store_clock

DAY = 86_400.0
FOUR = ["Personal", "Work", "Banking", "Shopping"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


async def names(profile: hatbox.Profile) -> list[str]:
    return [identity.name for identity in await profile.identities.query()]


async def fill(profile: hatbox.Profile, identity: str = "Work", count: int = 3) -> None:
    """Give an identity cookies, tabs with pages, site data and settings."""
    store = await profile.cookie_store(identity)
    number = container_user_context_id((await profile.identities.find(identity)).cookie_store_id) or 0
    await store.receive([f"c{each}=v{each}; Path=/{each}" for each in range(count)], "https://site.example/")
    for each in range(count):
        tab = await profile.tabs.open(identity, f"https://site.example/{each}")
        page = PageState(f"https://site.example/{each}", f"Title {each}", "", 200, "text/html")
        await profile.tabs.write(lambda t, tab=tab, page=page: update_page(t, tab.id, 1, page))  # type: ignore[misc]
        await profile.tabs.write(lambda t, tab=tab: save_page_snapshot(t, tab.id, b"snapshot"))  # type: ignore[misc]

    def put(transaction: Transaction) -> None:
        transaction.site_data.put(number, "https://site.example", b"site data")
        transaction.settings.put(number, "settings", b'{"locale":"de-DE"}')
        transaction.history.put(PageRow(7, number, "https://site.example/0", "Title 0", 1, 0, 1.6e9))
        transaction.history.put_visits([VisitRow(8, number, 7, 1.6e9, "link", 0)])

    await profile.store.write(put)


def rows_of(transaction: Transaction, number: int) -> dict[str, Any]:
    """All rows of an identity, without the ids of its tabs, which are new after a restore."""
    tabs = transaction.tabs.find(store=number)
    indexes = transaction.tabs.indexes(tabs)
    own = ("url", "target", "title", "icon", "pinned", "hidden", "navigation", "begun", "loaded", "status", "error")
    return {
        "identity": transaction.identities.get(number),
        "uuid": transaction.identities.uuid(number),
        "position": transaction.identities.position(number),
        "order": [row[0] for row in transaction.identities.find()],
        "cookies": sorted(transaction.cookies.load(number)),
        "site data": transaction.site_data.load(number),
        "settings": transaction.settings.load(number),
        "history": (transaction.history.load(number), transaction.history.load_visits(number)),
        "tabs": [tuple(getattr(row, name) for name in own) for row in tabs],
        "places": [indexes[row.id] for row in tabs],
        "pages": [transaction.tabs.page_snapshot(row.id) for row in tabs],
    }


@in_loop
async def test_a_restored_identity_has_all_it_had_in_its_place_and_scripts_observe_it(path: Path) -> None:
    async with hatbox.open(path) as profile:
        seen: list[str] = []
        for name in ("created", "removed"):
            event = getattr(profile.identities, f"on_{name}")
            event.add_listener(lambda each, name=name: seen.append(f"{name} {each.cookie_store_id}"))
        browser = profile.browser(["contextualIdentities", "tabs", "cookies"])
        await fill(profile)
        await fill(profile, "Personal")
        before = await profile.store.read(lambda each: rows_of(each, 2))
        work = await profile.identities.remove("Work")
        assert work.cookie_store_id == "firefox-container-2"
        assert await names(profile) == ["Personal", "Banking", "Shopping"]
        with pytest.raises(hatbox.InvalidIdentity, match="Invalid contextual identity: firefox-container-2"):
            await browser.contextualIdentities.get("firefox-container-2")
        with pytest.raises(hatbox.InvalidIdentity):
            await profile.identities.remove(work)
        assert await browser.tabs.query({"cookieStoreId": "firefox-container-1"})
        assert (await profile.identities.create("Next")).cookie_store_id == "firefox-container-6"
        (removed,) = await profile.trash.list()
        assert (removed.name, removed.cookies, removed.tabs) == ("Work", 3, 3)
        assert removed.expires_at - removed.removed_at == 30 * DAY
        assert await profile.trash.restore("Work") == [work]
        await profile.identities.remove("Next", forever=True)
        assert await profile.store.read(lambda each: rows_of(each, 2)) == before
        assert await profile.trash.list() == []
        assert seen == [
            *("removed firefox-container-2", "created firefox-container-6"),
            *("created firefox-container-2", "removed firefox-container-6"),
        ]


@in_loop
async def test_a_restored_name_that_another_identity_has_gets_a_number(path: Path) -> None:
    async with hatbox.open(path) as profile:
        work = await profile.identities.remove("Work")
        await profile.identities.create("Work")
        [restored] = await profile.trash.restore("Work")
        assert (restored.name, restored.cookie_store_id) == ("Work (2)", work.cookie_store_id)
        assert len({*await names(profile)}) == 5


@in_loop
async def test_restoring_twice_and_unknown_or_ambiguous_names_change_nothing(path: Path) -> None:
    async with hatbox.open(path) as profile:
        twins = [await profile.identities.create("Twin") for _ in range(2)]
        for twin in twins:
            await profile.identities.remove(twin)
        await profile.identities.remove("Work")
        before = await profile.trash.list()
        with pytest.raises(hatbox.AmbiguousIdentity) as ambiguous:
            await profile.trash.restore("Twin")
        assert ambiguous.value.candidates == tuple(twin.cookie_store_id for twin in twins)
        with pytest.raises(hatbox.NotInTrash, match='Did you mean "Work"'):
            await profile.trash.restore(["Work", "Wrok"])
        with pytest.raises(TypeError):
            await profile.trash.restore([1])  # type: ignore[list-item]
        assert await profile.trash.list() == before
        assert len(await profile.trash.restore([twins[0].cookie_store_id, "Work", "firefox-container-2"])) == 2
        with pytest.raises(hatbox.NotInTrash):
            await profile.trash.restore("Work")
        (left,) = await profile.trash.list()
        assert await profile.trash.remove(left) == [left]
        with pytest.raises(hatbox.NotInTrash):
            await profile.trash.remove(left)
        assert await names(profile) == [*FOUR, "Twin"]


@in_loop
async def test_two_programs_restore_the_same_identity_at_once_and_it_is_restored_once(path: Path) -> None:
    async with hatbox.open(path) as here, hatbox.open(path) as there:
        await fill(here)
        await (await there.cookie_store("Work")).cookies()
        created: list[str] = []
        here.identities.on_created.add_listener(lambda each: created.append(each.name))
        await here.identities.remove("Work")
        # Both have found it before one of them restores it: else the slower one raises NotInTrash, which is right too.
        rows = await here.store.read(lambda transaction: trash_rows.find_in_trash(transaction, ["Work"]))
        one, two = await asyncio.gather(
            *(each.store.write(lambda transaction: trash_rows.restore(transaction, rows)) for each in (here, there))
        )
        assert one == two
        await here.store.deliver_pending_changes()
        assert created == ["Work"]
        assert len(await here.tabs.query("Work")) == 3
        for profile in (here, there):  # also what was cached before it was removed
            assert len(await (await profile.cookie_store("Work")).cookies()) == 3


@pytest.mark.smoke
@pytest.mark.process
@in_loop
async def test_a_program_that_is_killed_after_remove_loses_nothing(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
        before = await profile.store.read(lambda each: rows_of(each, 2))
    with OtherProcess(path) as other:
        other.identities("remove", "Work")
        other.kill()
    async with hatbox.open(path) as profile:
        await profile.trash.restore("Work")
        assert await profile.store.read(lambda each: rows_of(each, 2)) == before


@in_loop
async def test_what_expires_while_the_profile_is_closed_is_gone_when_it_opens(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.remove("Work")
        await profile.identities.remove("Banking")

        def age(transaction: Transaction, name: str, days: float) -> None:
            row = trash_rows.find_in_trash(transaction, [name])[0]
            found = transaction.trash.get(row.id)
            assert found
            transaction.trash.put(found[0]._replace(removed=transaction.time() - days * DAY), found[1])
            state = TrashState(1, transaction.time() - days * DAY)
            transaction.settings.put(PROFILE, "trash", msgspec.json.encode(state))

        await profile.store.write(lambda each: age(each, "Banking", 29.9))
        await profile.store.write(lambda each: age(each, "Work", 30.1))
        await profile.store.write(lambda each: each.cookie_time.put(each.time(), None, None))  # used just now
    async with hatbox.open(path) as profile:
        assert [each.name for each in await profile.trash.list()] == ["Banking"]
        assert (await profile.set_settings(trash_days=29)).trash_days == 29  # applies at once
        assert await profile.trash.list() == []


@in_loop
async def test_the_trash_is_bounded_and_the_first_removed_are_deleted_first(path: Path) -> None:
    async with hatbox.open(path) as profile:
        made = [await profile.identities.create(f"Identity {each}") for each in range(6)]
        for identity in made:
            await (await profile.cookie_store(identity)).receive([f"a={'x' * 3000}"], "https://site.example/")
        await profile.set_settings(trash_bytes=10_000)
        for identity in made:
            await profile.identities.remove(identity)
        listed = await profile.trash.list()
        assert [each.name for each in listed] == ["Identity 5", "Identity 4"]  # 5 % more than needed is freed
        assert sum(each.size for each in listed) <= 10_000
        await fill(profile, "Work", 10)
        await profile.set_settings(trash_bytes=500)
        assert await profile.trash.list() == []
        with pytest.raises(hatbox.TooLargeForTrash, match="is too large for the trash"):
            await profile.identities.remove("Work")
        assert len(await profile.tabs.query("Work")) == 10
        await profile.identities.remove("Work", forever=True)
        await profile.set_settings(trash_days=0)
        await profile.identities.remove("Banking")
        assert await profile.trash.list() == []
        for wrong in ({"trash_days": -1}, {"trash_bytes": 2**50}, {"trash_days": True}, {"trash_days": 1.5}):
            with pytest.raises(ValueError, match="must be a whole number"):
                await profile.set_settings(**wrong)
        with pytest.raises(TypeError, match="unknown setting: trash_dais"):
            await profile.set_settings(trash_dais=1)
        assert (await profile.settings()).trash_days == 0


@in_loop
async def test_temporary_identities_and_those_removed_for_ever_are_not_in_the_trash(path: Path) -> None:
    async with hatbox.open(path) as profile:
        async with profile.temporary() as identity:
            await profile.tabs.open(identity)
        await profile.identities.remove(await profile.create_temporary())
        await profile.identities.remove("Work", forever=True)
        assert await profile.trash.list() == []
        await profile.identities.remove("Banking")
        await profile.identities.remove("Shopping")
        assert {each.name for each in await profile.trash.empty()} == {"Banking", "Shopping"}
        assert await profile.trash.empty() == []
        assert not await profile.store.read(is_due)


@in_loop
async def test_a_damaged_entry_is_refused_and_stays(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.remove("Work")
        (row,) = await profile.store.read(lambda each: each.trash.find())
        await profile.store.write(lambda each: each.trash.put(row, b"garbage"))
        with pytest.raises(hatbox.HatboxError, match="Work in the trash"):
            await profile.trash.restore("Work")
        assert len(await profile.trash.list()) == 1
        assert await names(profile) == ["Personal", "Banking", "Shopping"]
        await profile.trash.empty()


@in_loop
async def test_an_identity_that_exists_again_is_not_overwritten(path: Path) -> None:
    async with hatbox.open(path) as profile:
        uuid = await profile.store.read(lambda each: each.identities.uuid(2))
        await fill(profile)
        await profile.identities.remove("Work")
        await profile.store.write(lambda each: each.identities.insert("Work", "pet", "red", uuid=uuid))
        with pytest.raises(hatbox.IdentityExists, match="firefox-container-6"):
            await profile.trash.restore("Work")
        with pytest.raises(hatbox.IdentityExists):
            await profile.trash.restore(["firefox-container-2"])
        assert len(await profile.trash.list()) == 1


@in_loop
async def test_an_identity_in_the_trash_that_is_restored_from_a_backup_has_its_old_id(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
        archived = await profile.store.read(lambda each: read_identity(each, 2))
        assert archived
        await profile.identities.remove("Work")
        await profile.store.write(lambda each: restore_identity(each, archived))
        assert (await profile.identities.find("Work")).cookie_store_id == "firefox-container-2"
        with pytest.raises(hatbox.IdentityExists):  # what is newer is not overwritten
            await profile.trash.restore("Work")
        await profile.trash.empty()
        assert len(await profile.tabs.query("Work")) == 3


@in_loop
async def test_the_tabs_of_a_restored_identity_are_loaded_by_a_running_engine(path: Path) -> None:
    from hatbox.testing import LoopbackSite

    with LoopbackSite() as site:
        one, two = site.page("/one", title="One"), site.page("/two", title="Two")
        async with hatbox.open(path) as profile, profile.http_engine() as engine:
            tab = await profile.tabs.open("Work", one)
            await engine.wait_until_loaded(tab.id)
            await profile.identities.remove("Work")
            await engine.wait_until_settled()
            await profile.trash.restore("Work")
            await engine.wait_until_settled()
            (again,) = await profile.tabs.query("Work")
            assert (again.url, again.title, again.error) == (one, "One", "")
            await profile.tabs.navigate(again.id, two)
            assert (await engine.wait_until_loaded(again.id)).title == "Two"
            await profile.identities.remove("Work")


# ---------------------------------------------------------------------------------------------------------- extensions


@in_loop
async def test_an_identity_that_an_extension_made_and_removes_itself_skips_the_trash(path: Path) -> None:
    details: Any = {"name": "Temporary container", "color": "blue", "icon": "circle"}
    async with hatbox.open(path) as profile:
        one, other = (
            extension_browser(profile, ["contextualIdentities"], name).contextualIdentities for name in ("one", "other")
        )
        script = profile.browser(["contextualIdentities"]).contextualIdentities
        removed: list[str] = []
        one.onRemoved.addListener(lambda change: removed.append(change["contextualIdentity"]["cookieStoreId"]))
        created: list[str] = []
        other.onCreated.addListener(lambda change: created.append(change["contextualIdentity"]["name"]))
        own, stolen, users, scripts = [
            (await api.create(details))["cookieStoreId"] for api in (one, one, script, script)
        ]
        for api, identity in ((one, own), (other, stolen), (one, users), (script, scripts)):
            await api.remove(identity)
        assert {each.cookie_store_id for each in await profile.trash.list()} == {stolen, users, scripts}
        assert removed == [own, stolen, users, scripts]
        await profile.trash.restore(stolen)  # who made it is restored too
        await one.remove(stolen)
        assert {each.cookie_store_id for each in await profile.trash.list()} == {users, scripts}
        assert created == ["Temporary container"] * 5
        await profile.set_settings(trash_skips_extensions=False)
        last = (await one.create(details))["cookieStoreId"]
        await one.remove(last)
        assert last in {each.cookie_store_id for each in await profile.trash.list()}


@in_loop
async def test_an_extension_removes_also_an_identity_that_is_too_large_for_the_trash(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await fill(profile)
        await profile.set_settings(trash_bytes=100)
        api = extension_browser(profile, ["contextualIdentities"], "one").contextualIdentities
        assert (await api.remove("firefox-container-2"))["name"] == "Work"
        assert await profile.trash.list() == []


# ------------------------------------------------------------------------------------------------------------ property

texts = st.text(st.characters(codec="utf-8"), max_size=8)
cookies = st.dictionaries(
    st.tuples(st.sampled_from(["a.example", "b.example"]), st.sampled_from(["/", "/p"]), texts), texts, max_size=6
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield tmp_path_factory.mktemp("property")


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    jar=cookies,
    sites=st.dictionaries(texts, st.binary(max_size=20), max_size=3),
    tabs=st.lists(st.tuples(st.sampled_from([1, 2]), st.booleans(), st.binary(max_size=10)), max_size=5),
    hidden=st.booleans(),
    moves=st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3)), max_size=3),
)
def test_remove_and_restore_give_equal_rows(
    folder: Path, jar: Any, sites: Any, tabs: Any, hidden: bool, moves: Any
) -> None:
    async def run() -> None:
        async with hatbox.open(folder / "profile.db") as profile:
            work = await profile.identities.find("Work")
            number = container_user_context_id(work.cookie_store_id) or 0
            for which, to in moves:
                await profile.identities.move((await profile.identities.query())[which], to)

            def put(transaction: Transaction) -> None:
                rows = [
                    (domain, 1, path, name, "", value, 0, 0, "lax", None, each, 1.0, 2.0)
                    for each, ((domain, path, name), value) in enumerate(jar.items())
                ]
                transaction.cookies.clear(number)
                transaction.cookies.put(number, rows)
                transaction.site_data.clear(number)
                for origin, data in sites.items():
                    transaction.site_data.put(number, origin, data)

            await profile.store.write(put)
            for store, pinned, page in tabs:
                tab = await profile.tabs.open("Work" if store == 2 else "Personal")
                await profile.tabs.write(lambda t, tab=tab, page=page: save_page_snapshot(t, tab.id, page))  # type: ignore[misc]
                if pinned:
                    await profile.store.write(lambda t, tab=tab: t.tabs.move(tab.id, tab.window_id, 0, pinned=1))  # type: ignore[misc]
            if hidden:
                await profile.identities.hide("Work")
            before = await profile.store.read(lambda each: rows_of(each, number))
            await profile.identities.remove("Work")
            assert await profile.store.read(lambda each: each.cookies.load(number)) == []
            await profile.trash.restore("Work")
            assert await profile.store.read(lambda each: rows_of(each, number)) == before
            await profile.tabs.close([tab.id for tab in await profile.tabs.query()])
            await profile.identities.show("Work")
            await clean_up(profile.store)

    asyncio.run(run())


def test_a_row_of_the_trash_has_no_data_in_listings() -> None:
    assert "data" not in TrashRow._fields


@in_loop
async def test_an_identity_that_a_backup_has_restored_is_removed_for_ever_with_its_earlier_entry(path: Path) -> None:
    backup = path.with_name("backup.hatbox")
    async with hatbox.open(path) as profile:
        await fill(profile)
        await profile.backup(backup)
        await profile.identities.remove("Work")
        assert len(await profile.trash.list()) == 1
        await profile.restore(backup, ["Work"])
        assert [each.name for each in await profile.trash.list()] == ["Work"]
        await profile.identities.remove("Work", forever=True)
        assert await profile.trash.list() == []
        assert await profile.store.read(lambda transaction: transaction.trash.total_bytes()) == 0


async def values(profile: hatbox.Profile, identity: Any) -> list[str]:
    return [cookie.value for cookie in await (await profile.cookie_store(identity)).cookies()]


@in_loop
async def test_an_older_state_never_replaces_the_entry_of_an_earlier_removal(path: Path) -> None:
    backup = path.with_name("backup.hatbox")
    async with hatbox.open(path) as profile:
        store = await profile.cookie_store("Work")
        await store.receive(["a=old"], "https://site.example/")
        await profile.rules.add("site.example", ["Work"])
        await profile.backup(backup)
        await store.receive(["a=newest"], "https://site.example/")
        await profile.identities.remove("Work")
        await profile.restore(backup, ["Work"])
        await profile.identities.remove("Work")
        old, newest = await profile.trash.list()
        assert (old.name, old.cookie_store_id) == ("Work", "firefox-container-2")
        assert (newest.name, newest.cookie_store_id) == ("Work", "firefox-container-6")
        assert old.uuid != newest.uuid
        state = await profile.store.read(lambda each: load_state(dict(each.settings.load(PROFILE))))
        assert state.bytes == old.size + newest.size
        assert state.bytes == await profile.store.read(lambda transaction: transaction.trash.total_bytes())
        with pytest.raises(hatbox.AmbiguousIdentity):
            await profile.trash.restore("Work")
        [again] = await profile.trash.restore(newest)
        assert again.cookie_store_id == "firefox-container-6"
        assert await values(profile, again) == ["newest"]
        assert [rule.identities for rule in await profile.rules.list()] == [("firefox-container-6",)]
        [before] = await profile.trash.restore(old)
        assert before.cookie_store_id == "firefox-container-2"
        assert await values(profile, before) == ["old"]
        assert (await profile.identities.create("Next")).cookie_store_id == "firefox-container-7"


@in_loop
async def test_a_damaged_entry_of_an_earlier_removal_stays_too(path: Path) -> None:
    backup = path.with_name("backup.hatbox")
    async with hatbox.open(path) as profile:
        await profile.backup(backup)
        await profile.identities.remove("Work")
        [row] = await profile.store.read(lambda each: each.trash.find())
        await profile.store.write(lambda each: each.trash.put(row, b"garbage"))
        await profile.restore(backup, ["Work"])
        await profile.identities.remove("Work")
        assert len(await profile.trash.list()) == 2
        assert (await profile.trash.restore("firefox-container-2"))[0].name == "Work"


@pytest.mark.parametrize("way", ["no trash", "too large", "own"])
@in_loop
async def test_every_removal_for_ever_deletes_the_entry_of_an_earlier_one(path: Path, way: str) -> None:
    backup = path.with_name("backup.hatbox")
    async with hatbox.open(path) as profile:
        api = extension_browser(profile, ["contextualIdentities"], "one").contextualIdentities
        made = (await api.create({"name": "Made", "color": "blue", "icon": "circle"}))["cookieStoreId"]
        await profile.backup(backup)
        await profile.identities.remove(made)
        await profile.restore(backup, ["Made"])
        assert len(await profile.trash.list()) == 1

        def limit(transaction: Transaction) -> None:  # without deleting what has no room
            name = "trash_days" if way == "no trash" else "trash_bytes"
            transaction.settings.put(PROFILE, name, b"0" if way == "no trash" else b"1")
            transaction.settings.put(PROFILE, "trash_skips_extensions", b"false")

        if way != "own":
            await profile.store.write(limit)
        await api.remove(made)
        assert await profile.trash.list() == []


@in_loop
async def test_garbage_in_place_of_the_state_does_not_prevent_opening(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.remove("Work")

        def put(transaction: Transaction) -> None:
            transaction.settings.put(PROFILE, "trash", b"\xff garbage")
            transaction.extensions.put("", "programs", "identity:1", b"[garbage")

        await profile.store.write(put)
    async with hatbox.open(path) as profile:
        [removed] = await profile.trash.list()
        assert (await profile.trash.restore([removed.name]))[0].name == "Work"


@in_loop
async def test_a_rule_that_was_replaced_since_stays_when_an_identity_comes_back(path: Path) -> None:
    async with hatbox.open(path) as profile:
        for pattern in ("replaced.example", "same.example"):
            await profile.rules.add(pattern, ["Work", "Banking"], ask=True)
        await profile.identities.remove("Work")
        await profile.rules.add("replaced.example", ["Banking"], replace=True)
        await profile.trash.restore("Work")
        found = {rule.pattern: len(rule.identities) for rule in await profile.rules.list()}
        assert found == {"replaced.example": 1, "same.example": 2}


def set_clock(monkeypatch: pytest.MonkeyPatch, ahead: float) -> None:
    set_store_clock(monkeypatch, 1_800_000_000.0 + ahead * DAY)


async def listed(path: Path) -> list[str]:
    async with hatbox.open(path) as profile:
        return [each.name for each in await profile.trash.list()]


@in_loop
async def test_a_clock_that_is_wrong_for_a_while_does_not_empty_the_trash(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, 0)
    async with hatbox.open(path) as profile:
        await profile.identities.remove("Work")
    for ahead in (60, 60.9, 1, 60, 60.9, 2):
        set_clock(monkeypatch, ahead)
        assert await listed(path) == ["Work"]
    set_clock(monkeypatch, 31)
    assert await listed(path) == ["Work"]
    set_clock(monkeypatch, 32)  # it has run for a day
    assert await listed(path) == []


@in_loop
async def test_a_wrong_clock_does_not_empty_the_trash_while_another_identity_waits_to_be_deleted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ahead, name in ((0, "Work"), (20, "Banking")):
        set_clock(monkeypatch, ahead)
        async with hatbox.open(path) as profile:
            await profile.identities.remove(name)
    set_clock(monkeypatch, 31)
    assert await listed(path) == ["Banking", "Work"]
    set_clock(monkeypatch, 90)
    assert await listed(path) == ["Banking"]
    for ahead in (33, 49, 51):
        set_clock(monkeypatch, ahead)
        assert await listed(path) == ["Banking"]
    set_clock(monkeypatch, 52)
    assert await listed(path) == []


@in_loop
async def test_a_lower_number_of_days_applies_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    set_clock(monkeypatch, 0)
    async with hatbox.open(path) as profile:
        await profile.identities.remove("Work")
        set_clock(monkeypatch, 5)
        await profile.set_settings(trash_bytes=10**6)
        assert len(await profile.trash.list()) == 1
        await profile.set_settings(trash_days=4)
        assert await profile.trash.list() == []


@in_loop
async def test_garbage_in_place_of_the_time_of_expiry_deletes_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_clock(monkeypatch, 0)
    async with hatbox.open(path) as profile:
        await profile.identities.remove("Work")
        await profile.store.write(lambda each: each.settings.put(PROFILE, "trash_expiry", b"garbage"))
    set_clock(monkeypatch, 60)
    assert await listed(path) == ["Work"]
    set_clock(monkeypatch, 61)
    assert await listed(path) == []


@in_loop
async def test_an_identity_that_is_too_large_for_the_trash_is_not_read(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hatbox.store.tables.tab_tables import SqlSiteDataTable

    async with hatbox.open(path) as profile:
        await fill(profile)
        await profile.set_settings(trash_bytes=5000)
        await profile.store.write(lambda each: each.site_data.put(2, "https://large.example", bytes(5001)))

        def load(_: object, store: int) -> None:
            raise AssertionError(f"the site data of {store} is loaded")

        monkeypatch.setattr(SqlSiteDataTable, "load", load)
        preview = await profile.identities.preview_removal("Work")
        assert (preview.destination, preview.cookies, preview.tabs) == ("too large", 3, 3)
        with pytest.raises(hatbox.TooLargeForTrash):
            await profile.identities.remove("Work")
        await profile.identities.remove("Work", forever=True)
        assert await profile.trash.list() == []
