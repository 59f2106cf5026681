"""profile.rules: stored with the profile, seen by every process at once, removed with their identity."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import InvalidSiteRule, SiteRule, SiteRuleExists, SiteRuleNotFound
from hatbox.site_rules.rule_index import MAX_REGEX_RULES
from hatbox.site_rules.rule_rows import RULES_CHANGED, rules_of
from tests.postgres import address_of
from tests.store.in_loop import in_loop
from tests.waiting import until

PERSONAL, WORK, BANKING = "firefox-container-1", "firefox-container-2", "firefox-container-3"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


@in_loop
async def test_a_rule_decides_after_the_profile_was_closed_and_opened_again(path: Path) -> None:
    profile = hatbox.open(path)
    async with profile:
        work = await profile.identities.find("Work")
        added = await profile.rules.add("*.GitHub.com/work-org/*", work, limit=True)
        assert added == SiteRule(id=1, pattern="*.github.com/work-org/*", identities=(WORK,), limit=True)
        asks = await profile.rules.add("mail.example", ["Work", PERSONAL, "firefox-default"], ask=True)
        assert asks.identities == (WORK, PERSONAL, "firefox-default")
        assert (await profile.rules.decide("https://github.com/work-org/x")).identity == WORK
    async with profile:
        assert await profile.rules.list() == [added, asks]
        assert (await profile.rules.decide("https://github.com/work-org/x")).rule == added
        assert (await profile.rules.decide("https://mail.example/", "Personal")).is_ask
        assert (await profile.rules.decide("https://other.example/", "Work")).limited_by == added
        explained = await profile.rules.test("https://github.com/work-org/x", work)
        assert [match.rule for match in explained.matches] == [added]


@in_loop
async def test_a_refused_rule_changes_nothing(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.rules.add("a.example", "Work")
        refused: list[tuple[type[Exception], Callable[[], Awaitable[Any]]]] = [
            (InvalidSiteRule, lambda: profile.rules.add("a.*.example", "Work")),
            (InvalidSiteRule, lambda: profile.rules.add("b.example", [])),
            (InvalidSiteRule, lambda: profile.rules.add("b.example", ["Work", "Personal"])),
            (InvalidSiteRule, lambda: profile.rules.add("b.example", ["Work"], ask=True)),
            (InvalidSiteRule, lambda: profile.rules.add("b.example", ["Work", WORK], ask=True)),
            (hatbox.IdentityNotFound, lambda: profile.rules.add("b.example", "Wrok")),
            (hatbox.IdentityNotFound, lambda: profile.rules.add("b.example", "firefox-container-99")),
            (SiteRuleExists, lambda: profile.rules.add("A.example/*", "Personal")),
            (SiteRuleExists, lambda: profile.rules.add("a.example", "Work", limit=True)),
            (SiteRuleNotFound, lambda: profile.rules.remove("b.example")),
            (SiteRuleNotFound, lambda: profile.rules.remove(2)),
            (SiteRuleNotFound, lambda: profile.rules.remove("99999999999999999999999")),
            (TypeError, lambda: profile.rules.add(1, "Work")),  # type: ignore[arg-type]
            (TypeError, lambda: profile.rules.add("b.example", [1])),  # type: ignore[list-item]
            (TypeError, lambda: profile.rules.remove(None)),  # type: ignore[arg-type]
            (TypeError, lambda: profile.rules.remove(True)),
            (TypeError, lambda: profile.rules.decide("https://a.example", 1)),  # type: ignore[arg-type]
        ]
        for error, call in refused:
            with pytest.raises(error):
                await call()
        assert await profile.rules.list() == [SiteRule(id=1, pattern="a.example", identities=(WORK,))]
        with pytest.raises(SiteRuleExists, match=r"a\.example exists: Work.*--replace"):
            await profile.rules.add("a.example", "Personal")


@in_loop
async def test_the_same_rule_again_changes_nothing_and_replace_keeps_its_place(path: Path) -> None:
    async with hatbox.open(path) as profile:
        changed: list[None] = []
        profile.rules.on_changed.add_listener(changed.append)
        first = await profile.rules.add("regex:a", "Work")
        await profile.rules.add("regex:b", "Personal")
        assert await profile.rules.add("regex:a", WORK) == first
        assert len(changed) == 2
        replaced = await profile.rules.add("regex:a", "Banking", replace=True)
        assert (replaced.id, replaced.identities) == (first.id, (BANKING,))
        assert (await profile.rules.decide("https://ab.example/")).rule == replaced
        assert len(changed) == 3


@in_loop
async def test_rules_are_removed_by_id_pattern_or_object_and_ids_are_not_used_again(path: Path) -> None:
    async with hatbox.open(path) as profile:
        for pattern in ("a.example", "b.example", "c.example", "d.example"):
            await profile.rules.add(pattern, "Work")
        third = (await profile.rules.list())[2]
        assert (await profile.rules.remove(1)).pattern == "a.example"
        assert (await profile.rules.remove("B.example/*")).pattern == "b.example"
        assert await profile.rules.remove(third) == third
        assert (await profile.rules.remove("4")).pattern == "d.example"
        assert await profile.rules.list() == []
        assert (await profile.rules.add("e.example", "Work")).id == 5
        await profile.rules.add("f.example", ["Work", "Personal"], ask=True)
        with pytest.raises(SiteRuleNotFound, match="99"):
            await profile.rules.remove_many([5, 99])
        assert len(await profile.rules.list()) == 2, "all or none"
        assert [each.pattern for each in await profile.rules.clear("Work")] == ["e.example", "f.example"]
        assert [each.identities for each in await profile.rules.list()] == [(PERSONAL,)]
        assert len(await profile.rules.clear()) == 1
        assert await profile.rules.list() == []
        assert await profile.rules.clear() == []


@in_loop
async def test_no_more_than_100_regular_expressions_are_stored(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await asyncio.gather(*(profile.rules.add(f"regex:x{number}", "Work") for number in range(MAX_REGEX_RULES)))
        with pytest.raises(InvalidSiteRule, match="100 are allowed"):
            await profile.rules.add("regex:one-more", "Work")
        await profile.rules.add("regex:x1", "Personal", replace=True)
        await profile.rules.add("host.example", "Work")


@in_loop
async def test_the_rules_of_a_removed_identity_go_with_it(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.rules.add("a.example", "Work", limit=True)
        await profile.rules.add("b.example", ["Work", "Personal"], ask=True)
        await profile.rules.add("c.example", "Personal")
        found = await profile.store.read(lambda transaction: rules_of(transaction, WORK))
        assert [each.pattern for each in found] == ["a.example", "b.example"]
        assert (await profile.rules.decide("https://b.example/")).is_ask
        changed: list[None] = []
        profile.rules.on_changed.add_listener(changed.append)
        await profile.identities.remove("Work")
        assert changed == [None]
        assert [(each.pattern, each.identities) for each in await profile.rules.list()] == [
            ("b.example", (PERSONAL,)),
            ("c.example", (PERSONAL,)),
        ]
        assert (await profile.rules.decide("https://a.example/")).rule is None
        decision = await profile.rules.decide("https://b.example/")
        assert (decision.is_ask, decision.identity) == (False, PERSONAL)
        await profile.identities.remove("Banking")
        assert changed == [None], "an identity without rules changes no rules"


@in_loop
async def test_an_id_that_starts_like_another_is_another(path: Path) -> None:
    async with hatbox.open(path) as profile:
        for number in range(8):
            await profile.identities.create(f"more {number}")
        await profile.rules.add("a.example", "firefox-container-10")
        await profile.identities.remove(PERSONAL)
        assert len(await profile.rules.list()) == 1


@pytest.mark.process
@in_loop
async def test_a_change_by_another_program_counts_from_the_next_decision_on(path: Path) -> None:
    async with hatbox.open(path) as profile, hatbox.open(path) as other:
        changed: list[None] = []
        other.rules.on_changed.add_listener(changed.append)
        assert (await other.rules.decide("https://a.example/")).rule is None
        for identity in ("Work", "Personal", "Banking"):
            added = await profile.rules.add("a.example", identity, replace=True)
            assert (await other.rules.decide("https://a.example/")).rule == added
        await profile.rules.remove(added)
        assert (await other.rules.decide("https://a.example/")).rule is None
        await until(lambda: len(changed) == 4)
        script = "import hatbox, sys\nwith hatbox.open_sync(sys.argv[1]) as p: p.rules.add('b.example', 'Work')"
        process = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", script, address_of(path)], check=True)
        assert process.returncode == 0
        assert (await other.rules.decide("https://b.example/")).identity == WORK
        assert (await profile.rules.decide("https://b.example/")).identity == WORK


@in_loop
async def test_two_programs_that_add_the_same_pattern_make_one_rule(path: Path) -> None:
    async with hatbox.open(path) as profile, hatbox.open(path) as other:
        results = await asyncio.gather(
            profile.rules.add("a.example", "Work"), other.rules.add("a.example", "Personal"), return_exceptions=True
        )
        assert sum(isinstance(each, SiteRuleExists) for each in results) == 1
        assert len(await profile.rules.list()) == 1


@in_loop
async def test_a_row_of_a_newer_version_is_ignored_and_stays(path: Path) -> None:
    async with hatbox.open(path) as profile:

        def put(transaction: Any) -> None:
            for data in (
                b"garbage",
                b'{"pattern": 1}',
                b'{"pattern": "a.example", "identities": ["x"], "new": {}}',
                b"\xff",
            ):
                transaction.rules.insert(data)
            transaction.changes.append(RULES_CHANGED, b'{"of": "a newer version"}')

        assert (await profile.rules.decide("https://a.example/")).rule is None
        await profile.store.write(put)
        assert (await profile.rules.decide("https://a.example/")).identities == ("x",)
        await profile.rules.add("b.example", "Work")
        await profile.identities.remove("Work")
        assert len(await profile.store.read(lambda transaction: transaction.rules.find())) == 4


@in_loop
async def test_identity_for_returns_the_identity_none_or_asks(path: Path) -> None:
    async with hatbox.open(path) as profile:
        work = await profile.identities.find("Work")
        await profile.rules.add("a.example", work)
        await profile.rules.add("b.example", ["Work", "Personal"], ask=True)
        await profile.rules.add("c.example", "firefox-default")
        assert await profile.identity_for("https://a.example/x") == work
        assert await profile.identity_for("https://c.example/") is None
        assert await profile.identity_for("https://d.example/") is None
        with pytest.raises(hatbox.IdentityNotChosen, match="Work or Personal") as error:
            await profile.identity_for("https://user:secret@b.example/")
        assert error.value.identities == ("Work", "Personal")
        assert "secret" not in str(error.value)


def test_a_program_without_an_event_loop_has_the_same_rules(path: Path) -> None:
    with hatbox.open_sync(path) as profile:
        changed: list[None] = []
        profile.rules.on_changed.add_listener(changed.append)
        added = profile.rules.add("a.example", "Work")
        assert profile.rules.list() == [added]
        assert profile.rules.decide("https://a.example/").rule == added
        assert profile.rules.test("https://a.example/", "Work").matches[0].rule == added
        found = profile.identity_for("https://a.example/")
        assert found is not None
        assert found.name == "Work"
        assert profile.rules.remove(added) == added
        profile.rules.add("b.example", "Work")
        assert len(profile.rules.clear()) == 1
        assert len(changed) == 4
