"""The namespace hatbox.activity: what changed in the profile, and which program did it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.api.browser import Browser
from hatbox.errors import ArgumentError
from hatbox.store.processes import current_process, program_name
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess
from tests.waiting import until


def browser_of(profile: hatbox.Profile) -> Browser:
    return profile.browser(["hatbox"])


async def texts(profile: hatbox.Profile, **details: Any) -> list[tuple[str | None, str]]:
    entries = await browser_of(profile).hatbox.activity.list(details)
    return [(each.get("identity", {}).get("name"), each["text"]) for each in entries]


@in_loop
async def test_the_newest_change_comes_first_with_its_program_and_machine(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await profile.identities.create("Travel", color="red", icon="circle")
        await profile.rules.add("stay.example", ["Travel"])
        entries = await browser_of(profile).hatbox.activity.list()
        travel = await profile.identities.find("Travel")
    assert [each["text"] for each in entries] == ["Rule added: stay.example opens in Travel", "Created"]
    assert {each["identity"]["name"] for each in entries} == {"Travel"}
    assert {each["cookieStoreId"] for each in entries} == {travel.cookie_store_id}
    assert {(each["program"], each["machine"]) for each in entries} == {(program_name(), current_process().machine)}
    assert all(isinstance(each["time"], int) for each in entries)


@in_loop
async def test_what_happens_to_tabs_is_said_with_their_titles(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        first = await profile.tabs.open("Work", "https://shop.example/basket")
        await profile.tabs.open("Work", "https://forge.example/")
        assert ("Work", "2 tabs opened") in await texts(profile)
        await profile.identities.hide((await profile.identities.find("Work")).cookie_store_id)
        assert (await texts(profile))[0] == ("Work", "Hidden. Its 2 tabs closed")
        await profile.identities.show((await profile.identities.find("Work")).cookie_store_id)
        assert (await texts(profile))[0] == ("Work", "Shown again. Its 2 tabs reopened")
        await profile.tabs.close([first.id])
        assert ("Work", "Tab closed: “shop.example/basket”") in await texts(profile)


@in_loop
async def test_cookies_are_named_and_their_values_never_are(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        store = await profile.cookie_store("Work")
        await store.receive(["theme=dark-9184"], "https://forge.example/")
        assert await texts(profile) == [("Work", "Cookie theme on forge.example set")]
        await store.receive(["theme=light-9184"], "https://forge.example/")
        assert ("Work", "Cookie theme on forge.example refreshed") in await texts(profile)
        await store.receive(["sid=secret-9184; HttpOnly"], "https://bank.example/")
        assert ("Work", "Signed in on bank.example") in await texts(profile)
        await store.receive([f"c{n}=9184-{n}" for n in range(3)], "https://many.example/")
        assert any(text.endswith(" set") and "cookies on" in text for _, text in await texts(profile))
        assert "9184" not in repr(await texts(profile))


@in_loop
async def test_an_identity_in_the_trash_has_its_activity_and_one_deleted_for_ever_has_none(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        lair = (await profile.identities.create("Secret lair")).cookie_store_id
        store = await profile.cookie_store(lair)
        await store.receive(["sid=x"], "https://lair.example/")
        await profile.identities.remove(lair)
        assert (await texts(profile))[0] == ("Secret lair", "Moved to the trash")
        assert len(await texts(profile, cookieStoreId=lair)) == 3
        await profile.trash.restore(lair)
        assert (await texts(profile))[0] == ("Secret lair", "Restored from the trash")
        await profile.identities.remove(lair)
        await profile.trash.remove(lair)
        assert (await texts(profile))[0] == (None, "An identity was deleted forever")
        assert "air" not in repr(await texts(profile))
        assert not await texts(profile, cookieStoreId=lair)
        await profile.identities.remove("Work", forever=True)
        assert (await texts(profile))[0][1].endswith("deleted forever")
        assert "Work" not in repr(await texts(profile))


@in_loop
async def test_earlier_entries_are_read_page_by_page_and_none_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        work = (await profile.identities.find("Work")).cookie_store_id
        for number in range(130):  # each in a second of its own
            monkeypatch.setattr("time.time", lambda number=number: 1_700_000_000.0 + number)
            await profile.identities.update(work, color="red" if number % 2 else "blue")
        monkeypatch.undo()
        if os.environ.get("HATBOX_TEST_STORE") == "postgres":
            return  # its times are those of the server
        listed = browser_of(profile).hatbox.activity.list
        found = await listed({"limit": 50})
        while more := await listed({"limit": 50, "before": min(each["firstSequence"] for each in found)}):
            found += more
        assert len(found) == len({each["id"] for each in found}) == 130
        assert [each["sequence"] for each in found] == sorted((each["sequence"] for each in found), reverse=True)
        with pytest.raises(ArgumentError):
            await listed({"limit": 5000})


@pytest.mark.process
@in_loop
async def test_a_change_by_another_process_is_reported_at_once(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile:
        added: list[dict[str, Any]] = []
        event = browser_of(profile).hatbox.activity.onAdded

        def listener(each: dict[str, Any]) -> None:
            added.extend(each["entries"])

        event.addListener(listener)
        with OtherProcess(path) as other:
            other.identities("create", "From afar")
        await until(lambda: any(each["text"] == "Created" for each in added))
        listed = await browser_of(profile).hatbox.activity.list()
        assert added[-1] in listed
        event.removeListener(listener)


@in_loop
async def test_payloads_of_other_versions_are_left_out(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        for topic in ("identities.created", "tabs.updated", "cookies.changed", "rules.changed", "unknown.topic"):
            for payload in (b"null", b"[]", b'{"of":"a newer version"}', b'"text"', b"7"):
                await profile.store.write(lambda each, t=topic, p=payload: each.changes.append(t, p))  # type: ignore[misc]
        assert {text for _, text in await texts(profile)} <= {"Rules changed"}


@in_loop
async def test_the_activity_log_is_read_in_pages_and_names_identities_as_they_are_now(address: str) -> None:
    async with hatbox.open(address) as profile:
        activity = browser_of(profile).hatbox.activity
        heard: list[None] = []
        activity.onRecorded.addListener(lambda: heard.append(None))
        for number in range(5):
            host = f"h{number}.example"
            profile.activity_log.record("firefox-container-2", "fetch", host=host, grant="g1", outcome="failed")
        await profile.activity_log.flush()
        await until(lambda: heard)
        await profile.identities.update("firefox-container-2", name="Office")
        newest = await activity.recorded({"limit": 3})
        earlier = await activity.recorded({"before": newest[-1]["firstSequence"]})
        assert [each["text"] for each in [*newest, *earlier]] == [
            f"Fetch on h{number}.example: failed" for number in (4, 3, 2, 1, 0)
        ]
        assert {(each["identity"]["name"], each["program"]) for each in newest} == {
            ("Office", f"{program_name()}, grant g1")
        }
        assert await activity.recorded({"before": earlier[-1]["firstSequence"]}) == []
