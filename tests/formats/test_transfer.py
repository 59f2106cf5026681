from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

import hatbox
from hatbox.cookies import Cookie, Partition, RequestContext, SameSite
from hatbox.cookies.cookie_rows import load_cookies, write_changes
from hatbox.engines.running_engines import RunningEngine
from hatbox.engines.site_data_holders import SiteDataHolders
from hatbox.errors import IdentityNotFound
from hatbox.formats import FORMATS, Bundle, BundleEntry, IdentityAttributes, ImportReport, SiteData
from hatbox.formats import bundle_transfer as transfer
from hatbox.formats.adjacent_files import INDEXED_DB, RULES, SETTINGS, SITE_STORAGE, TABS
from hatbox.formats.cookie_merge import EXPIRED, INVALID, OVER_LIMIT
from hatbox.formats.firefox_profile import write_folder
from hatbox.formats.identity_match import UNKNOWN_LOOKS, UNNAMED
from hatbox.formats.site_data_merge import RUNNING, TOO_MUCH
from hatbox.store.base import Transaction
from hatbox.tabs.site_data import decode_site_data, encode_site_data
from tests.formats.strategies import NOW, bundles, timeless
from tests.postgres import is_on_server

WORK = IdentityAttributes("Work", "briefcase", "orange")
GIFTS = IdentityAttributes("Gifts", "gift", "red")
URL = "https://site.example/"
DATA = b'{"local":[["k","v"]],"databases":[{"name":"d","version":1,"stores":[]}]}'


def cookie(value: str = "1", **more: Any) -> Cookie:
    fields = {"name": "sid", "domain": "site.example", "created": NOW - 100, "sequence": int(NOW - 100) * 10**6}
    return Cookie(value=value, **{**fields, **more})


async def dump(path: Path) -> list[Any]:
    """What an import may change; in SQLite also the log of changes."""

    def read(transaction: Transaction) -> list[Any]:
        identities = transaction.identities.find()
        stores = [0, *(row[0] for row in identities)]
        return [
            identities,
            transaction.identities.uuids(),
            [load_cookies(transaction, number) for number in stores],
            [transaction.site_data.load(number) for number in stores],
            [transaction.settings.load(number) for number in stores],
        ]

    async with hatbox.open(path) as profile:
        found = await profile.store.read(read)
    if not is_on_server():
        with closing(sqlite3.connect(path)) as connection:
            found.append(connection.execute("SELECT * FROM changes").fetchall())
    return found


async def imported(path: Path, bundle: Bundle, into: str | None = None) -> ImportReport:
    async with hatbox.open(path) as profile:
        return await profile.import_bundle(bundle, into)


async def exported(path: Path, *identities: str) -> Bundle:
    async with hatbox.open(path) as profile:
        return await profile.export_bundle(identities or None)


def put(path: Path, *holdings: BundleEntry, into: str | None = None, ordered: bool = False) -> ImportReport:
    return asyncio.run(imported(path, Bundle(list(holdings), ordered=ordered), into))


def take(path: Path, *identities: str) -> Bundle:
    return asyncio.run(exported(path, *identities))


def contents(path: Path) -> dict[str, list[str]]:
    return {
        holding.label.name if holding.label else "": [each.pair for each in holding.cookies]
        for holding in take(path).entries
    }


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


# ----------------------------------------------------------------------------------------------- all or nothing


def test_a_fault_in_the_middle_leaves_nothing_behind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(path, BundleEntry(WORK, [cookie("old")]))
    before = asyncio.run(dump(path))
    calls: list[int] = []

    def failing(transaction: Any, number: int, changes: Any) -> None:
        calls.append(number)
        if number != 2:
            raise IdentityNotFound("a fault")
        write_changes(transaction, number, changes)

    monkeypatch.setattr(transfer, "write_changes", failing)
    with pytest.raises(IdentityNotFound, match="a fault"):
        put(path, BundleEntry(WORK, [cookie("new")]), BundleEntry(GIFTS, [cookie("new")]))
    assert 2 in calls
    assert asyncio.run(dump(path)) == before


def test_an_unknown_target_changes_nothing(path: Path) -> None:
    put(path)
    before = asyncio.run(dump(path))
    with pytest.raises(IdentityNotFound, match='Did you mean "Work"'):
        put(path, BundleEntry(None, [cookie()]), into="Wrok")
    assert asyncio.run(dump(path)) == before


