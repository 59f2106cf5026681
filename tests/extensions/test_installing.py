"""Whose data and grants an extension gets: what is installed, updated and replaced, and what only has the same id.

An impostor is a package with the id of an installed extension. Whatever way it is started, it must get nothing.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.errors import AlreadyInstalled, ExtensionError, ExtensionNotFound, PackageError
from hatbox.extension_data import granted_permissions as granted
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data.extension_permissions import Permissions
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extensions.extension import Extension
from hatbox.extensions.package import stored_package as stored
from hatbox.extensions.package.package_files import open_package
from hatbox.store.processes import start_time
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.waiting import until

ID = "helper@example.org"
COOKIES = Permissions(("cookies",), ("https://bank.example/*",))
KEYS: dict[str, Any] = {
    "permissions": ["storage", "sessions", "alarms", "menus"],
    "optional_permissions": ["cookies", "https://bank.example/*"],
    "browser_specific_settings": {"gecko": {"id": ID}},
}
SEES = """
(async () => ({
  local: await browser.storage.local.get(), sync: await browser.storage.sync.get(),
  web: {...localStorage}, alarms: await browser.alarms.getAll(), held: await browser.permissions.getAll(),
  cookies: typeof browser.cookies, managed: await browser.storage.managed.get().catch(error => error.message),
}))()
"""
NOTHING = {
    "local": {},
    "sync": {},
    "web": {},
    "alarms": [],
    "held": {"permissions": KEYS["permissions"], "origins": [], "data_collection": []},
    "cookies": "undefined",
    "managed": "Managed storage manifest not found",
}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty, for each test."""
    monkeypatch.setenv("HATBOX_CACHE", str(tmp_path / "cache"))


def helper(folder: Path, background: str = "", **keys: Any) -> Path:
    return make(folder, background, name="helper", **{**KEYS, **keys})


def wallpapers(folder: Path, background: str = "", name: str = "wallpapers", **keys: Any) -> Path:
    """The impostor."""
    return make(folder, background, name=name, **{**KEYS, **keys})


