"""remove, trash list, restore and empty, and the settings of the trash, as a user types them."""

from __future__ import annotations

import re

import pytest

from hatbox.cli.terminal.sizes import parse_size, size_text
from tests.cli.conftest import Cli


def names(cli: Cli) -> list[str]:
    return [each["name"] for each in cli("list", "--json").json]


def fill(cli: Cli, *, cookies: int = 3) -> None:
    for each in range(cookies):
        site = f"https://a{each}.site{each % 2}.example/"
        assert cli("cookies", "set", "Work", site, f"c{each}", "x" * 100).status == 0


def test_remove_says_what_is_removed_and_restore_brings_it_back(cli: Cli) -> None:
    fill(cli)
    asked = cli("remove", "Work", stdin="n\n")
    assert asked.err.startswith(
        "Work: 3 cookies on 2 sites, no tabs. Remove it? It stays in the trash for 30 days. [y/N] "
    )
    before = cli("cookies", "list", "Work", "--json").json
    assert cli("remove", "Work", "--yes").out == "Removed Work (firefox-container-2)\n"
    (listed,) = cli("trash", "list", "--json").json
    assert (listed["name"], listed["cookieStoreId"], listed["cookies"]) == ("Work", "firefox-container-2", 3)
    assert "Work" in cli("trash", "list").out
    assert cli("trash", "restore", "Work") == (0, "Restored Work (firefox-container-2)\n", "")
    assert names(cli) == ["Personal", "Work", "Banking", "Shopping"]
    assert cli("cookies", "list", "Work", "--json").json == before
    assert cli("trash", "list", "--json").json == []


def test_remove_for_ever_says_so_and_leaves_nothing_in_the_trash(cli: Cli) -> None:
    asked = cli("remove", "--forever", "Work", stdin="y\n")
    assert asked.err == "Work: no cookies, no tabs. Remove it for ever? It cannot be restored. [y/N] "
    assert cli("trash", "list", "--json").json == []
    assert cli("remove", "--forever", "Personal", "Banking", stdin="n\n").err.endswith(
        "Remove these 2 identities for ever? [y/N] hatbox: not removed\n"
    )


def test_an_identity_that_is_too_large_for_the_trash_is_never_lost_without_a_word(cli: Cli) -> None:
    fill(cli)
    assert cli("profile", "settings", "--trash-bytes", "300").status == 0
    refused = cli("remove", "Work", "--yes", "--json")
    assert (refused.status, refused.error["type"]) == (1, "TooLargeForTrash")
    asked = cli("remove", "Work", stdin="n\n").err
    assert "Remove it for ever? It is too large for the trash (" in asked
    assert "Work" in names(cli)
    assert cli("remove", "Work", stdin="y\n").status == 0
    assert "Work" not in names(cli)
    cli("profile", "settings", "--trash-days", "0")
    assert "The trash is off, so it cannot be restored." in cli("remove", "Banking", stdin="n\n").err


def test_empty_asks_and_deletes_all_or_the_named_ones(cli: Cli) -> None:
    assert cli("trash", "empty") == (0, "", "The trash is empty.\n")
    cli("remove", "--yes", "Work", "Banking", "Shopping")
    declined = cli("trash", "empty", "Work", stdin="no\n")
    assert declined.err == (
        '  "Work" (firefox-container-2)\nDelete this identity for ever? [y/N] hatbox: not deleted\n'
    )
    assert cli("trash", "empty", stdin="").status == 1
    assert cli("trash", "empty", "--yes", "Work").out == "Deleted Work (firefox-container-2)\n"
    assert [each["name"] for each in cli("trash", "empty", "-y", "--json").json] == ["Shopping", "Banking"]
    assert cli("trash", "list", "--json").json == []


def test_an_ambiguous_or_unknown_name_is_refused_with_the_candidates(cli: Cli) -> None:
    ids = [cli("create", "Twin", "--json").json["cookieStoreId"] for _ in range(2)]
    cli("remove", "--yes", *ids)
    refused = cli("trash", "restore", "Twin")
    assert refused.status == 1
    assert refused.err.startswith('hatbox: 2 removed identities are named "Twin". Pass the cookieStoreId instead.\n')
    assert [line.split()[-1] for line in refused.err.splitlines()[1:]] == ids
    assert [each["cookieStoreId"] for each in cli("trash", "empty", "Twin", "--json").error["candidates"]] == ids
    unknown = cli("trash", "restore", ids[0], "Twim")
    assert unknown.err == (
        'hatbox: not in the trash: "Twim". Did you mean "Twin"? List the trash with: hatbox trash list\n'
    )
    assert len(cli("trash", "list", "--json").json) == 2
    assert cli("trash", "restore", ids[1]).out == f"Restored Twin ({ids[1]})\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["trash"],
        ["trash", "restore"],
        ["profile", "settings", "--trash-days", "-1"],
        ["profile", "settings", "--trash-days", "soon"],
        ["profile", "settings", "--trash-bytes", "1T"],
        ["profile", "settings", "--trash-skips-extensions", "maybe"],
        ["profile", "settings", "--trash-bytes", "9999G"],
    ],
)
def test_wrong_usage_is_refused(cli: Cli, arguments: list[str]) -> None:
    before = cli("profile", "settings").out
    assert cli(*arguments).status == 2
    assert cli("profile", "settings").out == before


def test_settings_are_shown_and_changed(cli: Cli) -> None:
    assert cli("profile", "settings").out == (
        "trash-days              30 days\ntrash-bytes             256 MiB\ntrash-skips-extensions  yes\n"
        "history                 auto\nclosed-tabs             0\n"
    )
    changed = cli("profile", "settings", "--trash-days", "7", "--trash-bytes", "64M", "--trash-skips-extensions", "no")
    assert "7 days" in changed.out
    assert cli("profile", "settings", "--json").json == {
        "trashDays": 7,
        "trashBytes": 64 * 2**20,
        "trashSkipsExtensions": False,
        "history": "auto",
        "closedTabs": 0,
    }
    assert "for 7 days." in cli("remove", "Work", stdin="n\n").err


@pytest.mark.parametrize(("text", "size"), [("0", 0), ("1000", 1000), ("64K", 2**16), ("1 MiB", 2**20), ("2gb", 2**31)])
def test_sizes_are_read_with_units(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "-1", "1.5M", "1T", "M", "1 2", "٣"])
def test_sizes_that_are_no_sizes_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="invalid size"):
        parse_size(text)


def test_sizes_are_shown_with_three_digits() -> None:
    assert [size_text(each) for each in (0, 1023, 2048, 300 * 2**20, 5 * 2**30)] == [
        *("0 bytes", "1023 bytes", "2 KiB", "300 MiB", "5 GiB"),
    ]


@pytest.mark.parametrize("columns", ["60", "80", "120"])
def test_the_list_names_its_columns_in_every_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    cli("remove", "Work", "--yes")
    shown = cli("trash", "list", tty=True).out
    for title in ("Name", "Id", "Removed", "Expires"):
        assert title in shown.splitlines()[0]
    assert "firefox-container-2" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert max(map(len, plain.splitlines())) <= int(columns)