@pytest.mark.slow
@given(bundles())
@timeless
def test_the_second_time_nothing_changes_and_no_change_is_told(
    tmp_path_factory: pytest.TempPathFactory, bundle: Bundle
) -> None:
    path = tmp_path_factory.mktemp("hatbox") / "profile.db"

    async def twice() -> None:
        async with hatbox.open(path) as profile:
            first = await profile.import_bundle(bundle)
            before = await dump(path)
            second = await profile.import_bundle(bundle)
            assert await dump(path) == before
            assert (second.identities_new, second.cookies_new, second.cookies_changed) == (0, 0, 0)
            assert second.cookies_unchanged == first.cookies_new == bundle.count

    asyncio.run(twice())


@pytest.mark.slow
@given(bundles())
@timeless
def test_what_goes_into_an_empty_profile_comes_out_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, bundle: Bundle
) -> None:
    path = tmp_path_factory.mktemp("hatbox") / "profile.db"

    async def there_and_back() -> Bundle:
        async with hatbox.open(path) as profile:
            for identity in await profile.identities.query():
                await profile.identities.remove(identity)
            await profile.import_bundle(bundle)
            return await profile.export_bundle()

    back = asyncio.run(there_and_back())
    expected = [(each.label, each.cookies) for each in bundle.entries if each.label or each.cookies]
    assert [(each.label, each.cookies) for each in back.entries] == expected


# --------------------------------------------------------------------------------------------------- identities


def test_an_identity_is_the_one_that_looks_the_same_and_each_is_taken_once(path: Path) -> None:
    twin = [BundleEntry(WORK, [cookie("first")]), BundleEntry(WORK, [cookie("second")])]
    other = BundleEntry(IdentityAttributes("Work", "briefcase", "red"), [cookie("third")])
    report = put(path, *twin, other)
    assert (report.identities_matched, report.identities_new) == (1, 2)
    found = [(each.number, each.cookies[0].value) for each in take(path).entries if each.cookies]
    assert found == [(2, "first"), (6, "second"), (7, "third")]
    assert put(path, *twin, other).identities_new == 0


def test_cookies_never_come_to_another_store(path: Path) -> None:
    put(
        path,
        BundleEntry(None, [cookie("none")]),
        BundleEntry(WORK, [cookie("work")]),
        BundleEntry(GIFTS, [cookie("gifts")]),
    )
    assert contents(path) == {
        "": ["sid=none"],
        "Personal": [],
        "Work": ["sid=work"],
        "Banking": [],
        "Shopping": [],
        "Gifts": ["sid=gifts"],
    }
    assert [each.pair for holding in take(path, "Work").entries for each in holding.cookies] == ["sid=work"]


def test_into_takes_names_ids_and_the_store_of_none(path: Path) -> None:
    for into in ("Work", "firefox-container-3", "firefox-default"):
        put(path, BundleEntry(None, [cookie(into)]), into=into)
    filled = {name: pairs for name, pairs in contents(path).items() if pairs}
    assert filled == {
        "": ["sid=firefox-default"],
        "Work": ["sid=Work"],
        "Banking": ["sid=firefox-container-3"],
    }


def test_an_unknown_color_becomes_a_neutral_one_and_is_told(path: Path) -> None:
    odd = BundleEntry(IdentityAttributes("Odd", "nope", "mauve"), [cookie()])
    report = put(path, odd)
    assert report.dropped == {UNKNOWN_LOOKS: 1}
    label = take(path).entries[-1].label
    assert label == IdentityAttributes("Odd", "circle", "gray", False)
    assert put(path, odd).identities_new == 0


def test_an_identity_without_a_name_is_skipped_and_told(path: Path) -> None:
    assert put(path, BundleEntry(IdentityAttributes(" ", "gift", "red"), [cookie()])).skipped == {UNNAMED: 1}
    assert len(contents(path)) == 4


def test_order_and_hidden_are_carried_where_they_are_the_users(path: Path, tmp_path: Path) -> None:
    async def arranged() -> Bundle:
        async with hatbox.open(path) as profile:
            await profile.identities.create("Gifts", color="red", icon="gift")
            await profile.identities.move("firefox-container-4", 0)
            await profile.identities.move("firefox-container-6", 1)
            await profile.identities.hide("firefox-container-2")
            return await profile.export_bundle()

    bundle = asyncio.run(arranged())
    elsewhere = tmp_path / "elsewhere.db"
    put(elsewhere, BundleEntry(IdentityAttributes("Own", "pet", "blue")))
    asyncio.run(imported(elsewhere, bundle))
    labels = [each.label for each in take(elsewhere).entries]
    assert [label and label.name for label in labels] == ["Shopping", "Gifts", "Personal", "Work", "Own", "Banking"]
    assert [label.name for label in labels if label and label.hidden] == ["Work"]


