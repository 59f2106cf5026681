from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from hatbox.javascript.text import is_blank, well_formed
from tests.cli.conftest import Cli, run_here
from tests.cli.terminal.test_terminal_text import steers_a_terminal
from tests.postgres import sqlite_file

WORK = {
    "name": "Work",
    "icon": "briefcase",
    "iconUrl": "resource://usercontext-content/briefcase.svg",
    "color": "orange",
    "colorCode": "#ff9f00",
    "cookieStoreId": "firefox-container-2",
    "hidden": False,
}
ARRAY_OF_WORK = (
    '[\n  {\n    "name": "Work",\n    "icon": "briefcase",\n'
    '    "iconUrl": "resource://usercontext-content/briefcase.svg",\n    "color": "orange",\n'
    '    "colorCode": "#ff9f00",\n    "cookieStoreId": "firefox-container-2",\n    "hidden": false\n  }\n]\n'
)
VERBS = [
    ("get",),
    ("update", "--name", "New"),
    ("move", "--to", "first"),
    ("hide",),
    ("show",),
    ("remove", "--yes"),
]


def names(cli: Cli) -> list[str]:
    return [each["name"] for each in cli("list", "--json").json]


# ------------------------------------------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize("verb", VERBS)
def test_a_name_that_nothing_has_brings_up_the_nearest(cli: Cli, verb: tuple[str, ...]) -> None:
    result = cli(*verb, "Wrok")
    assert (result.status, result.out) == (1, "")
    assert result.err == 'hatbox: identity not found: "Wrok". Did you mean "Work"? List identities with: hatbox list\n'


@pytest.mark.parametrize("verb", VERBS)
def test_an_ambiguous_name_lists_the_candidates_and_changes_nothing(cli: Cli, verb: tuple[str, ...]) -> None:
    cli("create", "Work", "--color", "cyan", "--icon", "pet")
    before = cli("list", "--json").out
    result = cli(*verb, "Work")
    assert (result.status, result.out) == (1, "")
    assert result.err == (
        'hatbox: 2 identities are named "Work". Pass the cookieStoreId instead.\n'
        "orange  briefcase  Work  firefox-container-2\n"
        "cyan    pet        Work  firefox-container-6\n"
    )
    assert cli("list", "--json").out == before


def test_programs_get_the_same_help_as_json(cli: Cli) -> None:
    assert cli("get", "Wrok", "--json").error == {
        "type": "IdentityNotFound",
        "message": 'identity not found: "Wrok". Did you mean "Work"? List identities with: hatbox list',
        "nearest": ["Work"],
    }
    cli("create", "Work")
    error = cli("get", "Work", "--json").error
    assert error["type"] == "AmbiguousIdentity"
    assert [each["cookieStoreId"] for each in error["candidates"]] == ["firefox-container-2", "firefox-container-6"]
    assert error["candidates"][0] == WORK


@pytest.mark.parametrize(
    "command",
    [["fetch", "localhost:1", "Work"], ["open", "localhost:1", "Work"], ["rules", "add", "Work", "*.a.example"]],
)
def test_arguments_in_the_wrong_order_are_recognized(cli: Cli, command: list[str]) -> None:
    refused = cli(*command)
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.endswith(', but "Work" is one. Are the arguments in the wrong order?\n')


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["list", "--name", "x"], "No identities.\n"),
        (["tabs"], "No tabs.\n"),
        (["cookies", "list", "Work"], "No cookies.\n"),
        (["trash", "list"], "The trash is empty.\n"),
        (["rules", "list"], "No rules.\n"),
        (
            ["history", "list"],
            "No visited pages. They are not recorded. ",
        ),
        (["grant", "list"], "No grants.\n"),
        (
            ["activity"],
            "No activity. Programs without a grant are listed after: ",
        ),
        (["extensions", "list"], "No extensions.\n"),
    ],
)
def test_an_empty_list_says_so_and_prints_nothing_for_programs(cli: Cli, command: list[str], text: str) -> None:
    shown = cli(*command)
    assert (shown.status, shown.out, shown.err[: len(text)], shown.err.count("\n")) == (0, "", text, 1)
    assert cli(*command, "--json") == (0, "[]\n", "")


def test_removing_says_how_to_undo_it_or_that_it_is_for_ever(cli: Cli) -> None:
    removed = cli("remove", "Work", "--yes")
    assert removed.out == "Removed Work (firefox-container-2)\n"
    assert removed.err == "To undo this: hatbox trash restore firefox-container-2\n"
    assert cli("trash", "restore", "firefox-container-2").status == 0
    gone = (0, "Removed for ever: Work (firefox-container-2)\n", "")
    assert cli("remove", "Work", "--forever", "--yes") == gone


