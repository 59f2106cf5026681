from __future__ import annotations

import asyncio
import builtins
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import IdentityMismatch, IdentityNotFound, IdentityRemoved, InvalidIdentity, MissingExtra, ProfileClosed
from hatbox.clients.identity_binding import IdentityBinding, require_extra
from hatbox.cookies import parse_request_url

HERE = parse_request_url("https://site.example/")


def test_an_identity_is_looked_up_once(path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(path) as profile:
            worn = IdentityBinding(profile.identities, profile.cookies, "Work")
            await asyncio.gather(worn.receive(HERE, [b"a=1"]), worn.receive(HERE, [b"b=2"]))
            await profile.identities.update("firefox-container-2", name="Office")
            await profile.identities.update("firefox-container-1", name="Work")
            assert await worn.header(HERE) == "a=1; b=2"

    asyncio.run(main())


def test_a_profile_that_is_opened_again_has_what_others_did_meanwhile(path: Path) -> None:
    async def main() -> None:
        profile = hatbox.open(path)
        worn = IdentityBinding(profile.identities, profile.cookies, "Work")
        async with profile:
            await worn.receive(HERE, [b"a=1"])
        with pytest.raises(ProfileClosed):
            await worn.header(HERE)
        async with hatbox.open(path) as other:
            await (await other.cookie_store("Work")).receive([b"a=2"], HERE)
        async with profile:
            assert await worn.header(HERE) == "a=2"

    asyncio.run(main())


def test_an_identity_that_is_gone_or_never_was(path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(path) as profile:
            work = await profile.identities.find("Work")
            await profile.identities.remove(work)
            with pytest.raises(IdentityRemoved, match='"Work"'):
                await IdentityBinding(profile.identities, profile.cookies, work).open_cookie_store()
            with pytest.raises(IdentityNotFound):
                await IdentityBinding(profile.identities, profile.cookies, "firefox-container-2").open_cookie_store()

    asyncio.run(main())


def test_an_identity_of_another_profile_is_not_taken_for_one_of_this(path: Path, tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(path) as profile, hatbox.open(tmp_path / "other.db") as other:
            mine = await profile.identities.create("Mine", color="red", icon="pet")
            theirs = await other.identities.create("Theirs", color="red", icon="pet")
            assert mine.cookie_store_id == theirs.cookie_store_id
            for use in (
                IdentityBinding(profile.identities, profile.cookies, theirs).open_cookie_store(),
                profile.cookie_store(theirs),
            ):
                with pytest.raises(IdentityMismatch, match=r'firefox-container-6 is named "Mine".* not "Theirs"'):
                    await use
            strange = await other.identities.create("Strange", color="red", icon="pet")
            with pytest.raises(IdentityRemoved, match="Strange"):
                await IdentityBinding(profile.identities, profile.cookies, strange).open_cookie_store()
            with pytest.raises(InvalidIdentity):
                await profile.cookie_store(strange)

    asyncio.run(main())


def test_an_identity_that_was_renamed_is_worn_by_what_has_not_changed(path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(path) as profile:
            before = await profile.identities.find("Work")
            await profile.identities.update(before, color="red", icon="pet")
            await IdentityBinding(profile.identities, profile.cookies, before).open_cookie_store()
            after = await profile.identities.update(before, name="Office")
            with pytest.raises(IdentityMismatch, match="Pass the cookieStoreId or the name"):
                await IdentityBinding(profile.identities, profile.cookies, before).open_cookie_store()
            for identity in (after, "Office", before.cookie_store_id):
                await IdentityBinding(profile.identities, profile.cookies, identity).open_cookie_store()

    asyncio.run(main())


def test_what_another_process_does_while_the_cookies_are_loaded_counts(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with hatbox.open(path) as other, hatbox.open(path) as profile:
            store, read = profile.store, profile.store.read
            await (await other.cookie_store("Work")).receive([b"a=1"], HERE)
            await profile.cookies.open("firefox-default")  # from now on the profile hears of others

            def meanwhile(change: Callable[[], Awaitable[object]]) -> None:
                async def slowly(work: Any) -> Any:
                    monkeypatch.setattr(store, "read", read)
                    found = await read(work)
                    assert isinstance(found, list), "the cookies, after the identity was looked up"
                    await change()
                    await store.deliver_pending_changes()
                    return found

                async def looked_up(work: Any) -> Any:
                    monkeypatch.setattr(store, "read", slowly)
                    return await read(work)

                monkeypatch.setattr(store, "read", looked_up)

            work = IdentityBinding(
                profile.identities, profile.cookies, await other.identities.get("firefox-container-2")
            )
            personal = IdentityBinding(
                profile.identities, profile.cookies, await other.identities.get("firefox-container-1")
            )
            theirs = await other.cookie_store("Work")
            meanwhile(lambda: theirs.receive([b"a=2"], HERE))
            assert await work.header(HERE) == "a=2"
            meanwhile(lambda: other.identities.remove("firefox-container-1"))
            with pytest.raises(IdentityRemoved):
                await personal.header(HERE)

    asyncio.run(main())


@pytest.mark.process
def test_no_client_is_imported_before_it_is_asked_for() -> None:
    script = (
        "import hatbox, hatbox.cli, sys\n"
        "assert not {'httpx', 'requests', 'aiohttp', 'urllib3'} & set(sys.modules), sorted(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", ["httpx", "requests", "aiohttp"])
def test_a_missing_client_says_what_to_install(path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    original = builtins.__import__

    def without(module: str, *arguments: Any, **options: Any) -> Any:
        if module.split(".")[0] == name:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(module, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.delitem(sys.modules, f"hatbox.clients.{name}", raising=False)
    with hatbox.open_sync(path) as profile:
        make = getattr(profile, name, None) or getattr(hatbox.Profile(path), name)
        with pytest.raises(MissingExtra, match=rf"{name} is not installed.*pip install 'hatbox\[{name}\]'"):
            make("Work")


def test_what_a_client_itself_is_missing_is_told_as_it_is() -> None:
    with pytest.raises(ModuleNotFoundError, match="inner"), require_extra("outer"):
        raise ModuleNotFoundError("No module named 'inner'", name="inner")
