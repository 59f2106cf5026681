"""history list, search and clear, and the settings that record pages, as a user types them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import hatbox
from hatbox.history.visits import add_visit
from hatbox.store.base import Transaction
from tests.cli.conftest import Cli


def fill(path: Path) -> None:
    def visits(transaction: Transaction) -> None:
        add_visit(transaction, 2, "https://work.example/", title="Work site", time=1_600_000_000.0)
        add_visit(transaction, 0, "https://other.example/%C3%BC", title="Crème", time=1_600_000_060.0)

    async def main() -> None:
        async with hatbox.open(path) as opened:
            await opened.store.write(visits)

    asyncio.run(main())


def test_pages_are_listed_and_found_with_their_identity(cli: Cli, profile: Path) -> None:
    fill(profile)
    listed = cli("history", "list", "--json").json
    assert listed == [
        {
            "url": "https://other.example/%C3%BC",
            "title": "Crème",
            "cookieStoreId": "firefox-default",
            "lastVisit": "2020-09-13T12:27:40+00:00",
            "visits": 1,
        },
        {
            "url": "https://work.example/",
            "title": "Work site",
            "cookieStoreId": "firefox-container-2",
            "lastVisit": "2020-09-13T12:26:40+00:00",
            "visits": 1,
        },
    ]
    shown = cli("history", "list").out
    assert "2020-09-13 12:26" in shown
    assert "https://work.example/" in shown
    assert cli("history", "list", "-n", "1", "--json").json == listed[:1]
    assert cli("history", "list", "-i", "Work", "--json").json == listed[1:]
    assert cli("history", "list", "-i", "firefox-default", "--json").json == listed[:1]
    assert cli("history", "search", "creme ü", "--json").json == listed[:1]
    assert cli("history", "search", "nothing", "--json").json == []
    wrong = cli("history", "list", "-i", "Wrok")
    assert wrong.status == 1
    assert "Work" in wrong.err


def test_clear_asks_first_and_clears_one_identity_or_all(cli: Cli, profile: Path) -> None:
    fill(profile)
    asked = cli("history", "clear", stdin="n\n")
    assert asked.status != 0
    assert "Delete the history of all identities for ever? Identities in the trash keep theirs." in asked.err
    assert len(cli("history", "list", "--json").json) == 2
    assert cli("history", "clear", "-i", "Work", "--yes").out == "Deleted the history of Work.\n"
    assert [each["cookieStoreId"] for each in cli("history", "list", "--json").json] == ["firefox-default"]
    assert cli("history", "clear", "--yes").out == "Deleted the history.\n"
    assert cli("history", "list", "--json").json == []


def test_the_settings_are_shown_and_changed(cli: Cli) -> None:
    before = cli("profile", "settings", "--json").json
    assert (before["history"], before["closedTabs"]) == ("auto", 0)
    changed = cli("profile", "settings", "--history", "on", "--closed-tabs", "25", "--json").json
    assert (changed["history"], changed["closedTabs"]) == ("on", 25)
    wrong = cli("profile", "settings", "--history", "yes")
    assert wrong.status == 2
    assert "history must be auto, on or off, not 'yes'" in wrong.err
    assert cli("profile", "settings", "--json").json == changed