def test_a_name_that_several_have_is_noted_when_it_is_given(cli: Cli) -> None:
    note = '2 identities are named "Work" now. Commands need the cookieStoreId: firefox-container-2, {0}. '
    note += "For another name: hatbox update {0} --name NAME\n"
    assert cli("create", "Work").err == note.format("firefox-container-6")
    assert cli("update", "firefox-container-6", "--name", "Job").err == ""
    assert cli("clone", "Job", "Work").err == note.format("firefox-container-7")
    assert cli("update", "firefox-container-7", "--name", "Play").err == ""
    assert cli("update", "Job", "--name", "Work").err == note.format("firefox-container-6")


def test_create_with_exist_ok_can_be_run_again(cli: Cli) -> None:
    assert cli("create", "Job", "--exist-ok").out == "Created Job (firefox-container-6)\n"
    assert cli("create", "Job", "--color", "red", "--exist-ok") == (0, "Exists: Job (firefox-container-6)\n", "")
    assert cli("get", "Job", "--json").json["color"] == "blue"
    cli("create", "Job")
    assert cli("create", "Job", "--exist-ok", "--json").error["type"] == "AmbiguousIdentity"


def test_an_id_that_is_also_the_name_of_another_identity_is_ambiguous(cli: Cli) -> None:
    cli("create", "firefox-container-1")
    result = cli("remove", "firefox-container-1", "--yes")
    assert result.status == 1
    assert "2 identities are named" in result.err
    assert len(names(cli)) == 5


@pytest.mark.parametrize("verb", ["hide", "show", "remove", "move"])
def test_nothing_changes_when_one_of_several_names_is_wrong(cli: Cli, verb: str) -> None:
    cli("hide", "Banking")
    before = cli("list", "--json").out
    options = {"remove": ["--yes"], "move": ["--to", "last"]}.get(verb, [])
    assert cli(verb, *options, "Personal", "Banking", "Nobody").status == 1
    assert cli("list", "--json").out == before


@pytest.mark.parametrize("name", ["", " ", "\t\n", "\u3000\ufeff"])
def test_a_blank_name_is_refused(cli: Cli, name: str) -> None:
    for arguments in (("create", name), ("update", "Work", "--name", name)):
        result = cli(*arguments)
        assert (result.status, result.err) == (1, "hatbox: Invalid contextual identity name: it is blank\n")
    assert len(names(cli)) == 4


def test_an_empty_name_finds_nothing(cli: Cli) -> None:
    assert cli("get", "").err == 'hatbox: identity not found: "". List identities with: hatbox list\n'


@pytest.mark.parametrize("verb", ["create", "update"])
def test_a_wrong_color_or_icon_brings_up_those_that_are_allowed(cli: Cli, verb: str) -> None:
    result = cli(verb, "Work", "--color", "Gren")
    assert result.status == 1
    assert result.err == (
        'hatbox: Invalid color name Gren for container. Did you mean "green"?\n'
        "Allowed values: gray, yellow, orange, red, pink, purple, violet, blue, cyan, green.\n"
    )
    result = cli(verb, "Work", "--icon", "zzz", "--json")
    assert result.status == 1
    assert result.error["message"] == "Invalid icon zzz for container."
    assert result.error["nearest"] == []
    assert result.error["allowed"][0] == "fingerprint"
    assert cli("list", "--json").json[1] == WORK
    assert len(names(cli)) == 4


def test_update_needs_something_to_change(cli: Cli) -> None:
    result = cli("update", "Work")
    assert (result.status, result.out) == (2, "")
    assert "--name" in result.err


@pytest.mark.parametrize("position", ["middle", "", "1.5"])
def test_a_position_is_first_last_or_a_number(cli: Cli, position: str) -> None:
    result = cli("move", "Work", "--to", position)
    assert result.status == 2
    assert "first, last" in result.err


@pytest.mark.parametrize("position", ["4", "-2"])
def test_a_position_beyond_the_list_is_refused_with_the_range(cli: Cli, position: str) -> None:
    result = cli("move", "Work", f"--to={position}")
    assert result.status == 1
    assert result.err == (f"hatbox: Moving to invalid position {position}. Use first, last, or a number from 0 to 3.\n")


@pytest.mark.parametrize("answer", ["n\n", "\n", "no\n", "what?\n"])
def test_remove_asks_and_takes_no_for_an_answer(cli: Cli, answer: str) -> None:
    result = cli("remove", "Work", stdin=answer)
    assert (result.status, result.out) == (1, "")
    question = "Work: no cookies, no tabs. Remove it? It stays in the trash for 30 days. [y/N] "
    assert result.err == f"{question}hatbox: not removed\n"
    assert "Work" in names(cli)


def test_remove_without_an_answer_removes_nothing(cli: Cli) -> None:
    result = cli("remove", "Work", stdin="")
    assert result.status == 1
    assert result.err.endswith(
        "\nhatbox: not removed: no answer on standard input. Use --yes to skip the confirmation.\n"
    )
    assert "Work" in names(cli)


