"""The namespace hatbox.identities: summaries with counts, and changes of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.errors import IdentityNotFound, InvalidIdentity, InvalidSetting, TrashSwitchedOff
from hatbox.profile import Profile
from hatbox.store.encryption import Cipher
from hatbox.store.keys import Key
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess
from tests.waiting import until

WORK = "firefox-container-2"


def api(profile: Profile) -> Any:
    return profile.browser(["hatbox"]).hatbox.identities


def listen(profile: Profile) -> list[dict[str, Any]]:
    received: list[dict[str, Any]] = []
    api(profile).onChanged.addListener(received.append)
    return received


async def sign_in(profile: Profile, identity: str, host: str, *cookies: str) -> None:
    store = await profile.cookie_store(identity)
    await store.receive(cookies, f"https://{host}/")


@in_loop
async def test_a_summary_counts_what_belongs_to_an_identity(address: str) -> None:
    async with hatbox.open(address) as profile:
        await sign_in(profile, "Work", "forge.example", "sid=1; HttpOnly", "lang=de")
        await sign_in(profile, "Work", "www.forge.example", "cart=1")
        await sign_in(profile, "Work", "news.example", "lang=de", "old=1; HttpOnly; Max-Age=0")
        await profile.tabs.open("Work", "https://forge.example/")
        await profile.tabs.open("Work", "https://news.example/")
        await profile.rules.add("forge.example", "Work")
        listed = await api(profile).list()
        assert [each["name"] for each in listed] == ["Personal", "Work", "Banking", "Shopping"]
        work = {
            "cookieStoreId": WORK,
            "name": "Work",
            "color": "orange",
            "icon": "briefcase",
            "hidden": False,
            "tabs": 2,
            "cookies": 4,
            "sites": 2,
            "signedIn": 1,
            "hosts": ["forge.example"],
            "rules": 1,
        }
        assert listed[1] == work
        assert (listed[0]["tabs"], listed[0]["cookies"], listed[0]["hosts"], listed[0]["rules"]) == (0, 0, [], 0)
        assert await api(profile).summaries([WORK, "firefox-container-999", WORK]) == [work]
        assert (await api(profile).details(WORK))["summary"] == work
        assert await api(profile).order() == [each["cookieStoreId"] for each in listed]


@in_loop
async def test_a_summary_names_the_five_signed_in_sites_that_were_used_last(address: str) -> None:
    async with hatbox.open(address) as profile:
        for number in range(7):
            await sign_in(profile, "Work", f"site{number}.example", "session=1")
        [work] = await api(profile).summaries([WORK])
        assert (work["signedIn"], work["sites"]) == (7, 7)
        assert work["hosts"] == [f"site{number}.example" for number in (6, 5, 4, 3, 2)]


@in_loop
async def test_expired_cookies_are_not_counted(address: str) -> None:
    async with hatbox.open(address) as profile:
        row = ("old.example", 1, "/", "sid", "", "1", 0, 1, "lax", 1.0, 1, 1.0, 1.0)
        await profile.store.write(lambda each: each.cookies.put(2, [row]))
        [work] = await api(profile).summaries([WORK])
        assert (work["cookies"], work["sites"], work["hosts"]) == (0, 0, [])


@in_loop
async def test_values_of_cookies_are_not_decrypted_for_a_list(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HATBOX_KEY", Key(bytes(range(32))).text)
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await sign_in(profile, "Work", "forge.example", "sid=1; HttpOnly")

        def decrypt(*_: object) -> bytes:
            raise AssertionError("a value was decrypted")

        with monkeypatch.context() as patch:
            patch.setattr(Cipher, "decrypt", decrypt)
            assert (await api(profile).list())[1]["hosts"] == ["forge.example"]


@in_loop
async def test_an_unknown_identity_is_reported_by_its_id(address: str) -> None:
    async with hatbox.open(address) as profile:
        for call in ("details", "clone", "remove"):
            with pytest.raises(InvalidIdentity, match="firefox-container-999"):
                await getattr(api(profile), call)("firefox-container-999")


@in_loop
async def test_a_clone_follows_its_original_with_cookies_and_settings(address: str) -> None:
    async with hatbox.open(address) as profile:
        await sign_in(profile, "Work", "forge.example", "sid=1; HttpOnly")
        await profile.identities.set_settings("Work", locale="de-DE")
        made = await api(profile).clone(WORK)
        assert (made["name"], made["hosts"], made["tabs"]) == ("Work 2", ["forge.example"], 0)
        assert (await api(profile).order())[2] == made["cookieStoreId"]
        details = await api(profile).details(made["cookieStoreId"])
        assert (details["settings"]["locale"], details["position"]) == ("de-DE", 2)
        assert (await api(profile).clone(WORK, "Copy"))["name"] == "Copy"


# ------------------------------------------------------------------------------------------------------------ settings


@in_loop
async def test_settings_are_changed_one_by_one_and_unset_with_null(address: str) -> None:
    async with hatbox.open(address) as profile:
        changed = await api(profile).setSettings(WORK, {"userAgent": "Tester/1", "locale": "de_de"})
        expected = {"proxy": None, "userAgent": "Tester/1", "locale": "de-DE", "timezone": None}
        assert changed == {"saved": True, "settings": expected, "inputAtRisk": []}
        await api(profile).setSettings(WORK, {"timezone": "europe/berlin"})
        await api(profile).setSettings(WORK, {"userAgent": None})
        settings = (await api(profile).details(WORK))["settings"]
        assert settings == {"proxy": None, "userAgent": None, "locale": "de-DE", "timezone": "Europe/Berlin"}


@in_loop
async def test_a_wrong_setting_changes_nothing_and_each_is_named(address: str) -> None:
    async with hatbox.open(address) as profile:
        wrong = {"proxy": "socks5://127.0.0.1", "locale": "?", "timezone": "Europe/Berlim", "userAgent": "Tester/1"}
        problems = await api(profile).checkSettings(wrong)
        assert sorted(problems) == ["locale", "proxy", "timezone"]
        assert "port" in problems["proxy"]
        assert problems["timezone"].startswith("Did you mean Europe/Berlin")
        with pytest.raises(InvalidSetting):
            await api(profile).setSettings(WORK, wrong)
        assert not any((await api(profile).details(WORK))["settings"].values())
        assert await api(profile).checkSettings({"locale": None, "timezone": "UTC"}) == {}


@in_loop
async def test_the_password_of_a_proxy_is_not_shown_and_not_lost(address: str) -> None:
    async with hatbox.open(address) as profile:
        await api(profile).setSettings(WORK, {"proxy": "http://me:secret@127.0.0.1:8080"})
        details = await api(profile).details(WORK)
        assert "secret" not in str(details)
        shown = details["settings"]["proxy"]
        assert "again" in (await api(profile).checkSettings({"proxy": shown}))["proxy"]
        with pytest.raises(InvalidSetting, match="password of the proxy again"):
            await api(profile).setSettings(WORK, {"proxy": shown})
        await api(profile).setSettings(WORK, {"locale": "de"})
        assert (await profile.identities.settings("Work")).proxy == "http://me:secret@127.0.0.1:8080"


@in_loop
async def test_settings_of_a_newer_version_are_explained_and_not_lost(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.store.write(lambda each: each.settings.put(2, "settings", b'{"proxy": "quic://x:1"}'))
        details = await api(profile).details(WORK)
        assert "quic" in details["settingsError"]
        assert details["settings"]["proxy"] is None
        await api(profile).setSettings(WORK, {"proxy": "direct"})
        assert (await api(profile).details(WORK))["settings"]["proxy"] == "direct"


@in_loop
async def test_typed_input_that_would_be_lost_is_reported_and_nothing_changes(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def would_lose(*_: object, force: bool = False, **__: object) -> Any:
        if not force:
            raise hatbox.errors.InputWouldBeLost("Work", {7: ["a text field"]})
        return await profile.identities.set_settings("Work", locale="fr")

    async with hatbox.open(address) as profile:
        monkeypatch.setattr(Profile, "change_identity_settings", would_lose)
        await profile.identities.set_settings("Work", locale="de")
        answer = await api(profile).setSettings(WORK, {"locale": "fr"})
        assert answer["saved"] is False
        assert answer["inputAtRisk"] == [{"tabId": 7, "fields": ["a text field"]}]
        assert answer["settings"]["locale"] == "de"
        assert (await api(profile).setSettings(WORK, {"locale": "fr"}, True))["saved"] is True


# ------------------------------------------------------------------------------------------------------------ removing


@in_loop
async def test_a_removed_identity_goes_to_the_trash_and_can_be_restored(address: str) -> None:
    async with hatbox.open(address) as profile:
        assert await api(profile).remove(WORK) == {"name": "Work", "trashId": WORK}
        [removed] = await profile.trash.list()
        assert removed.cookie_store_id == WORK
        with pytest.raises(IdentityNotFound):
            await profile.identities.find("Work")


@in_loop
async def test_what_could_not_be_restored_is_removed_only_for_ever(address: str) -> None:
    async with hatbox.open(address) as profile:
        assert (await api(profile).remove(WORK, {"forever": True}))["trashId"] is None
        await profile.set_settings(trash_days=0)
        with pytest.raises(TrashSwitchedOff, match="the trash of this profile is switched off"):
            await api(profile).remove("firefox-container-1")
        assert "Personal" in [each.name for each in await profile.identities.query()]
        temporary = await profile.create_temporary("Short")
        assert (await api(profile).remove(temporary.cookie_store_id))["trashId"] is None
        assert (await api(profile).remove("firefox-container-1", {"forever": True}))["trashId"] is None
        assert await profile.trash.list() == []


@in_loop
async def test_a_temporary_identity_ends_with_its_last_tab_and_details_say_when_one_was_created(address: str) -> None:
    before = time.time() * 1000 - 1
    async with hatbox.open(address) as profile:
        created = await api(profile).createTemporary({})
        details = await api(profile).details(created["cookieStoreId"])
        assert details["temporary"] is True
        assert before < details["created"] < time.time() * 1000 + 1
        named = await api(profile).createTemporary({"name": "Short", "color": "red", "icon": "tree"})
        assert (named["name"], named["color"], named["icon"]) == ("Short", "red", "tree")
        with pytest.raises(Exception, match="color"):
            await api(profile).createTemporary({"color": "sand"})
        tab = await profile.tabs.open(named["cookieStoreId"])
        await profile.tabs.close(tab.id)
        left = {each["cookieStoreId"] for each in await api(profile).list()}
        assert named["cookieStoreId"] not in left

        work = await api(profile).details(WORK)
        assert (work["temporary"], work["recorded"]) == (False, False)
        changes = listen(profile)
        await api(profile).setRecorded(WORK, True)
        await until(lambda: any(WORK in each["changed"] for each in changes))
        assert (await api(profile).details(WORK))["recorded"] is True
        assert await profile.activity_log.is_recorded("Work")
        copy = await api(profile).clone(WORK)
        assert (await api(profile).details(copy["cookieStoreId"]))["created"] > work["created"]
        await api(profile).remove(WORK)
        await profile.trash.restore(WORK)
        assert (await api(profile).details(WORK))["created"] == work["created"]


# -------------------------------------------------------------------------------------------------------------- events


async def _change_name(profile: Profile) -> None:
    await profile.identities.update("Work", name="Office")


async def _open_tab(profile: Profile) -> None:
    await profile.tabs.open("Work", "https://forge.example/")


async def _set_cookie(profile: Profile) -> None:
    await sign_in(profile, "Work", "forge.example", "sid=1")


async def _hide(profile: Profile) -> None:
    await profile.identities.hide("Work")


async def _add_rule(profile: Profile) -> None:
    await profile.rules.add("forge.example", "Work")


async def _set_locale(profile: Profile) -> None:
    await profile.identities.set_settings("Work", locale="de")


@pytest.mark.parametrize("change", [_change_name, _open_tab, _set_cookie, _hide, _add_rule, _set_locale])
@in_loop
async def test_each_change_of_a_summary_is_reported_for_its_identity(
    address: str, change: Callable[[Profile], Any]
) -> None:
    async with hatbox.open(address) as profile:
        received = listen(profile)
        await change(profile)
        await until(lambda: any(each["changed"] for each in received))
        assert all(each["changed"] in ([], [WORK]) and not each["removed"] and not each["all"] for each in received)


@in_loop
async def test_new_moved_and_removed_identities_are_reported(address: str) -> None:
    async with hatbox.open(address) as profile:
        received = listen(profile)
        created = await profile.identities.create("New")
        await until(lambda: received)
        assert received.pop() == {"changed": [created.cookie_store_id], "removed": [], "order": True, "all": False}
        await profile.identities.move("New", 0)
        await until(lambda: received)
        assert received.pop() == {"changed": [], "removed": [], "order": True, "all": False}
        await profile.rules.add("forge.example", "New")
        await until(lambda: received)
        received.clear()
        await profile.identities.remove("New", forever=True)
        await until(lambda: received)
        assert received[-1]["removed"] == [created.cookie_store_id]
        await profile.rules.add("last.example", "Work")
        await until(lambda: any(each["changed"] == [WORK] for each in received))
        assert not any(created.cookie_store_id in each["changed"] for each in received)


@pytest.mark.process
@in_loop
async def test_changes_by_another_process_are_reported(address: str) -> None:
    async with hatbox.open(address) as profile:
        received = listen(profile)
        with OtherProcess() as other:
            other.call("open", address)
            other.identities("update", "Work", name="Office")
            await until(lambda: received)
        assert received[0]["changed"] == [WORK]
        assert (await api(profile).summaries([WORK]))[0]["name"] == "Office"


@in_loop
async def test_identities_are_found_by_their_sites_and_tabs(address: str) -> None:
    async with hatbox.open(address) as profile:
        await sign_in(profile, "Work", "www.forge.example", "sid=1", "old=1; Max-Age=0")
        await profile.tabs.open("Personal", "https://news.example/Front")
        search = api(profile).search
        assert await search(" FORGE.example ") == [WORK]
        assert await search("news.example/front") == ["firefox-container-1"]
        assert sorted(await search("example")) == ["firefox-container-1", WORK]
        assert await search("Banking") == await search("  ") == []