def with_profile(tmp_path: Path, use: Callable[[Profile], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(120), hatbox.open(tmp_path / "profile.db") as profile:
            await use(profile)

    asyncio.run(main())


async def install_helper(profile: Profile, folder: Path) -> None:
    """Install the helper, run it, let it store secrets, and grant it cookies."""
    await profile.extensions.install(folder)
    extension = await profile.extensions.start(await profile.extensions.package(ID))
    await extension.evaluate(
        """
        await browser.storage.local.set({password: "secret"});
        await browser.storage.sync.set({password: "secret"});
        localStorage.password = "secret";
        """
    )
    await profile.extensions.stop(extension)
    await profile.extensions.grant(ID, COOKIES)
    managed = Path(profile.address).parent / "managed-storage"
    managed.mkdir(exist_ok=True)
    (managed / f"{ID}.json").write_text('{"license": "secret"}')


async def seen(profile: Profile, what: Any) -> Any:
    """What the scripts of an extension find."""
    extension = await profile.extensions.start(what)
    try:
        assert extension.id == ID
        return await extension.evaluate(SEES)
    finally:
        await profile.extensions.stop(extension)


async def helper_has_all(profile: Profile) -> None:
    found = await seen(profile, await profile.extensions.package(ID))
    assert (found["local"], found["web"]) == ({"password": "secret"}, {"password": "secret"})
    assert found["cookies"] == "object"
    assert found["managed"] == {"license": "secret"}


def rows(profile: Profile) -> Awaitable[set[str]]:
    """Which areas have data."""
    kinds = ("storage.local", "storage.sync", "localStorage", "granted", "installed")
    return profile.store.read(lambda each: {row[0] for kind in kinds for row in each.extensions.find(kind)})


# ------------------------------------------------------------------------------------------------------- the impostor


@needs_deno
def test_a_folder_with_the_id_of_an_installed_extension_gets_nothing_of_it(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await install_helper(profile, helper(tmp_path / "a"))
        impostor = wallpapers(tmp_path / "b")
        assert await seen(profile, impostor) == NOTHING
        copy = Path(shutil.copytree(tmp_path / "a" / "helper", tmp_path / "copy"))  # a moved folder, also
        assert await seen(profile, copy) == NOTHING
        archive = shutil.make_archive(str(tmp_path / "x"), "zip", copy)
        assert await seen(profile, archive) == NOTHING
        await helper_has_all(profile)

    with_profile(tmp_path, use)


@needs_deno
def test_a_folder_in_the_place_of_the_installed_one_gets_nothing_under_another_name(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        place = helper(tmp_path)
        await install_helper(profile, place)
        shutil.rmtree(place)
        wallpapers(tmp_path).rename(place)
        assert await seen(profile, place) == NOTHING
        with pytest.raises(AlreadyInstalled):
            await profile.extensions.install(place)
        await helper_has_all(profile)

    with_profile(tmp_path, use)


@needs_deno
def test_a_link_gives_what_it_leads_to_and_not_what_it_led_to(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        link = tmp_path / "link"
        link.symlink_to(helper(tmp_path / "a"))
        await install_helper(profile, link)
        assert (await seen(profile, link))["local"] == {"password": "secret"}
        link.unlink()
        link.symlink_to(helper(tmp_path / "b"))
        assert await seen(profile, link) == NOTHING
        with pytest.raises(AlreadyInstalled):
            await profile.extensions.install(link)
        shutil.rmtree(tmp_path / "a" / "helper")
        (tmp_path / "a" / "helper").symlink_to(tmp_path / "b" / "helper")
        assert await seen(profile, tmp_path / "a" / "helper") == NOTHING
        await helper_has_all(profile)

    with_profile(tmp_path, use)


@needs_deno
def test_a_link_that_changes_between_reading_and_starting_gives_nothing(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await install_helper(profile, helper(tmp_path / "a"))
        link = tmp_path / "link"
        link.symlink_to(helper(tmp_path / "b", "var evil = true;"))
        package = open_package(link)
        link.unlink()
        link.symlink_to(tmp_path / "a" / "helper")
        assert await seen(profile, package) == NOTHING
        extension = await profile.extensions.start(package)
        assert await extension.evaluate("evil")
        await profile.extensions.reload(ID)
        assert await extension.evaluate("[evil, await browser.storage.local.get()]") == [True, {}]

    with_profile(tmp_path, use)


@needs_deno
def test_it_cannot_read_what_is_granted_later_either(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await install_helper(profile, helper(tmp_path / "a"))
        await profile.extensions.revoke(ID, COOKIES)
        impostor = await profile.extensions.start(wallpapers(tmp_path / "b"))
        await impostor.evaluate("browser.storage.local.set({password: 'stolen'})")
        await profile.extensions.grant(ID, COOKIES)
        await profile.store.deliver_pending_changes()
        assert await impostor.evaluate("typeof browser.cookies") == "undefined"
        with pytest.raises(ExtensionError, match="is already running"):
            await profile.extensions.start(await profile.extensions.package(ID))
        shown = await impostor.evaluate("browser.management.getSelf()")
        assert (shown["id"], shown["name"], shown["installType"]) == (ID, "wallpapers", "development")
        await profile.extensions.stop(impostor)
        await helper_has_all(profile)
        assert (await seen(profile, wallpapers(tmp_path / "b")))["local"] == {"password": "stolen"}

    with_profile(tmp_path, use)


@needs_deno
def test_it_removes_only_itself(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await install_helper(profile, helper(tmp_path / "a"))
        impostor = await profile.extensions.start(wallpapers(tmp_path / "b"))
        await impostor.evaluate("void browser.management.uninstallSelf()")
        await until(lambda: not profile.extensions.running)
        await helper_has_all(profile)

    with_profile(tmp_path, use)


# ------------------------------------------------------------------------------------------------ install and replace


@needs_deno
def test_a_known_id_from_elsewhere_is_refused_and_both_are_shown(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await install_helper(profile, helper(tmp_path / "a"))
        impostor = wallpapers(tmp_path / "b", permissions=["storage", "cookies", "<all_urls>"])
        with pytest.raises(AlreadyInstalled) as refused:
            await profile.extensions.install(impostor)
        for words in (
            f'"helper" 1, from {tmp_path / "a" / "helper"}',
            f'"wallpapers" 1, from {impostor}',
            "It requires cookies, <all_urls> in addition and does not require sessions, alarms, menus.",
            "--replace",
        ):
            assert words in str(refused.value)
        await helper_has_all(profile)
        (left,) = await profile.extensions.installed()
        assert left.name == "helper"

    with_profile(tmp_path, use)


@needs_deno
@pytest.mark.parametrize("keep_data", [False, True])
def test_a_replacement_has_no_grants_and_data_only_if_asked_for(tmp_path: Path, keep_data: bool) -> None:
    async def use(profile: Profile) -> None:
        await install_helper(profile, helper(tmp_path / "a"))
        before = await profile.store.read(lambda each: each.packages.digests())
        done = await profile.extensions.install(
            wallpapers(tmp_path / "b", version="7"), replace=True, keep_data=keep_data
        )
        assert done.before is not None
        assert (done.before.name, done.replaced, done.has_data) == ("helper", True, keep_data)
        assert done.dropped == COOKIES
        found = await seen(profile, await profile.extensions.package(ID))
        assert found["local"] == found["web"] == found["sync"] == ({"password": "secret"} if keep_data else {})
        assert (found["held"], found["cookies"]) == (NOTHING["held"], "undefined")
        after = await profile.store.read(lambda each: each.packages.digests())
        assert len(after) == 1
        assert after != before

    with_profile(tmp_path, use)


@needs_deno
def test_one_that_runs_is_stopped_before_it_is_replaced_and_leaves_nothing(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        folder = helper(tmp_path / "a")
        await install_helper(profile, folder)
        ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        extension = await profile.extensions.start(folder, on_exit=lambda reason, _: ended.set_result(str(reason)))
        await extension.evaluate("localStorage.late = 'secret'")
        await profile.extensions.install(wallpapers(tmp_path / "b"), replace=True)
        assert "it was replaced" in await ended
        found = await seen(profile, await profile.extensions.package(ID))
        assert (found["local"], found["web"]) == ({}, {})

    with_profile(tmp_path, use)


async def run_elsewhere(profile: Profile, *, since: str | None = None) -> None:
    """Note that the helper runs in the process that has started this one."""
    since = start_time(os.getppid()) if since is None else since
    record = {"id": ID, "name": "helper", "process": os.getppid(), "since": since}
    value = json.dumps({**record, "manifest": {}, "extension_id": ID}).encode()
    await profile.store.write(lambda each: each.extensions.put(ID, "running", "", value))


def test_one_that_runs_in_another_process_is_not_replaced(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await profile.extensions.install(helper(tmp_path / "a"))
        await run_elsewhere(profile)
        with pytest.raises(ExtensionError, match=rf"helper is running \(pid {os.getppid()}\)\. Stop it"):
            await profile.extensions.install(wallpapers(tmp_path / "b"), replace=True)
        (left,) = await profile.extensions.installed()
        assert left.name == "helper"

    with_profile(tmp_path, use)


def test_until_a_removed_one_has_ended_in_another_process_nothing_gets_its_data_area(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await profile.extensions.install(helper(tmp_path / "a"))
        await run_elsewhere(profile)
        await profile.extensions.remove(ID)
        # What it writes before it ends.
        await profile.store.write(lambda each: each.extensions.put(ID, "storage.local", "password", b'"secret"'))
        with pytest.raises(ExtensionError, match=rf"is running \(pid {os.getppid()}\)"):
            await profile.extensions.install(wallpapers(tmp_path / "b"))
        await run_elsewhere(profile, since="long ago")
        await profile.extensions.install(wallpapers(tmp_path / "b"))
        assert await profile.store.read(lambda each: each.extensions.find("storage.local")) == []
        await run_elsewhere(profile, since="long ago")
        await profile.extensions.remove(ID)
        assert await profile.store.read(lambda each: each.extensions.find("running")) == []

    with_profile(tmp_path, use)


@needs_deno
def test_an_update_from_the_same_place_has_its_data_and_the_grants_that_it_declares(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await install_helper(profile, helper(tmp_path))
        new: dict[str, Any] = {
            "permissions": [*KEYS["permissions"], "tabs"],
            "optional_permissions": ["cookies", "bookmarks"],
        }
        done = await profile.extensions.install(helper(tmp_path, version="2", **new))
        assert (done.replaced, done.has_data, done.added) == (False, True, Permissions(("tabs",)))
        found = await seen(profile, await profile.extensions.package(ID))
        assert found["local"] == {"password": "secret"}
        assert found["held"]["permissions"] == [*KEYS["permissions"], "tabs", "cookies"]
        assert found["held"]["origins"] == []
        assert len(await profile.store.read(lambda each: each.packages.digests())) == 1

    with_profile(tmp_path, use)


def test_of_several_all_are_installed_or_none(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await profile.extensions.install(helper(tmp_path / "a"))
        with pytest.raises(AlreadyInstalled):
            await profile.extensions.install_all([make(tmp_path, name="other"), wallpapers(tmp_path / "b")])
        assert [each.name for each in await profile.extensions.installed()] == ["helper"]

    with_profile(tmp_path, use)


def test_what_is_too_large_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def use(profile: Profile) -> None:
        monkeypatch.setattr(stored, "MAX_PACKAGE_BYTES", 2**20)
        with pytest.raises(PackageError, match="its files are larger than 1 MiB together"):
            await profile.extensions.install(helper(tmp_path, files={"big": "x" * 2**20}))
        assert await profile.extensions.installed() == []

    with_profile(tmp_path, use)


@needs_deno
def test_nothing_of_a_removed_extension_is_left_or_found_by_the_next_one(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await install_helper(profile, helper(tmp_path / "a"))
        (entry,) = profile.extensions.packages.cache.folder.iterdir()
        await profile.extensions.remove(ID)
        assert await rows(profile) == set()
        assert await profile.store.read(lambda each: each.packages.digests()) == []
        assert not entry.exists()
        # A process that ended late has written something more.
        await profile.store.write(lambda each: each.extensions.put(ID, "storage.local", "password", b'"secret"'))
        await profile.extensions.install(wallpapers(tmp_path / "b"))
        found = await seen(profile, await profile.extensions.package(ID))
        assert found["local"] == {}

    with_profile(tmp_path, use)


def test_a_package_that_two_extensions_have_stays_until_both_are_gone(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        keys: dict[str, Any] = {"browser_specific_settings": {}}  # without an id, the place says who it is
        one, two = (make(tmp_path / each, name="same", **keys) for each in ("a", "b"))
        first, second = await profile.extensions.install(one), await profile.extensions.install(two)
        assert first.id != second.id
        assert first.extension.digest == second.extension.digest
        await profile.extensions.remove(first.id)
        assert (await profile.extensions.package(second.id)).exists("manifest.json")
        await profile.extensions.remove(second.id)
        assert await profile.store.read(lambda each: each.packages.digests()) == []

    with_profile(tmp_path, use)


def test_the_log_of_changes_has_nothing_of_a_package(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        payloads: list[bytes] = []
        profile.store.subscribe(lambda change: payloads.append(change.payload))
        await profile.extensions.install(helper(tmp_path, "a very long script", files={"x": "x" * 100_000}))
        assert payloads
        assert all(b"a very long script" not in each and len(each) < 5_000 for each in payloads)

    with_profile(tmp_path, use)


# ------------------------------------------------------------------------------------------- what was installed is run


@needs_deno
def test_files_that_were_edited_or_deleted_have_no_effect_until_it_is_installed_again(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        folder = helper(tmp_path, "var run = 1;")
        await profile.extensions.install(folder)
        helper(tmp_path, "var run = 2;", version="2")
        extension = await profile.extensions.start(await profile.extensions.package(ID))
        assert await extension.evaluate("[run, browser.runtime.getManifest().version]") == [1, "1"]
        await extension.evaluate("void browser.runtime.reload()")
        await until_reloaded(extension)
        assert await extension.evaluate("run") == 1
        await profile.extensions.stop(extension)
        shutil.rmtree(folder)
        extension = await profile.extensions.start(await profile.extensions.package(ID))
        assert await extension.evaluate("run") == 1
        await profile.extensions.stop(extension)
        assert (await profile.extensions.permissions(ID)).required.permissions == tuple(KEYS["permissions"])
        await profile.extensions.install(helper(tmp_path, "var run = 3;"))
        extension = await profile.extensions.start(await profile.extensions.package(ID))
        assert await extension.evaluate("run") == 3

    with_profile(tmp_path, use)


async def until_reloaded(extension: Extension) -> None:
    before = extension.runtime
    await until(lambda: extension.runtime not in (None, before))


@needs_deno
def test_a_cache_that_was_tampered_with_or_deleted_is_written_again(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await profile.extensions.install(helper(tmp_path, "var run = 'mine';"))
        digest = (await profile.extensions.package(ID)).digest
        entry = profile.extensions.packages.cache.folder / digest
        whole = entry.read_bytes()
        for tampered in (whole.replace(b"'mine'", b"'evil'"), whole[:-1], b"", None):
            if tampered is None:
                entry.unlink()
            else:
                entry.write_bytes(tampered)
            extension = await profile.extensions.start(await profile.extensions.package(ID))
            assert await extension.evaluate("run") == "mine"
            await profile.extensions.stop(extension)
            assert entry.read_bytes() == whole

    with_profile(tmp_path, use)


def test_a_package_that_is_damaged_in_the_profile_is_not_run(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        done = await profile.extensions.install(helper(tmp_path))
        digest = done.extension.digest
        assert digest
        await profile.store.write(lambda each: each.packages.put(digest, b"something else"))
        with pytest.raises(ExtensionError, match=r"the files of helper \(helper@example.org\) are damaged"):
            await profile.extensions.package(ID)
        await profile.extensions.install(tmp_path / "helper")  # mends it
        assert (await profile.extensions.package(ID)).exists("manifest.json")

    with_profile(tmp_path, use)


@needs_deno
def test_a_package_that_was_replaced_meanwhile_is_not_started(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await install_helper(profile, helper(tmp_path / "a"))
        old = await profile.extensions.package(ID)
        await profile.extensions.install(wallpapers(tmp_path / "b"), replace=True, keep_data=True)
        with pytest.raises(ExtensionError, match="was installed again or removed meanwhile"):
            await profile.extensions.start(old)
        await profile.extensions.remove(ID)
        with pytest.raises(ExtensionError, match="was installed again or removed meanwhile"):
            await profile.extensions.start(old)
        with pytest.raises(ExtensionNotFound):
            await profile.extensions.package(ID)

    with_profile(tmp_path, use)


# -------------------------------------------------------------------------------------------------------- development


@needs_deno
def test_the_installed_folder_has_the_data_also_with_edited_files_but_no_new_permissions(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        folder = helper(tmp_path)
        await install_helper(profile, folder)
        helper(tmp_path, "var edited = true;", version="1.1")
        found = await seen(profile, folder)
        assert (found["local"], found["cookies"]) == ({"password": "secret"}, "object")
        (record,) = await profile.extensions.installed()
        assert record.version == "1"
        helper(tmp_path, permissions=[*KEYS["permissions"], "history", "<all_urls>"])
        with pytest.raises(ExtensionError, match="requires more than when it was installed: history, <all_urls>"):
            await profile.extensions.start(folder)
        await profile.extensions.install(folder)
        found = await seen(profile, folder)
        assert found["local"] == {"password": "secret"}
        assert found["held"]["origins"] == ["<all_urls>", "https://bank.example/*"]

    with_profile(tmp_path, use)


@needs_deno
def test_each_folder_has_data_of_its_own_which_stays_when_its_files_are_edited(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        for place in ("a", "b"):
            extension = await profile.extensions.start(helper(tmp_path / place))
            assert await extension.evaluate("browser.storage.local.get()") == {}
            await extension.evaluate(f"browser.storage.local.set({{place: {json.dumps(place)}}})")
            await profile.extensions.stop(extension)
        for place in ("a", "b"):
            found = await seen(profile, helper(tmp_path / place, "var edited = true;", version="2"))
            assert found["local"] == {"place": place}

    with_profile(tmp_path, use)


@needs_deno
def test_what_was_run_from_a_folder_and_is_installed_from_there_has_its_data(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        folder = helper(tmp_path)
        extension = await profile.extensions.start(folder)
        await extension.evaluate("browser.storage.local.set({a: 1})")
        with pytest.raises(ExtensionError, match="helper is running"):
            await profile.extensions.install(folder)
        await profile.extensions.stop(extension)
        await profile.extensions.install(folder)
        assert (await seen(profile, folder))["local"] == {"a": 1}
        assert await rows(profile) == {ID}

    with_profile(tmp_path, use)


# ------------------------------------------------------------------------------------------------------------- events

TELLS = """
var told = [];
for (const name of ["onInstalled", "onStartup"]) {
  browser.runtime[name].addListener((...args) => { told.push([name, ...args]); });
}
"""


async def told(profile: Profile, what: Any = None) -> Any:
    extension = await profile.extensions.start(await profile.extensions.package(ID) if what is None else what)
    try:
        return await extension.evaluate("told")
    finally:
        await profile.extensions.stop(extension)


@needs_deno
def test_on_installed_fires_at_the_first_run_after_an_installation_and_after_every_update(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await profile.extensions.install(helper(tmp_path / "a", TELLS))
        assert await told(profile) == [["onInstalled", {"reason": "install", "temporary": False}]]
        assert await told(profile) == [["onStartup"]]
        await profile.extensions.install(helper(tmp_path / "a", TELLS))  # as it is
        assert await told(profile) == [["onStartup"]]
        await profile.extensions.install(helper(tmp_path / "a", TELLS, version="2"))
        update = {"reason": "update", "previousVersion": "1", "temporary": False}
        assert await told(profile) == [["onInstalled", update]]
        assert await told(profile) == [["onStartup"]]
        await profile.extensions.install(helper(tmp_path / "a", f"{TELLS} // edited", version="2"))
        assert await told(profile) == [["onInstalled", {**update, "previousVersion": "2"}]]
        await profile.extensions.install(wallpapers(tmp_path / "b", TELLS, version="0.1"), replace=True)
        assert await told(profile) == [["onInstalled", {**update, "previousVersion": "2"}]]
        assert await told(profile) == [["onStartup"]]

    with_profile(tmp_path, use)


@needs_deno
def test_on_installed_fires_once_also_when_it_is_run_from_its_folder(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        folder = helper(tmp_path, TELLS)
        await profile.extensions.install(folder)
        await profile.extensions.install(helper(tmp_path, TELLS, version="2"))
        assert await told(profile, folder) == [["onInstalled", {"reason": "install", "temporary": False}]]
        assert await told(profile) == [["onStartup"]]

    with_profile(tmp_path, use)


@needs_deno
def test_a_start_that_failed_does_not_lose_the_event(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        await profile.extensions.install(helper(tmp_path, TELLS))
        extension = await profile.extensions.start(await profile.extensions.package(ID))
        await profile.extensions.stop(extension)
        # As if the process had been killed before the event was noted.
        await profile.store.write(lambda each: _forget_run(each))
        assert (await told(profile))[0][0] == "onInstalled"

    def _forget_run(transaction: Any) -> None:
        record = installed.get(transaction, ID)
        assert record is not None
        value = json.loads(transaction.extensions.get(ID, "installed", ""))
        transaction.extensions.put(ID, "installed", "", json.dumps({**value, "ran": None}).encode())

    with_profile(tmp_path, use)


# ----------------------------------------------------------------------------------------- records of earlier formats


def old_record(path: Path, *, kept: bool = True, **more: Any) -> bytes:
    """As it was written before packages were stored."""
    record = {"id": ID, "path": str(path), "name": "helper", "version": "1", "kept": kept, "enabled": True}
    required = {"permissions": KEYS["permissions"], "origins": [], "data_collection": []}
    return json.dumps({**record, "about": {"uuid": "x", "required": required}, **more}).encode()


async def write_old(path: Path, record: bytes) -> None:
    async with hatbox.open(path) as profile:

        def write(transaction: Any) -> None:
            transaction.extensions.put(ID, "installed", "", record)
            transaction.extensions.put(ID, "storage.local", "password", b'"secret"')
            granted.save_granted(transaction, ID, COOKIES)

        await profile.store.write(write)


@needs_deno
def test_an_earlier_install_is_copied_at_the_next_open(tmp_path: Path) -> None:
    async def main() -> None:
        folder = helper(tmp_path, TELLS)
        await write_old(tmp_path / "profile.db", old_record(folder))
        async with hatbox.open(tmp_path / "profile.db"):
            pass
        shutil.rmtree(folder)
        async with hatbox.open(tmp_path / "profile.db") as profile:
            (record,) = await profile.extensions.installed()
            assert not record.needs_reinstall
            extension = await profile.extensions.start(await profile.extensions.package(ID))
            assert await extension.evaluate("told") == [["onStartup"]]
            found = await extension.evaluate(SEES)
            assert (found["local"], found["cookies"]) == ({"password": "secret"}, "object")

    asyncio.run(main())


@pytest.mark.parametrize("now", ["gone", "unreadable", "another id", "more permissions"])
def test_an_earlier_install_that_cannot_be_copied_needs_a_reinstall_and_does_not_run(tmp_path: Path, now: str) -> None:
    async def main() -> None:
        folder = helper(tmp_path)
        await write_old(tmp_path / "profile.db", old_record(folder))
        shutil.rmtree(folder)
        if now == "unreadable":
            folder.mkdir()
        elif now == "another id":
            make(tmp_path, name="helper")
            (folder / "manifest.json").write_text(
                (folder / "manifest.json").read_text().replace(ID, "other@example.org")
            )
        elif now == "more permissions":
            helper(tmp_path, permissions=[*KEYS["permissions"], "history"])
        async with hatbox.open(tmp_path / "profile.db"):
            pass
        folder = helper(tmp_path)  # there again: that is not enough
        async with hatbox.open(tmp_path / "profile.db") as profile:
            (record,) = await profile.extensions.installed()
            assert record.needs_reinstall
            with pytest.raises(ExtensionError, match="has to be installed again"):
                await profile.extensions.package(ID)
            done = await profile.extensions.install(folder)
            assert (done.replaced, done.has_data, done.extension.needs_reinstall) == (False, True, False)
            value = await profile.store.read(lambda each: each.extensions.get(ID, "storage.local", "password"))
            assert value == b'"secret"'

    asyncio.run(main())


@needs_deno
def test_what_was_only_run_from_a_folder_has_its_data_there(tmp_path: Path) -> None:
    async def main() -> None:
        folder = helper(tmp_path / "a")
        await write_old(tmp_path / "profile.db", old_record(folder, kept=False))
        async with hatbox.open(tmp_path / "profile.db") as profile:
            assert ID not in await rows(profile)
            assert (await seen(profile, helper(tmp_path / "b")))["local"] == {}
            assert (await seen(profile, folder))["local"] == {"password": "secret"}
            assert await profile.extensions.installed() == []

    asyncio.run(main())


def test_a_record_says_what_is_installed_from_where_and_when(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        done = await profile.extensions.install(helper(tmp_path))
        (record,) = await profile.extensions.installed()
        assert isinstance(record, InstalledExtension)
        assert record == done.extension
        assert (record.id, record.area, record.path, record.version) == (ID, ID, str(tmp_path / "helper"), "1")
        assert record.installed_at > 1e9
        assert record.digest is not None
        assert await profile.store.read(lambda each: each.packages.digests()) == [record.digest]

    with_profile(tmp_path, use)