# ----------------------------------------------------------------------------------------- profiles that are broken


def test_a_file_that_is_no_profile_is_left_alone(cli: Cli, profile: Path) -> None:
    sqlite_file(profile).write_text("my diary")
    result = cli("create", "Clients")
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"hatbox: {profile}: it is not a Hatbox profile.")
    assert profile.read_text() == "my diary"


def test_a_profile_of_a_newer_version_is_left_alone(cli: Cli, ids: dict[str, str], profile: Path) -> None:
    content = bytearray(sqlite_file(profile).read_bytes())
    content[60:64] = (999).to_bytes(4, "big")
    profile.write_bytes(content)
    result = cli("list", "--json")
    assert (result.status, result.out, result.error["type"]) == (1, "", "ProfileTooNew")
    assert profile.read_bytes() == content


def test_a_read_only_profile_says_what_to_do(
    cli: Cli, ids: dict[str, str], profile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite_file(profile)
    monkeypatch.setattr(os, "access", lambda _, mode: mode == os.R_OK)  # permissions themselves do not stop root
    assert "Work" in cli("list").out
    result = cli("create", "Clients")
    assert result.status == 1
    assert "writable" in result.err


def test_a_folder_is_no_profile(cli: Cli, tmp_path: Path) -> None:
    result = cli("list", "--profile", str(sqlite_file(tmp_path)))
    assert result.status == 1
    assert "is not a file" in result.err


# ------------------------------------------------------------------------------------------------------ what works


def test_list_shows_the_identities_in_columns_that_grep_can_use(cli: Cli) -> None:
    assert cli("list").out == (
        "blue    fingerprint  Personal  firefox-container-1\n"
        "orange  briefcase    Work      firefox-container-2\n"
        "green   dollar       Banking   firefox-container-3\n"
        "pink    cart         Shopping  firefox-container-4\n"
    )


def test_list_does_not_cut_or_wrap_long_names_in_a_pipe(cli: Cli) -> None:
    name = "A name " * 100 + "end"
    cli("create", name)
    assert f"  {name}  firefox-container-6\n" in cli("list").out


def test_list_can_be_restricted_to_a_name(cli: Cli) -> None:
    assert cli("list", "--name", "Work", "--json").json == [WORK]
    nothing = cli("list", "--name", "work")
    assert (nothing.status, nothing.out) == (0, "")
    assert cli("list", "--name", "work", "--json").out == "[]\n"


def test_the_json_of_an_identity_is_exactly_this(cli: Cli) -> None:
    assert cli("get", "Work", "--json").out == (
        "{\n"
        '  "name": "Work",\n'
        '  "icon": "briefcase",\n'
        '  "iconUrl": "resource://usercontext-content/briefcase.svg",\n'
        '  "color": "orange",\n'
        '  "colorCode": "#ff9f00",\n'
        '  "cookieStoreId": "firefox-container-2",\n'
        '  "hidden": false\n'
        "}\n"
    )


def test_get_finds_by_name_and_by_id(cli: Cli) -> None:
    by_name, by_id = cli("get", "Work"), cli("get", "firefox-container-2")
    assert by_name == by_id == (0, "orange  briefcase  Work  firefox-container-2\n", "")


def test_create_makes_an_identity_that_later_commands_see(cli: Cli) -> None:
    result = cli("create", "Clients", "--color", "green", "--icon", "briefcase")
    assert result == (0, "Created Clients (firefox-container-6)\n", "")
    assert cli("list").out.endswith("green   briefcase    Clients   firefox-container-6\n")


def test_create_without_color_and_icon_takes_blue_and_circle(cli: Cli) -> None:
    made = cli("create", "Clients", "--json").json
    assert (made["color"], made["icon"], made["name"]) == ("blue", "circle", "Clients")


def test_update_changes_what_is_given_and_keeps_the_rest(cli: Cli) -> None:
    assert cli("update", "Work", "--color", "red").out == "Updated Work (firefox-container-2)\n"
    assert cli("get", "Work", "--json").json == {**WORK, "color": "red", "colorCode": "#ff613d"}
    changed = cli("update", "Work", "--name", "Office", "--icon", "tree", "--json").json
    assert (changed["name"], changed["icon"], changed["color"]) == ("Office", "tree", "red")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["Shopping", "--to", "first"], ["Shopping", "Personal", "Work", "Banking"]),
        (["Personal", "--to", "last"], ["Work", "Banking", "Shopping", "Personal"]),
        (["Personal", "--to=-1"], ["Work", "Banking", "Shopping", "Personal"]),
        (["Personal", "--to", "-1"], ["Work", "Banking", "Shopping", "Personal"]),
        (["Personal", "--to", "1"], ["Work", "Personal", "Banking", "Shopping"]),
        (["Banking", "Personal", "--to", "last"], ["Work", "Shopping", "Personal", "Banking"]),
        (["Personal", "firefox-container-1", "--to", "2"], ["Work", "Banking", "Personal", "Shopping"]),
    ],
)
def test_move_puts_identities_where_they_are_asked_to_be(cli: Cli, arguments: list[str], expected: list[str]) -> None:
    assert cli("move", *arguments).status == 0
    assert names(cli) == expected