# ------------------------------------------------------------------------------------------------------ cookies


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({"expires": NOW - 1}, EXPIRED),
        ({"domain": "exa mple"}, INVALID),
        ({"domain": ""}, INVALID),
        ({"domain": "UPPER.example"}, INVALID),
        ({"domain": "co.uk", "host_only": False}, INVALID),
        ({"value": "v" * 5000}, INVALID),
        ({"value": "a;b"}, INVALID),
        ({"value": "a\nb"}, INVALID),
        ({"name": "", "value": ""}, INVALID),
        ({"name": "", "value": "a=b"}, INVALID),
        ({"name": "__Host-x", "secure": False}, INVALID),
        ({"path": "x"}, INVALID),
        ({"path": "/" + "x" * 2000}, INVALID),
        ({"partition": Partition("top.example^")}, INVALID),
    ],
)
def test_cookies_that_cannot_be_are_skipped_and_counted(path: Path, bad: dict[str, Any], reason: str) -> None:
    report = put(path, BundleEntry(WORK, [cookie("good"), cookie(**{"name": "bad", **bad})]))
    assert report.skipped == {reason: 1}
    assert report.cookies_new == 1
    assert contents(path)["Work"] == ["sid=good"]


def test_times_of_the_source_are_kept_and_never_lie_in_the_future(path: Path) -> None:
    old = cookie(name="old", created=1e9, sequence=10**15, last_access=1.5e9)
    future = cookie(name="future", created=NOW * 2, sequence=2**70, last_access=NOW * 3)
    put(path, BundleEntry(WORK, [old, future]))
    first, second = take(path, "Work").entries[0].cookies
    assert (first.created, first.sequence, first.last_access) == (1e9, 10**15, 1.5e9)
    assert NOW <= second.created <= NOW + 3600
    assert second.sequence <= (NOW + 3600) * 10**6


def test_without_times_the_order_of_the_source_is_that_of_age(path: Path) -> None:
    names = list("hatbox")
    put(path, BundleEntry(None, [Cookie(name=name, value="", domain="site.example") for name in names]), into="Work")
    put(path, BundleEntry(None, [Cookie(name="h", value="new", domain="site.example")]), into="Work")
    assert [each.name for each in take(path, "Work").entries[0].cookies] == names


def test_a_partitioned_cookie_goes_with_the_requests_of_the_page_that_it_is_for(path: Path) -> None:
    fields: dict[str, Any] = {"secure": True, "same_site": SameSite.NONE}
    embedded = cookie("embedded", **fields, partition=Partition("https://top.example"))  # as Firefox would spell it
    own = cookie("own", **fields, partition=Partition("https://site.example"))
    page = RequestContext(site_for_cookies="https://top.example", partition=Partition("https://top.example", True))

    async def sent() -> tuple[str, str]:
        async with hatbox.open(path) as profile:
            await profile.import_bundle(Bundle([BundleEntry(WORK, [embedded, own])]))
            again = await profile.import_bundle(Bundle([BundleEntry(WORK, [embedded, own])]))
            assert again.cookies_unchanged == 2
            store = await profile.cookie_store("Work")
            return await store.header(URL, page), await store.header(URL)

    assert asyncio.run(sent()) == ("sid=embedded", "sid=own")


def test_of_two_with_one_key_the_last_counts_each_time(path: Path) -> None:
    holding = BundleEntry(WORK, [cookie("1"), cookie("2")])
    assert put(path, holding).cookies_new == 1
    assert put(path, holding).cookies_unchanged == 1
    assert contents(path)["Work"] == ["sid=2"]


def test_what_differs_is_replaced_and_told_as_that(path: Path) -> None:
    put(path, BundleEntry(WORK, [cookie("1")]))

    async def replaced() -> list[tuple[str, bool, str]]:
        told: list[tuple[str, bool, str]] = []
        async with hatbox.open(path) as profile:
            profile.cookies.on_changed.add_listener(
                lambda change: told.append((change.cookie.value, change.removed, change.cause.value))
            )
            report = await profile.import_bundle(Bundle([BundleEntry(WORK, [cookie("2", same_site=SameSite.LAX)])]))
            assert (report.cookies_new, report.cookies_changed) == (0, 1)
        return told

    assert asyncio.run(replaced()) == [("1", True, "overwrite"), ("2", False, "explicit")]


