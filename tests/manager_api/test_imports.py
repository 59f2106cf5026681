"""The namespace hatbox.imports: identities from browsers of this machine, and from files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.formats import FORMATS
from hatbox.formats.firefox_folders import FirefoxProfileFolder
from hatbox.manager_api import imports
from hatbox.profile import Profile
from hatbox.store.tables.tab_tables import SqlSiteDataTable
from tests.manager_api.page_errors import refused
from tests.store.in_loop import in_loop

CONTAINERS = {
    "version": 5,
    "lastUserContextId": 12,
    "identities": [
        {"userContextId": 11, "public": True, "icon": "tree", "color": "red", "name": "Garden"},
        {"userContextId": 12, "public": True, "icon": "pet", "color": "blue", "name": "Dog"},
    ],
}
WORK = 2
DRAFT = b'{"local":[["draft","%s"]],"databases":[]}'


def api(profile: Profile) -> Any:
    return profile.browser(["hatbox"]).hatbox.imports


async def names(profile: Profile) -> list[str]:
    return [each.name for each in await profile.identities.query()]


@in_loop
async def test_chosen_identities_of_a_file_are_imported_once(address: str) -> None:
    async with hatbox.open(address) as profile:
        before = await names(profile)
        source = {"name": "containers.json", "text": json.dumps(CONTAINERS)}
        found = (await api(profile).preview(source))["identities"]
        assert [(each["name"], each["color"], each["cookies"]) for each in found] == [
            ("Garden", "red", 0),
            ("Dog", "blue", 0),
        ]
        assert await names(profile) == before
        keys = [each["key"] for each in found if each["name"] == "Dog"]
        assert (await api(profile).run(source, keys))["created"] == 1
        again = await api(profile).run(source, keys)
        assert (again["created"], again["matched"]) == (0, 1)
        assert await names(profile) == [*before, "Dog"]


@in_loop
async def test_json_lines_bring_cookies_to_the_identity_with_the_same_name(address: str, tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "other.db") as other:
        await (await other.cookie_store("Work")).receive(["sid=1; HttpOnly"], "https://forge.example/")
        text = FORMATS["json-lines"].write(await other.export_bundle(["Work"])).data.decode()
    async with hatbox.open(address) as profile:
        source = {"name": "work.jsonl", "text": text}
        (found,) = (await api(profile).preview(source))["identities"]
        assert (found["name"], found["cookies"]) == ("Work", 1)
        result = await api(profile).run(source, [found["key"]])
        assert (result["created"], result["matched"], result["cookies"]) == (0, 1, 1)
        assert [each.host for each in await profile.sites("Work")] == ["forge.example"]


@in_loop
async def test_an_import_is_undone_where_nothing_was_changed_since(address: str, tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "other.db") as other:
        store = await other.cookie_store("Work")
        await store.receive(["sid=new; HttpOnly", "theme=dark", "used=1"], "https://forge.example/")
        await other.store.write(lambda each: each.site_data.put(WORK, "https://forge.example", DRAFT % b"new"))
        await other.identities.create(name="Garden", color="red", icon="tree")
        await other.identities.move([(await other.identities.query(name="Garden"))[0].cookie_store_id], 0)
        text = FORMATS["json-lines"].write(await other.export_bundle(["Garden", "Banking", "Work"])).data.decode()
    async with hatbox.open(address) as profile:
        store = await profile.cookie_store("Work")
        await store.receive(["sid=old; HttpOnly"], "https://forge.example/")
        await profile.store.write(lambda each: each.site_data.put(WORK, "https://forge.example", DRAFT % b"old"))
        before = await names(profile)
        source = {"name": "work.jsonl", "text": text}
        keys = [each["key"] for each in (await api(profile).preview(source))["identities"]]
        result = await api(profile).run(source, keys)
        assert (result["created"], result["matched"], result["cookies"]) == (1, 2, 3)
        assert await names(profile) != [*before, "Garden"], "the order is that of the file"
        await store.receive(["used=2"], "https://forge.example/")
        await api(profile).undo(result["undo"])
        assert await names(profile) == before
        assert [each.name for each in await profile.trash.list()] == ["Garden"]
        assert sorted((await store.header("https://forge.example/")).split("; ")) == ["sid=old", "used=2"]
        stored = await profile.store.read(lambda each: each.site_data.load(WORK))
        assert stored == [("https://forge.example", DRAFT % b"old")]
        with refused("This import can no longer be undone"):
            await api(profile).undo(result["undo"])


async def _imported_containers(profile: Profile) -> Any:
    source = {"name": "containers.json", "text": json.dumps(CONTAINERS)}
    keys = [each["key"] for each in (await api(profile).preview(source))["identities"]]
    return await api(profile).run(source, keys)


@in_loop
async def test_undo_of_an_import_deletes_no_identity_for_ever(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        result = await _imported_containers(profile)
        await profile.set_settings(trash_days=0)
        with refused("the trash of this profile is switched off"):
            await api(profile).undo(result["undo"])
        assert {"Garden", "Dog"} <= {*await names(profile)}
        await profile.set_settings(trash_days=30)
        await (await profile.cookie_store("Dog")).receive(["sid=1; HttpOnly"], "https://forge.example/")
        assert await api(profile).undo(result["undo"]) == {"identities": 1, "cookies": 0, "origins": 0}
        assert "Dog" in await names(profile), "it is used since"
        assert "Garden" not in await names(profile)
        await profile.set_settings(trash_days=0)
        assert (await _imported_containers(profile))["undo"] is None


@in_loop
async def test_an_import_reads_only_what_it_may_change_and_its_undo_says_what_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(tmp_path / "other.db") as other:
        await (await other.cookie_store("Work")).receive(["theme=dark", "sid=new"], "https://forge.example/")
        await other.store.write(lambda each: each.site_data.put(WORK, "https://forge.example", DRAFT % b"new"))
        await other.identities.hide("Work")
        text = FORMATS["json-lines"].write(await other.export_bundle(["Work"])).data.decode()

    def refuse(*_: object) -> None:
        raise AssertionError("all site data of the identity is read")

    async with hatbox.open(tmp_path / "profile.db") as profile:
        await profile.store.write(lambda each: each.site_data.put(WORK, "https://large.example", DRAFT % b"old"))
        store = await profile.cookie_store("Work")
        source = {"name": "work.jsonl", "text": text}
        monkeypatch.setattr(SqlSiteDataTable, "load", refuse)
        result = await api(profile).run(source, [(await api(profile).preview(source))["identities"][0]["key"]])
        await store.receive(["sid=later"], "https://forge.example/")
        await profile.store.write(lambda each: each.site_data.put(WORK, "https://forge.example", DRAFT % b"later"))
        assert await api(profile).undo(result["undo"]) == {"identities": 0, "cookies": 1, "origins": 1}
        assert await store.header("https://forge.example/") == "sid=later"
        assert not (await profile.identities.query(name="Work"))[0].hidden


@in_loop
async def test_profiles_of_browsers_are_found_and_no_other_folder_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "abc.default"
    folder.mkdir()
    (folder / "containers.json").write_text(json.dumps(CONTAINERS))
    monkeypatch.setattr(imports, "find_folders", lambda: [FirefoxProfileFolder(folder, "default", 1)])
    monkeypatch.setattr(imports, "find_user_data", list)
    async with hatbox.open(tmp_path / "profile.db") as profile:
        (source,) = await api(profile).sources()
        assert source == {"program": "firefox", "folder": str(folder), "name": "default"}
        found = (await api(profile).preview({"folder": str(folder)}))["identities"]
        assert {"Garden", "Dog"} <= {each["name"] for each in found}
        with refused("This browser profile is gone"):
            await api(profile).preview({"folder": str(tmp_path)})


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("photo.jpg", "\x00\x01garbage", "photo.jpg has no identities that can be imported"),
        ("empty.json", "", "empty.json has no identities"),
        ("cookies.txt", "# Netscape HTTP Cookie File\n", "names no identity. Open the identity"),
        ("state.json", '{"cookies": [], "origins": []}', "names no identity. Open the identity"),
        ("deep.json", "[" * 100_000, "deep.json has no identities"),
        ("cut.json", '{"identities": [{"name": "A"', "cut.json"),
        ("cut.jsonl", '{"format": "hatbox", "version": 2}\n{"identity": ', "Nothing was imported."),
        ("huge.json", " " * (16 * 2**20 + 1), "huge.json is larger than 16 MB"),
    ],
)
@in_loop
async def test_a_file_that_cannot_be_imported_says_why_and_changes_nothing(
    name: str, text: str, message: str, tmp_path: Path
) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        before = await names(profile)
        source = {"name": name, "text": text}
        with refused(message):
            await api(profile).preview(source)
        with refused(message):
            await api(profile).run(source, ["x"])
        assert await names(profile) == before
