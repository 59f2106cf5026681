"""The namespace hatbox.rules, as the manager page uses it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.profile import Profile
from hatbox.store.record_tables import PageRow
from tests.manager_api.page_errors import refused, shown
from tests.waiting import until

PERSONAL, WORK, BANKING, SHOPPING = (f"firefox-container-{number}" for number in (1, 2, 3, 4))


@asynccontextmanager
async def opened(path: Path) -> AsyncIterator[tuple[Profile, Any]]:
    async with hatbox.open(path / "profile.db") as profile:
        yield profile, profile.browser(["hatbox"]).hatbox.rules


def in_profile(path: Path, test: Callable[[Profile, Any], Awaitable[None]]) -> None:
    async def run() -> None:
        async with opened(path) as (profile, rules):
            await test(profile, rules)

    asyncio.run(run())


def test_the_last_use_of_a_rule_is_that_of_a_tab_or_page_which_it_opened(tmp_path: Path) -> None:
    async def test(profile: Profile, rules: Any) -> None:
        used = await rules.add("*.forge.example", [WORK])
        visited = await rules.add("forge.example/lumen/*", [BANKING])
        await rules.add("news.example", [WORK])
        tab = await profile.tabs.open(WORK, "https://www.forge.example/")
        await profile.tabs.open("Personal", "https://news.example/")  # in another identity
        last = (await profile.tabs.get(tab.id)).last_accessed
        assert await rules.getLastUses() == [{"rule": used["id"], "time": last * 1000}]
        page = PageRow(1, 3, "https://forge.example/lumen/site", "", 1, 0, last_visit=5.0)
        await profile.store.write(lambda transaction: transaction.history.put(page))
        assert {"rule": visited["id"], "time": 5000} in await rules.getLastUses()

    in_profile(tmp_path, test)


def test_a_wrong_rule_changes_nothing_and_says_what_to_write(tmp_path: Path) -> None:
    async def test(_: Profile, rules: Any) -> None:
        await rules.add("*.forge.example", [WORK])
        before = await rules.list()
        for pattern, ids, message in [
            ("", [WORK], "Type a pattern, for example *.site.example."),
            ("a b", [WORK], "This is not a pattern: a b. It contains a space"),
            ("regex:(", [WORK], "This is not a pattern: regex:(. The regular expression is invalid"),
            ("x" * 3000, [WORK], "more than 2048"),
            ("new.example", [], "Choose an identity for this rule."),
            ("new.example", ["firefox-container-99"], "This identity is gone."),
            (
                "*.FORGE.example",
                [BANKING],
                "There is already a rule for *.forge.example: it opens in Work. Remove",
            ),
            ("*.forge.example", [WORK], "There is already a rule for *.forge.example: it opens in Work. Remove"),
        ]:
            with refused() as error:
                await rules.add(pattern, ids)
            assert message in shown(error.value)
        assert await rules.list() == before

    in_profile(tmp_path, test)


def test_a_removed_rule_comes_back_at_its_place(tmp_path: Path) -> None:
    async def test(profile: Profile, rules: Any) -> None:
        await rules.add("regex:forge", [WORK], {"limit": True})
        await rules.add("regex:example", [SHOPPING, BANKING])
        before = await rules.list()
        (removed,) = await rules.remove(before[0]["id"])
        assert (await rules.test("forge.example"))["title"] == "Asks: Shopping or Banking"
        with refused("This rule is gone"):
            await rules.remove(removed["id"])
        await rules.restore(removed)
        assert await rules.list() == before
        assert (await rules.test("forge.example"))["title"] == "Opens in Work"

        (removed,) = await rules.remove("regex:example")
        await profile.identities.remove(SHOPPING)
        assert (await rules.restore(removed))["identities"] == [BANKING]
        (removed,) = await rules.remove("regex:example")
        await profile.identities.remove(BANKING)
        with refused("its identity is gone"):
            await rules.restore(removed)

    in_profile(tmp_path, test)


def test_an_address_is_explained_with_the_names_of_now(tmp_path: Path) -> None:
    async def test(profile: Profile, rules: Any) -> None:
        await rules.add("*.forge.example", [WORK])
        await rules.add("forge.example/lumen/*", [BANKING])
        await profile.identities.update(BANKING, name="<img onerror>")
        verdict = await rules.test("forge.example/lumen/site", WORK)
        assert (verdict["outcome"], verdict["title"]) == ("opens", "Opens in <img onerror> instead")
        assert [each["reason"] for each in verdict["matches"]] == [
            "decides: its host is exact",
            "would be Work, but is less specific",
        ]
        assert not verdict["isLimited"]
        await rules.add("work.example", [WORK], {"limit": True})
        verdict = await rules.test("forge.example/lumen/site", WORK)  # the page opens it in the other identity
        assert (verdict["title"], verdict["isLimited"]) == ("Opens in <img onerror> instead", True)
        verdict = await rules.test("news.example", WORK)
        assert (verdict["outcome"], verdict["isLimited"]) == ("blocked", True)
        for wrong in ("two words", "javascript:alert(1)", "/etc/passwd"):
            with refused() as error:
                await rules.test(wrong)
            expected = f"This is not an address: {wrong}. Try forge.example or https://forge.example/"
            assert shown(error.value) == expected

    in_profile(tmp_path, test)


def test_a_change_by_another_program_is_an_event(tmp_path: Path) -> None:
    async def test(_: Profile, rules: Any) -> None:
        changes: list[dict[str, Any]] = []
        rules.onChanged.addListener(changes.append)
        async with hatbox.open(tmp_path / "profile.db") as other:
            await other.rules.add("rail.example", WORK)
            await until(lambda: changes)
            ((number,), is_all) = changes[0]["ids"], changes[0]["all"]
            assert not is_all
            assert [each["pattern"] for each in await rules.list([number, number + 1])] == ["rail.example"]
            changes.clear()
            await other.rules.add("regex:^https://site[.]example/", WORK)
            await until(lambda: changes)
            (added,) = await rules.list(changes[0]["ids"])
            assert added["isValid"]
            changes.clear()
            await other.rules.remove(number)
            await until(lambda: changes)
            assert changes[0]["ids"] == [number]
            assert await rules.list([number]) == []
            changes.clear()
            await other.rules.clear()  # the change log does not list them
            await until(lambda: changes)
            assert changes == [{"ids": [], "all": True}]

    in_profile(tmp_path, test)


def test_an_import_reports_what_exists_and_offers_to_create_what_is_missing(tmp_path: Path) -> None:
    text = "# mine\na.example , work\nb.example , Client\nc.example , Client\nshop.example , Work\n@( , Work\n"

    async def test(profile: Profile, rules: Any) -> None:
        await rules.add("shop.example", [SHOPPING])
        first = await rules.importFrom("containerise", text)
        assert len(first["added"]) == 1
        assert first["missing"] == ["Client"]
        assert first["existing"] == ["shop.example"]
        assert [each["source"] for each in first["leftOut"]] == ["@("]
        second = await rules.importFrom("containerise", text, {"create": True})
        assert (len(second["added"]), second["unchanged"], len(second["created"])) == (2, 1, 1)
        assert (await profile.identities.resolve("Client")).cookie_store_id == second["created"][0]
        await rules.remove(second["added"])
        assert [each["pattern"] for each in await rules.list()] == ["shop.example", "a.example"]

    in_profile(tmp_path, test)


def test_assignments_of_multi_account_containers_need_the_names_of_the_containers(tmp_path: Path) -> None:
    storage = json.dumps({"siteContainerMap@@_mail.example": {"userContextId": "7", "neverAsk": True}})
    containers = json.dumps(
        {
            "version": 5,
            "lastUserContextId": 7,
            "identities": [{"userContextId": 7, "public": True, "icon": "cart", "color": "pink", "name": "Shopping"}],
        }
    )

    async def test(_: Profile, rules: Any) -> None:
        with refused(r"no names. Add the file containers.json"):
            await rules.importFrom("mac", storage)
        assert len((await rules.importFrom("mac", storage, {"containers": containers}))["added"]) == 1
        assert (await rules.test("mail.example"))["title"] == "Opens in Shopping"

    in_profile(tmp_path, test)


@pytest.mark.parametrize("program", ["mac", "containerise"])
@pytest.mark.parametrize("text", ["", "\0\ud800", "[", "{}", '{"map=a": 5}', "nonsense", "x" * (4 * 2**20 + 1)])
def test_a_file_that_is_something_else_changes_nothing(tmp_path: Path, program: str, text: str) -> None:
    async def test(_: Profile, rules: Any) -> None:
        await rules.add("shop.example", [SHOPPING])
        before = await rules.list()
        if (program, text) == ("containerise", '{"map=a": 5}'):
            assert (await rules.importFrom(program, text))["added"] == []
        else:
            with refused():
                await rules.importFrom(program, text)
        assert await rules.list() == before

    in_profile(tmp_path, test)


def test_rules_of_an_extension_in_this_profile_are_imported(tmp_path: Path) -> None:
    from hatbox.extension_data.storage.storage_areas import AREAS
    from hatbox.extension_data.storage.storage_items import set_items
    from hatbox.formats.containerise_rules import CONTAINERISE_EXTENSION

    async def test(profile: Profile, rules: Any) -> None:
        assert await rules.getImportSources() == []
        with refused(r"Containerise has no data in this profile. Drop a file here"):
            await rules.importFrom("containerise")
        items = {"map=rail.example": {"host": "rail.example", "containerName": "Work", "cookieStoreId": WORK}}
        await profile.store.write(lambda each: set_items(each, CONTAINERISE_EXTENSION, AREAS["local"], items))
        assert await rules.getImportSources() == ["containerise"]
        assert len((await rules.importFrom("containerise"))["added"]) == 1
        assert (await rules.test("rail.example"))["identities"] == [WORK]

    in_profile(tmp_path, test)