def test_a_store_is_not_filled_beyond_its_limits_and_no_change_is_told_the_second_time(path: Path) -> None:
    many = [cookie(name=f"n{number}", last_access=NOW - 1000 + number) for number in range(200)]
    report = put(path, BundleEntry(WORK, many))
    assert (report.cookies_new, report.skipped) == (180, {OVER_LIMIT: 20})
    before = asyncio.run(dump(path))
    again = put(path, BundleEntry(WORK, many))
    assert (again.cookies_new, again.cookies_changed, again.cookies_unchanged) == (0, 0, 180)
    assert again.skipped == report.skipped
    assert asyncio.run(dump(path)) == before


def test_two_holdings_of_one_store_do_not_drive_each_other_out_in_turn(path: Path) -> None:
    def untimed(letter: str) -> BundleEntry:
        return BundleEntry(None, [Cookie(name=f"{letter}{n}", value="", domain="site.example") for n in range(150)])

    assert put(path, untimed("a"), untimed("b"), into="Work").skipped == {OVER_LIMIT: 120}
    before = asyncio.run(dump(path))
    put(path, untimed("a"), untimed("b"), into="Work")
    assert asyncio.run(dump(path)) == before


def test_who_is_driven_out_by_an_import_is_told_of_and_a_jar_that_is_open_knows(path: Path) -> None:
    async def crowded() -> tuple[set[str], int]:
        told: set[str] = set()
        async with hatbox.open(path) as profile:
            store = await profile.cookie_store("Work")
            await store.receive([f"own{number}=1" for number in range(100)], URL)
            profile.cookies.on_changed.add_listener(
                lambda change: told.add(change.cookie.name) if change.cause.value == "evicted" else None
            )
            new = [Cookie(name=f"n{number}", value="", domain="site.example") for number in range(100)]
            await profile.import_bundle(Bundle([BundleEntry(WORK, new)]))
            return told, len(await store.cookies())

    told, count = asyncio.run(crowded())
    assert count == 180
    assert told == {f"own{number}" for number in range(20)}


# --------------------------------------------------------------------------------------------- jars that are open


def test_a_jar_that_is_open_here_sees_the_import(path: Path) -> None:
    async def seen() -> None:
        async with hatbox.open(path) as profile:
            store = await profile.cookie_store("Work")
            await store.receive(["sid=old; Path=/", "own=1; Path=/"], URL)
            await profile.import_bundle(
                Bundle([BundleEntry(WORK, [cookie("new")]), BundleEntry(GIFTS, [cookie("gifts")])])
            )
            assert await store.header(URL) == "sid=new; own=1"
            # and goes on as ever: what it does itself, and what others do
            await store.receive(["sid=newer; Path=/"], URL)
            assert await store.header(URL) == "sid=newer; own=1"
            async with hatbox.open(path) as other:
                await (await other.cookie_store("Work")).receive(["sid=newest; Path=/"], URL)
            assert await store.header(URL) == "sid=newest; own=1"

    asyncio.run(seen())


def test_an_import_and_a_response_at_the_same_time_end_as_they_were_begun(path: Path) -> None:
    async def together(import_first: bool) -> tuple[str, str]:
        async with hatbox.open(path) as profile:
            store = await profile.cookie_store("Work")
            await store.receive(["sid=old; Path=/"], URL)
            bundle = Bundle([BundleEntry(WORK, [cookie("imported")])])
            calls = [profile.import_bundle(bundle), store.receive(["sid=received; Path=/"], URL)]
            await asyncio.gather(*(calls if import_first else reversed(calls)))
            here = await store.header(URL)
        async with hatbox.open(path) as profile:
            return here, await (await profile.cookie_store("Work")).header(URL)

    for import_first in (True, False):
        here, on_disk = asyncio.run(together(import_first))
        assert here == on_disk


def test_a_jar_of_another_process_sees_the_import(path: Path) -> None:
    async def seen() -> str:
        async with hatbox.open(path) as profile, hatbox.open(path) as other:
            store = await other.cookie_store("Work")
            await profile.import_bundle(Bundle([BundleEntry(WORK, [cookie("new")])]))
            return await store.header(URL)

    assert asyncio.run(seen()) == "sid=new"


