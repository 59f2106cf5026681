from __future__ import annotations

import asyncio
import json
import threading
from pathlib import Path
from typing import Any

import platformdirs
import pytest

import hatbox
from hatbox.cookies.cookie import Cookie
from hatbox.formats.base import Bundle, BundleEntry, IdentityAttributes
from hatbox.store.base import Transaction
from hatbox.store.sqlite import SqliteStore
from tests.postgres import is_on_server


def test_without_a_path_the_profile_is_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HATBOX_PROFILE", raising=False)
    expected = Path(platformdirs.user_data_dir("hatbox", appauthor=False)) / "profile.db"
    assert hatbox.default_address() == str(expected)


def test_the_environment_can_name_another_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HATBOX_PROFILE", str(tmp_path / "mine.db"))

    async def main() -> None:
        async with hatbox.open() as profile:
            assert profile.address == str(tmp_path / "mine.db")

    asyncio.run(main())
    assert (tmp_path / "mine.db").exists()


def test_a_relative_path_stays_the_same_file_when_the_program_changes_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    profile = hatbox.open("mine.db")
    monkeypatch.chdir("/")
    assert profile.address == str(tmp_path / "mine.db")


def test_a_profile_can_be_awaited_and_closed_by_hand(tmp_path: Path) -> None:
    async def main() -> None:
        profile = await hatbox.open(tmp_path / "profile.db")
        assert [each.name for each in await profile.identities.query()] == ["Personal", "Work", "Banking", "Shopping"]
        await profile.close()
        await profile.close()
        with pytest.raises(hatbox.ProfileClosed, match="is not open"):
            profile.identities.query()

    asyncio.run(main())


def test_a_profile_can_be_opened_again_after_it_was_closed(tmp_path: Path) -> None:
    async def main() -> None:
        profile = hatbox.open(tmp_path / "profile.db")
        async with profile:
            await profile.identities.create("Travel", color="blue", icon="vacation")
        async with profile:
            assert len(await profile.identities.query("Travel")) == 1

    asyncio.run(main())


def test_a_forgotten_await_or_async_is_an_error_that_says_so(tmp_path: Path) -> None:
    async def forget() -> None:
        async with hatbox.open(tmp_path / "p") as profile:
            browser = profile.browser(permissions=["contextualIdentities"])
            work = profile.identities.find("Work")
            calls: list[Any] = [profile.identities.query(), browser.contextualIdentities.query({}), work]
            for forgotten in calls:
                with pytest.raises(TypeError, match="`await` is missing"):
                    list(forgotten)
            created: Any = profile.identities.create("Later")
            with pytest.raises(TypeError, match="`await` is missing"):
                list(created)
            assert (await work).name == "Work"
            assert (await created).name == "Later"
            managers: list[Any] = [profile, profile.http_engine(), profile.chromium(), profile.httpx("Work")]
            for manager in managers:
                with pytest.raises(TypeError, match="async with"), manager:
                    pass

    asyncio.run(forget())


def test_opening_it_twice_at_once_is_refused(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            with pytest.raises(hatbox.ProfileError, match="already open"):
                await profile.__aenter__()
            assert len(await profile.identities.query()) == 4

    asyncio.run(main())


def test_calls_that_nobody_awaited_are_on_disk_after_closing(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            for number in range(100):
                profile.identities.create(f"Client {number}", color="green", icon="briefcase")
        async with hatbox.open(tmp_path / "profile.db") as profile:
            assert len(await profile.identities.query()) == 104

    asyncio.run(main())


class _Undone(Exception):
    """Rolls a batch of calls back, so that the other calls run again."""


def test_the_progress_of_an_import_that_is_run_again_counts_each_cookie_once(tmp_path: Path) -> None:
    cookies = [Cookie(name=f"n{number}", value="", domain="site.example") for number in range(30)]
    bundle = Bundle([BundleEntry(IdentityAttributes("Clients", "pet", "red"), cookies)])

    def fail_after_a_write(transaction: Transaction) -> None:
        transaction.identities.insert("Lost", "circle", "red")
        raise _Undone

    async def main() -> None:
        runs: list[str] = []
        reported: list[int] = []
        go = threading.Event()
        async with hatbox.open(tmp_path / "profile.db") as profile:
            blocked = profile.store.write(lambda _: go.wait())  # until the next calls are queued: they are one batch
            importing = asyncio.create_task(profile.import_bundle(bundle, progress=reported.append))
            await asyncio.sleep(0)
            counted = profile.store.write(lambda _: runs.append("run"))
            failing = profile.store.write(fail_after_a_write)
            go.set()
            await asyncio.gather(blocked, counted)
            with pytest.raises(_Undone):
                await failing
            assert (await importing).cookies_new == 30
        assert len(runs) == 2
        assert sum(reported) == 30

    asyncio.run(main())


def test_all_times_in_a_profile_are_those_of_its_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A store on a server has the server's time, which may differ from that of this machine."""
    server_time = 2_000_000_000.0
    monkeypatch.setattr(SqliteStore, "time", lambda _: server_time)
    made_extension = tmp_path / "extension"
    made_extension.mkdir()
    manifest = {"manifest_version": 2, "name": "Timely", "version": "1"}
    (made_extension / "manifest.json").write_text(json.dumps(manifest))

    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            store = await profile.cookie_store("Work")
            await store.receive(["sid=1; Max-Age=60"], "https://site.example/")
            (cookie,) = await store.cookies()
            assert (cookie.created, cookie.last_access, cookie.expires) == (server_time, server_time, server_time + 60)
            tab = await profile.tabs.open("Work", "https://site.example/")
            assert 0 <= tab.last_accessed - server_time < 1
            installed = await profile.extensions.install(made_extension)
            assert installed.extension.installed_at == server_time
            assert profile.clock.time() == server_time  # by which alarms fire
            ((at,),) = await profile.store.read(lambda each: each.changes._rows.select("max(at)"))  # type: ignore[attr-defined]
            assert at == server_time * 1000

    asyncio.run(main())


def test_a_profile_that_does_not_exist_is_not_created_if_that_is_not_wanted(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "clients.db"):
            pass
        with pytest.raises(hatbox.ProfileNotFound, match="no profile exists there") as caught:
            await hatbox.open(tmp_path / "client.db", create=False)
        if not is_on_server():
            assert caught.value.nearest == [str(tmp_path / "clients.db")]
            assert not (tmp_path / "client.db").exists()
        async with hatbox.open(tmp_path / "clients.db", create=False) as profile:
            assert len(await profile.identities.query()) == 4

    asyncio.run(main())
    with pytest.raises(hatbox.ProfileNotFound), hatbox.open_sync(tmp_path / "client.db", create=False):
        pass