def test_hide_and_show_take_several_and_print_an_array(cli: Cli) -> None:
    hidden = cli("hide", "Work", "Banking", "firefox-container-2", "--json").json
    assert [(each["name"], each["hidden"]) for each in hidden] == [("Work", True), ("Banking", True)]
    assert cli("list").out.splitlines()[1] == "orange  briefcase    Work      firefox-container-2  hidden"
    assert cli("show", "Work", "--json").json == [WORK]
    assert cli("show", "Banking").out == "Shown Banking (firefox-container-3)\n"
    assert "hidden" not in cli("list").out


def test_remove_takes_yes_for_an_answer(cli: Cli) -> None:
    result = cli("remove", "Work", stdin="y\n")
    assert (result.status, result.out) == (0, "Removed Work (firefox-container-2)\n")
    assert names(cli) == ["Personal", "Banking", "Shopping"]


def test_remove_of_several_names_them_all_and_keeps_the_prompt_out_of_the_json(cli: Cli) -> None:
    result = cli("remove", "Work", "Banking", "Work", "--json", stdin="Yes\n")
    assert result.err == (
        "  Work (firefox-container-2): no cookies, no tabs. It stays in the trash for 30 days.\n"
        "  Banking (firefox-container-3): no cookies, no tabs. It stays in the trash for 30 days.\n"
        "Remove these 2? [y/N] "
    )
    assert [each["name"] for each in result.json] == ["Work", "Banking"]


def test_remove_with_yes_does_not_ask(cli: Cli) -> None:
    assert cli("remove", "--yes", "Work", "--json") == (0, ARRAY_OF_WORK, "")


def test_a_name_that_begins_with_a_dash_can_be_reached(cli: Cli) -> None:
    assert cli("create", "--", "-x").status == 0
    assert cli("get", "--", "-x").out == "blue  circle  -x  firefox-container-6\n"
    refused = cli("get", "-x")
    assert refused.status == 2
    assert "goes after --" in refused.err


def test_a_name_cannot_steer_the_terminal_in_messages_or_in_the_prompt(cli: Cli) -> None:
    name = "\x1b[2J\nWork\u202e[bold]"
    cli("create", name)
    shown = r"\x1b[2J\nWork\u202e[bold]"
    assert shown in cli("list").out
    assert shown in cli("list", tty=True).out
    assert shown in cli("hide", name, tty=True).out
    assert f"{shown}: no cookies" in cli("remove", name, stdin="n\n").err
    assert shown in cli("get", f"{name}?").err
    assert r"\x1b" in cli("create", "x", "--color", "\x1b[31m").err


@pytest.mark.slow
@given(st.text(min_size=1).filter(lambda name: not is_blank(name)))
@settings(max_examples=30, deadline=None)
def test_any_name_is_shown_harmlessly_and_comes_back_unchanged_in_json(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    profile = str(tmp_path_factory.mktemp("any") / "profile.db")
    made = run_here("create", "--create", "--profile", profile, "--json", "--", name)
    assert made.json["name"] == well_formed(name)
    for shown in (made, run_here("list", "--profile", profile), run_here("list", "--json", "--profile", profile)):
        assert shown.status == 0
        assert not any(steers_a_terminal(character) for character in shown.out.replace("\n", ""))
    assert len(run_here("list", "--profile", profile).out.splitlines()) == 5
    found = run_here("--json", "--profile", profile, "get", made.json["cookieStoreId"])
    assert found.json == made.json


@pytest.mark.parametrize(
    "name", ["Work at home", "日本語の名前のとても長いもの", "👨‍👩‍👧 family", "עבודה שלי", "x" * 60]
)
def test_a_narrow_terminal_has_a_column_of_names(cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    cli("create", name)
    cli("hide", "Banking")
    lines = re.sub(r"\x1b\[[\d;]*m", "", cli("list", tty=True).out).splitlines()
    assert lines[0].split() == ["Name", "Id"]
    assert max(map(cell_len, lines)) <= 40
    place = lines[0].index("Id")
    column = [line[: len(line.split("firefox-container")[0])] if "firefox-" in line else line for line in lines]
    names = "".join("".join(column).split())
    assert "".join(name.split()) in names
    assert "Bankinggreendollarhidden" in names
    assert sum("firefox-container-" in line for line in lines) == 5
    assert place > 15
