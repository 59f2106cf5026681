"""An identity that is deleted for ever leaves nothing of it in the change log."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec
import pytest

import hatbox
from hatbox.identities import trash_rows
from hatbox.identities.trash_rows import expire
from hatbox.identity.ids import container_user_context_id
from hatbox.store.base import CommitRecord, Transaction
from hatbox.tabs.log_scrubbing import _places
from hatbox.tabs.pages import PageState, update_page
from hatbox.tabs.program_records import find_records, put_record
from tests.engines.fake import FakeEngine, run
from tests.store.in_loop import in_loop
from tests.waiting import until

SECRETS = (b"Secret lair", b"lair.example", b"hunter2")


async def fill(profile: hatbox.Profile) -> str:
    """Create an identity with all that the log can say of it. Returns its id."""
    identity = await profile.identities.create("Secret lair", color="red", icon="circle")
    store = await profile.cookie_store(identity)
    await store.receive(["sid=hunter2; HttpOnly"], "https://lair.example/")
    tab = await profile.tabs.open(identity, "https://lair.example/door")
    page = PageState("https://lair.example/door", "Door of lair.example", "", 200, "text/html")
    await profile.tabs.write(lambda each: update_page(each, tab.id, 1, page))
    await profile.rules.add("lair.example", [identity])
    await profile.identities.hide(identity.cookie_store_id)
    await profile.identities.show(identity.cookie_store_id)
    await profile.tabs.open("Work", "https://work.example/")
    return identity.cookie_store_id


async def logged(profile: hatbox.Profile) -> list[CommitRecord]:
    return await profile.store.read(lambda each: each.changes.latest_commits(1000))


async def has_secrets(profile: hatbox.Profile) -> bool:
    text = text_of(await logged(profile))
    return any(secret in text for secret in SECRETS)


def text_of(commits: list[CommitRecord]) -> bytes:
    return b"\n".join(payload for commit in commits for _, payload in commit.changes)


@pytest.mark.parametrize("how", ["remove", "empty", "expiry"])
@in_loop
async def test_deleting_an_identity_from_the_trash_deletes_its_activity(tmp_path: Path, how: str) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        cookie_store_id = await fill(profile)
        await profile.identities.remove(cookie_store_id)
        before = await logged(profile)
        assert all(secret in text_of(before) for secret in SECRETS)
        if how == "remove":
            await profile.trash.remove(cookie_store_id)
        elif how == "empty":
            await profile.trash.empty()
        else:
            await profile.store.write(lambda each: each.trash.put(each.trash.find()[0]._replace(removed=1.0), b""))
            await profile.store.write(lambda each: expire(each, at_once=True))
        commits = await logged(profile)
        number = container_user_context_id(cookie_store_id)
        newest, older = commits[0], commits[1:]
        assert newest.changes[-1] == ("trash.changed", f'"{cookie_store_id}"'.encode())  # the others receive this
        assert not any(secret in text_of(commits) for secret in SECRETS)
        assert cookie_store_id.encode() not in text_of(older)
        assert f"[{number}," not in text_of(older).decode()
        assert b"work.example" in text_of(older)  # what others did stays
        assert [each.sequence for each in older[-len(before) :]] == [each.sequence for each in before]


@in_loop
async def test_deleting_an_identity_at_once_deletes_its_activity_and_others_receive_its_removal(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile, hatbox.open(path) as other:
        removed: list[str] = []
        cookie_store_id = await fill(profile)
        other.identities.on_removed.add_listener(lambda each: removed.append(each.name))
        await other.store.deliver_pending_changes()
        await profile.identities.remove(cookie_store_id, forever=True)
        await until(lambda: removed)
        await profile.identities.log_scrubs.finish()
        assert not await has_secrets(profile)
    assert removed == ["Secret lair"]


@pytest.mark.parametrize(
    "caller", ["python", "script", "manager", pytest.param("command line", marks=pytest.mark.process)]
)
@in_loop
async def test_no_caller_that_deletes_an_identity_for_ever_leaves_it_in_the_log(tmp_path: Path, caller: str) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as reader:  # the last program that closes a profile empties the log anyway
        async with hatbox.open(path) as profile:
            cookie_store_id = await fill(profile)
            api = profile.browser(["hatbox", "contextualIdentities"])
            if caller == "python":
                await profile.identities.remove(cookie_store_id, forever=True)
            elif caller == "script":
                await profile.set_settings(trash_days=0)
                await api.contextualIdentities.remove(cookie_store_id)
            elif caller == "manager":
                await api.hatbox.identities.remove(cookie_store_id, {"forever": True})
        if caller == "command line":
            arguments = [
                sys.executable,
                "-m",
                "hatbox",
                "remove",
                "--profile",
                reader.address,
                cookie_store_id,
                "--forever",
            ]
            process = await asyncio.create_subprocess_exec(*arguments, "--yes", stdout=asyncio.subprocess.DEVNULL)
            assert await process.wait() == 0
        commits = await logged(reader)
        assert not any(secret in text_of(commits) for secret in SECRETS)
        assert not await reader.store.read(find_records)


@in_loop
async def test_the_log_of_a_program_that_was_killed_is_scrubbed_by_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path) as profile:
        cookie_store_id = await fill(profile)

        def kill(transaction: Transaction) -> None:
            trash_rows.remove(transaction, cookie_store_id, forever=True)
            for key, record in find_records(transaction):
                ended = record.process._replace(pid=2**22 + 1)
                put_record(transaction, key, msgspec.structs.replace(record, process=ended))

        await profile.store.write(kill)
        assert await has_secrets(profile)
        async with hatbox.open(path):
            pass
        assert not await has_secrets(profile)


@in_loop
async def test_a_closed_temporary_identity_does_not_read_the_whole_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        with monkeypatch.context() as patch:
            patch.setattr("hatbox.store.tables.log_entries.LogEntries.scrub", _unexpected)
            async with profile.temporary("Secret lair") as identity:
                await (await profile.cookie_store(identity)).receive(["sid=hunter2"], "https://lair.example/")
            await profile.identities.log_scrubs.finish()
        activity = await profile.browser(["hatbox"]).hatbox.activity.list()
        assert "lair" not in repr(activity)  # it is shown nowhere


def _unexpected(*_: object) -> None:
    raise AssertionError("the log was read")


def test_only_the_changes_of_the_identity_are_chosen() -> None:
    changes = [
        ("identities.created", b'{"cookieStoreId":"firefox-container-5"}'),
        ("identities.created", b'{"cookieStoreId":"firefox-container-55"}'),
        ("cookies.changed", b"[5,true,1,[]]"),
        ("cookies.changed", b"[15,true,1,[]]"),
        ("cookies.gone", b"5"),
        ("site_data.forgotten", b'{"number":5,"parts":[],"hosts":["a.example"]}'),
        ("tabs.created", b'{"id":7,"cookie_store_id":"firefox-container-5"}'),
        ("tabs.activated", b'{"tab_id":3,"previous_tab_id":7,"window_id":1}'),
        ("tabs.navigated", b"7"),
        ("tabs.moved", b'{"tab_id":8,"window_id":7}'),
        ("windows.removed", b"7"),
        ("history.visited", b'{"url":"https://lair.example/"}'),
        ("storage.changed", b'{"a":' * 5000 + b"1" + b"}" * 5000),
        ("rules.changed", b"null"),
    ]
    assert _places(changes, frozenset({5})) == {0, 2, 4, 5, 6, 7, 8, 11}


@in_loop
async def test_an_engine_in_another_program_survives_and_closes_the_pages(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    engine = FakeEngine()

    async def delete(other: hatbox.Profile, *, forever: bool) -> None:
        identity = await other.identities.create("Secret lair")
        tab = await other.tabs.open(identity, "https://lair.example/")
        await until(lambda: tab.id in engine.pages)
        # At once: the engine may not have read the first changes when they are scrubbed.
        work = await other.tabs.open("Work", "https://work.example/")
        await other.tabs.open(identity, "https://lair.example/second")
        await other.identities.remove(identity, forever=forever)
        if not forever:
            await other.trash.remove(identity.cookie_store_id)
        await until(lambda: [*engine.pages] == [work.id])
        await other.tabs.close([work.id])
        await until(lambda: not engine.pages)

    async with hatbox.open(path) as profile, hatbox.open(path) as other, run(engine, profile):
        await delete(other, forever=False)
        await delete(other, forever=True)