def test_what_a_format_does_not_carry_is_counted_and_reported(tmp_path: Path) -> None:
    def fill(transaction: Transaction) -> None:
        transaction.site_data.put(2, "https://a.example", DATA)
        transaction.site_data.put(2, "https://b.example", b'{"local":[["k","v"]],"databases":[]}')
        transaction.settings.put(2, "settings", b'{"proxy":"direct"}')
        transaction.rules.insert(b'{"pattern":"x","identities":["firefox-container-2"]}')
        transaction.rules.insert(b'{"pattern":"y","identities":["firefox-container-22"]}')

    async def use() -> tuple[Bundle, Bundle]:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            await profile.store.write(fill)
            await profile.tabs.open("Work", "https://a.example/")
            return await profile.export_bundle(["Work"]), await profile.export_bundle(["Personal"])

    work, personal = asyncio.run(use())
    site_data = {SITE_STORAGE: 2, INDEXED_DB: 1}
    beside = {TABS: 1, SETTINGS: 1, RULES: 1}
    for name, each in FORMATS.items():
        carries = name in ("storage-state", "json-lines")
        written = each.write(work)
        assert written.dropped == beside | ({} if carries else site_data), name
        assert written.origins == (2 if carries else 0)
        assert not each.write(personal).dropped, name
    assert write_folder(work, tmp_path / "firefox")[1] == beside | site_data


# ------------------------------------------------------------------------------------------------------ site data


def stored(path: Path, number: int = 2) -> dict[str, Any]:
    async def read_all() -> list[tuple[str, bytes]]:
        async with hatbox.open(path) as profile:
            return await profile.store.read(lambda each: each.site_data.load(number))

    return {origin: decode_site_data(data) for origin, data in asyncio.run(read_all())}


def site(local: dict[str, str], *databases: str) -> SiteData:
    made = [{"name": each, "version": 1, "stores": []} for each in databases]
    return SiteData("https://a.example", encode_site_data({"local": list(local.items()), "databases": made}))


def test_imported_site_data_joins_what_is_stored_and_the_second_time_nothing_changes(path: Path) -> None:
    first = put(path, BundleEntry(WORK, site_data=[site({"own": "1", "both": "1"}, "one")]))
    assert (first.origins_new, first.origins_changed) == (1, 0)
    new = BundleEntry(WORK, site_data=[site({"both": "2", "new": "\ud800"}, "two")])
    assert put(path, new).origins_changed == 1
    found = stored(path)["https://a.example"]
    assert found["local"] == [["own", "1"], ["both", "2"], ["new", "\ud800"]]
    assert [each["name"] for each in found["databases"]] == ["one", "two"]
    again = put(path, new)
    assert (again.origins_new, again.origins_changed, again.origins_unchanged) == (0, 0, 1)
    assert stored(path, 1) == stored(path, 0) == {}


def test_more_site_data_than_a_browser_takes_is_skipped_and_what_is_stored_stays(path: Path) -> None:
    put(path, BundleEntry(WORK, site_data=[site({"own": "1"})]))
    report = put(path, BundleEntry(WORK, site_data=[site({"big": "x" * (5 * 2**20 + 1)})]))
    assert report.skipped == {TOO_MUCH: 1}
    assert stored(path)["https://a.example"]["local"] == [["own", "1"]]


def test_site_data_is_not_imported_under_a_running_browser(path: Path) -> None:
    bundle = Bundle([BundleEntry(None, [cookie()], site_data=[site({"k": "v"})])])
    engines = [
        RunningEngine("the HTTP engine", None, None, None),
        RunningEngine("Chromium", None, ("firefox-container-2",), None),
    ]
    running = SiteDataHolders(engines)

    async def imported() -> tuple[ImportReport, ImportReport]:
        async with hatbox.open(path) as profile:
            write = profile.store.write
            return (
                await write(lambda each: transfer.import_bundle(each, bundle, NOW, "Work", running=running)),
                await write(lambda each: transfer.import_bundle(each, bundle, NOW, "Banking", running=running)),
            )

    work, banking = asyncio.run(imported())
    assert (work.cookies_new, work.skipped) == (1, {RUNNING: 1})
    assert (banking.origins_new, banking.skipped) == (1, {})
    assert stored(path) == {}
