from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import ContainerReference, ImportedRule, RuleBundle, SkippedRule
from hatbox.extension_data.storage.storage_areas import AREAS
from hatbox.extension_data.storage.storage_items import set_items
from tests.store.in_loop import in_loop


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


def bundle(*rules: tuple[str, ContainerReference]) -> RuleBundle:
    return RuleBundle(tuple(ImportedRule(pattern, pattern, container) for pattern, container in rules))


WORK, ZOO = ContainerReference("Work"), ContainerReference("Zoo", "pet", "red")


@in_loop
async def test_rules_are_imported_once_and_unknown_identities_are_reported(path: Path) -> None:
    async with hatbox.open(path) as profile:
        changed: list[None] = []
        profile.rules.on_changed.add_listener(changed.append)
        rules = bundle(("a.example", WORK), ("b.example", ZOO), ("c.example", ContainerReference("wORK")))
        report = await profile.import_rules(rules)
        assert (report.added, report.identities_new) == (2, [])
        assert [each.source for each in report.skipped] == ["b.example"]
        assert "--create" in report.skipped[0].reason
        assert changed == [None]
        report = await profile.import_rules(rules, create=True)
        assert (report.added, report.unchanged, report.identities_new, report.skipped) == (1, 2, ["Zoo"], [])
        zoo = await profile.identity_for("https://b.example/")
        assert zoo is not None
        assert (zoo.name, zoo.icon, zoo.color) == ("Zoo", "pet", "red")
        report = await profile.import_rules(rules, create=True)
        assert (report.added, report.unchanged, report.identities_new) == (0, 3, [])
        assert len(changed) == 2


@in_loop
async def test_the_users_own_rule_stays_and_is_named_unless_replace_is_passed(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.rules.add("a.example", "Personal")
        report = await profile.import_rules(bundle(("a.example", WORK)))
        assert report.added == 0
        assert "exists: Personal" in report.skipped[0].reason
        report = await profile.import_rules(bundle(("a.example", WORK)), replace=True)
        assert report.replaced == 1
        found = await profile.identity_for("https://a.example")
        assert found is not None
        assert found.name == "Work"


@in_loop
async def test_of_several_identities_with_one_name_the_one_with_the_same_looks_is_meant(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.create("Zoo", color="blue", icon="tree")
        red = await profile.identities.create("Zoo", color="red", icon="pet")
        report = await profile.import_rules(
            bundle(("a.example", ZOO), ("b.example", ContainerReference("Zoo"))), create=True
        )
        assert await profile.identity_for("https://a.example") == red
        assert "2 identities are named" in report.skipped[0].reason


@in_loop
async def test_a_failed_import_changes_nothing(path: Path) -> None:
    async with hatbox.open(path) as profile:
        broken: Any = RuleBundle((ImportedRule("a", "a.example", ZOO), None))  # type: ignore[arg-type]
        with pytest.raises(AttributeError):
            await profile.import_rules(broken, create=True)
        assert await profile.rules.list() == []
        assert len(await profile.identities.query()) == 4


@in_loop
async def test_more_than_100_regular_expressions_are_reported(path: Path) -> None:
    async with hatbox.open(path) as profile:
        report = await profile.import_rules(bundle(*((f"regex:x{number}", WORK) for number in range(102))))
        assert (report.added, len(report.skipped)) == (100, 2)


@in_loop
async def test_rules_of_an_extension_in_this_profile_are_imported(path: Path) -> None:
    async with hatbox.open(path) as profile:
        with pytest.raises(hatbox.ImportExportError, match="no data in this profile"):
            await profile.extension_rules("mac")
        with pytest.raises(hatbox.ImportExportError, match="mac, containerise"):
            await profile.extension_rules("other")

        def fill(transaction: Any) -> None:
            mac = {
                "siteContainerMap@@_a.example": {"userContextId": "2"},
                "siteContainerMap@@_b.example": {"userContextId": "77"},
            }
            set_items(transaction, "@testpilot-containers", AREAS["local"], mac)
            maps = {
                "map=c.example": {"host": "c.example", "containerName": "x", "cookieStoreId": "firefox-container-3"}
            }
            set_items(transaction, "containerise@kinte.sh", AREAS["local"], maps)

        await profile.store.write(fill)
        for program in ("mac", "containerise"):
            report = await profile.import_rules(await profile.extension_rules(program))
            assert report.added == 1
            if program == "mac":
                assert report.skipped == [SkippedRule("b.example", "identity not found: firefox-container-77")]
        assert [(each.pattern, each.identities[0]) for each in await profile.rules.list()] == [
            ("a.example", "firefox-container-2"),
            ("c.example", "firefox-container-3"),
        ]


def test_the_same_without_an_event_loop(path: Path) -> None:
    with hatbox.open_sync(path) as profile:
        assert profile.import_rules(bundle(("a.example", WORK))).added == 1
        with pytest.raises(hatbox.ImportExportError):
            profile.extension_rules("mac")
