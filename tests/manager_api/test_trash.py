"""The namespace hatbox.trash: removed identities."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.errors import NotInTrash
from hatbox.manager_api import trash_contents
from hatbox.profile import Profile
from hatbox.store.base import Transaction
from hatbox.store.processes import program_name
from hatbox.store.registry import dump_at
from tests.store.in_loop import in_loop
from tests.store.other_process import OtherProcess
from tests.waiting import until

WORK = "firefox-container-2"
MARK = "mark-of-work"
TRASH_BYTES = 1 << 20


def api(profile: Profile) -> Any:
    return profile.browser(["hatbox"]).hatbox


async def fill(profile: Profile) -> None:
    """Give the identity something of everything."""
    await profile.identities.update("Work", name=f"{MARK} name")
    store = await profile.cookie_store(WORK)
    await store.receive([f"sid={MARK}; HttpOnly"], f"https://{MARK}.example/")
    await profile.tabs.open(WORK, f"https://{MARK}.example/page")
    await profile.rules.add(f"{MARK}.example", WORK)
    await profile.identities.set_settings(WORK, user_agent=f"{MARK} agent")
    await profile.store.write(lambda each: each.site_data.put(2, f"https://{MARK}.example", MARK.encode()))


@in_loop
async def test_the_trash_says_what_each_identity_has_and_how_long_it_stays(address: str) -> None:
    async with hatbox.open(address) as profile:
        await fill(profile)
        await api(profile).identities.remove("firefox-container-1")
        await api(profile).identities.remove(WORK)
        work, personal = await api(profile).trash.list()
        assert (work["trashId"], work["name"], work["color"], work["icon"]) == (
            WORK,
            f"{MARK} name",
            "orange",
            "briefcase",
        )
        assert (work["cookies"], work["tabs"], work["daysLeft"]) == (1, 1, 30)
        assert work["size"] > 0
        assert work["expiresAt"] - work["removedAt"] == 30 * 86_400_000
        assert abs(work["removedAt"] - profile.store.time() * 1000) < 300_000
        assert personal["name"] == "Personal"
        assert (work["sites"], personal["sites"]) == (1, 0)
        assert work["removedBy"] == program_name()


@in_loop
async def test_a_long_trash_is_listed_without_reading_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trash_contents, "_MAX_ROWS", 2)
    async with hatbox.open(tmp_path / "profile.db") as profile:
        for number in (1, 2, 3):
            await api(profile).identities.remove(f"firefox-container-{number}")
        assert [each.get("sites") for each in await api(profile).trash.list()] == [0, 0, None]
        monkeypatch.setattr(trash_contents, "_MAX_ROWS", 0)  # what was read is in memory
        assert [each.get("sites") for each in await api(profile).trash.list()] == [0, 0, None]


@in_loop
async def test_a_restored_identity_has_everything_again(address: str) -> None:
    async with hatbox.open(address) as profile:
        await fill(profile)
        [before] = await api(profile).identities.summaries([WORK])
        order = await api(profile).identities.order()
        removed = await api(profile).identities.remove(WORK)
        assert await api(profile).trash.restore(removed["trashId"]) == before
        assert await api(profile).identities.order() == order
        assert await api(profile).trash.list() == []
        assert (await api(profile).identities.details(WORK))["settings"]["userAgent"] == f"{MARK} agent"


@in_loop
async def test_what_is_not_in_the_trash_is_reported_and_nothing_changes(address: str) -> None:
    async with hatbox.open(address) as profile:
        await api(profile).identities.remove(WORK)
        for trash_id in ("firefox-container-1", "Work", "firefox-default", "", "firefox-container-99999999999"):
            for call in (api(profile).trash.restore, api(profile).trash.remove):
                with pytest.raises(NotInTrash, match="not in the trash"):
                    await call(trash_id)
        assert len(await api(profile).trash.list()) == 1


@in_loop
async def test_emptying_the_trash_deletes_all_of_it(address: str) -> None:
    async with hatbox.open(address) as profile:
        await api(profile).identities.remove(WORK)
        await api(profile).identities.remove("firefox-container-1")
        assert await api(profile).trash.empty() == 2
        assert await api(profile).trash.list() == []
        assert await api(profile).trash.empty() == 0


@in_loop
async def test_only_the_removed_identities_that_the_user_has_seen_are_deleted(address: str) -> None:
    async with hatbox.open(address) as profile:
        await api(profile).identities.remove(WORK)
        await api(profile).identities.remove("firefox-container-1")
        assert await api(profile).trash.empty([WORK, "firefox-container-3", "Work"]) == 1
        assert [each["trashId"] for each in await api(profile).trash.list()] == ["firefox-container-1"]
        assert await api(profile).trash.empty([]) == 0


@pytest.mark.parametrize("how", ["remove from the trash", "empty the trash", "remove for ever"])
@in_loop
async def test_an_identity_that_is_deleted_for_ever_leaves_nothing(address: str, how: str) -> None:
    async with hatbox.open(address) as profile:
        await fill(profile)
        if how == "remove for ever":
            await api(profile).identities.remove(WORK, {"forever": True})
            await profile.identities.log_scrubs.finish()
        else:
            await api(profile).identities.remove(WORK)
            await (api(profile).trash.empty() if how == "empty the trash" else api(profile).trash.remove(WORK))
        assert MARK not in await contents(profile)


async def contents(profile: Profile) -> str:
    """All rows of the profile that a copy has, and the change log."""

    def logged(transaction: Transaction) -> str:
        return repr(transaction.changes.latest_commits(1000))

    with dump_at(profile.address, profile.store.key) as dump:
        rows = [row for _, rows in dump.batches for row in rows]
    return repr(rows) + await profile.store.read(logged)


@in_loop
async def test_a_full_profile_has_the_marks_that_the_test_above_looks_for(address: str) -> None:
    async with hatbox.open(address) as profile:
        await fill(profile)
        assert (await contents(profile)).count(MARK) > 10


@pytest.mark.process
@in_loop
async def test_changes_of_the_trash_are_reported(address: str) -> None:
    async with hatbox.open(address) as profile:
        received: list[dict[str, Any]] = []
        api(profile).trash.onChanged.addListener(received.append)
        await api(profile).identities.remove(WORK)
        await until(lambda: received)
        assert received.pop() == {"ids": [WORK], "all": False}
        assert [each["trashId"] for each in await api(profile).trash.list([WORK, "firefox-container-1"])] == [WORK]
        await api(profile).trash.restore(WORK)
        await until(lambda: received)
        assert received.pop() == {"ids": [WORK], "all": False}
        await profile.set_settings(trash_days=3)
        await until(lambda: received)
        assert received.pop() == {"ids": [], "all": True}
        with OtherProcess() as other:
            other.call("open", profile.address)
            other.identities("remove", "Work")
            await until(lambda: received)
        assert received.pop() == {"ids": [WORK], "all": False}


@in_loop
async def test_an_identity_that_leaves_the_trash_for_lack_of_room_is_named(address: str) -> None:
    async with hatbox.open(address) as profile:
        await profile.set_settings(trash_bytes=TRASH_BYTES)
        await profile.store.write(lambda each: each.site_data.put(2, "https://site.example", bytes(TRASH_BYTES // 2)))
        await profile.store.write(lambda each: each.site_data.put(1, "https://site.example", bytes(TRASH_BYTES // 2)))
        await api(profile).identities.remove(WORK)
        received: list[dict[str, Any]] = []
        api(profile).trash.onChanged.addListener(received.append)
        await api(profile).identities.remove("firefox-container-1")
        await until(lambda: received)
        assert set(received[0]["ids"]) == {WORK, "firefox-container-1"}
        assert [each["trashId"] for each in await api(profile).trash.list()] == ["firefox-container-1"]
