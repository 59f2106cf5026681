"""hatbox rules, and hatbox open without an identity."""

from __future__ import annotations

import io
import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from hatbox.cli import GROUPS, invoke
from tests.cli import engines
from tests.cli.conftest import Cli, Stream
from tests.site import Site


@pytest.fixture(autouse=True)
def no_engine_is_left(profile: Path, surroundings: None) -> Iterator[None]:
    yield
    engines.end(profile)


@pytest.mark.parametrize("verb", GROUPS["rules"])
def test_every_verb_has_help(cli: Cli, verb: str) -> None:
    result = cli("rules", verb, "--help")
    assert (result.status, result.err) == (0, "")
    for expected in ("--profile", "--json"):
        assert expected in result.out


def test_a_rule_is_added_listed_explained_and_removed(cli: Cli) -> None:
    assert cli("rules", "list") == (0, "", "No rules.\n")
    assert cli("rules", "list", "--json").json == []
    added = cli("rules", "add", "*.GitHub.com/work-org/*", "Work")
    assert added == (0, "Added rule 1: *.github.com/work-org/* opens in Work\n", "")
    assert cli("rules", "add", "*.github.com", "Personal", "--limit").status == 0
    asks = cli("rules", "add", "mail.example", "Work", "firefox-default", "--ask", "--json").json
    assert asks == {
        "id": 3,
        "pattern": "mail.example",
        "identities": [
            {"name": "Work", "cookieStoreId": "firefox-container-2"},
            {"name": None, "cookieStoreId": "firefox-default"},
        ],
        "ask": True,
        "limit": False,
    }
    listed = cli("rules", "list").out
    assert [line.split() for line in listed.splitlines()] == [
        ["1", "*.github.com/work-org/*", "Work"],
        ["2", "*.github.com", "Personal", "limit"],
        ["3", "mail.example", "Work,", "firefox-default", "ask"],
    ]
    explained = cli("rules", "test", "github.com/work-org/x", "--in", "Personal")
    assert explained.status == 0
    lines = explained.out.splitlines()
    assert lines[0] == "https://github.com/work-org/x opens in Work"
    assert lines[1].split()[:4] == ["wins", "1", "*.github.com/work-org/*", "Work"]
    assert lines[2].startswith("loses")
    assert "a longer path beats a shorter one" in lines[2]
    assert lines[3] == "Blocked in Personal: rule 2 limits it to its rules."
    document = cli("rules", "test", "https://github.com/", "--json", "--in", "Personal").json
    assert document["identities"] == [{"name": "Personal", "cookieStoreId": "firefox-container-1"}]
    assert (document["blocked"], document["limitedBy"]) == (False, None)
    assert cli("rules", "test", "mail.example").out.startswith("https://mail.example/ asks: Work, firefox-default")
    removed = cli("rules", "remove", "*.github.com", "3")
    assert removed.out.splitlines()[0] == "Removed rule 2: *.github.com opens in Personal (limit)"
    assert len(cli("rules", "list", "--json").json) == 1


def test_a_url_without_a_rule_has_status_1_and_a_hint(cli: Cli) -> None:
    result = cli("rules", "test", "site.example")
    assert result.status == 1
    assert "hatbox rules add PATTERN NAME" in result.out
    assert cli("rules", "test", "site.example", "--json").json["matches"] == []


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["rules", "add", "a.*.example", "Work"], 1, "first label"),
        (["rules", "add", "a.example"], 2, "Missing argument"),
        (["rules", "add", "a.example", "Wrok"], 1, 'Did you mean "Work"'),
        (["rules", "add", "a.example", "Work", "Personal"], 1, "--ask"),
        (["rules", "add", "a.example", "Work", "--ask"], 1, "two identities or more"),
        (["rules", "add", "regex:(a", "Work"], 1, "RE2"),
        (["rules", "add", "own.example", "Personal"], 1, "--replace"),
        (["rules", "remove", "own.example", "99"], 1, "rule not found: 99"),
        (["rules", "remove", "other.example"], 1, "hatbox rules list"),
        (["rules", "test", "javascript:x"], 2, "unsupported URL scheme"),
        (["rules", "test", "a.example", "--in", "Wrok"], 1, 'Did you mean "Work"'),
        (["rules", "import", "other"], 2, "mac, containerise"),
        (["rules", "import", "mac"], 1, "specify a file"),
        (["rules", "import", "mac", "/nowhere/file"], 1, "No such file"),
        (["rules", "import", "containerise", "-", "--containers", "x"], 2, "--containers"),
        (["rules", "clear"], 1, "--yes"),
    ],
)
def test_bad_input_says_what_to_do_and_changes_nothing(
    cli: Cli, arguments: list[str], status: int, message: str
) -> None:
    assert cli("rules", "add", "own.example", "Work").status == 0
    before = cli("rules", "list", "--json").out
    result = cli(*arguments)
    assert (result.status, result.out) == (status, "")
    assert message in result.err
    assert cli("rules", "list", "--json").out == before


def test_clear_asks_and_can_be_limited_to_an_identity(cli: Cli) -> None:
    for pattern, name in (("a.example", "Work"), ("b.example", "Personal"), ("c.example", "Work")):
        cli("rules", "add", pattern, name)
    assert cli("rules", "clear", "Work", stdin="n\n").status == 1
    cleared = cli("rules", "clear", "Work", stdin="y\n")
    assert "Remove 2 rules?" in cleared.err
    assert [each["pattern"] for each in cli("rules", "list", "--json").json] == ["b.example"]
    assert len(cli("rules", "clear", "--yes", "--json").json) == 1
    assert cli("rules", "clear") == (0, "", "")


def test_rules_of_other_programs_are_imported_with_a_report(cli: Cli, tmp_path: Path) -> None:
    lines = "# mine\na.example , Work\n@(?=x)y , Work\n!*.b.example , Zoo\n"
    result = cli("rules", "import", "containerise", "-", stdin=lines)
    assert result.status == 0
    assert result.err.splitlines()[0] == "Imported 1 new rule (0 replaced, 0 unchanged)."
    assert "Not imported: @(?=x)y: the regular expression" in result.err
    assert 'Not imported: !*.b.example: identity not found: "Zoo". Create it with --create-identities' in result.err
    file = tmp_path / "rules.csv"
    file.write_text(lines)
    report = cli("rules", "import", "containerise", str(file), "--create-identities", "--json").json
    assert (report["added"], report["unchanged"], report["identitiesNew"]) == (1, 1, ["Zoo"])
    mac = tmp_path / "mac.json"
    mac.write_text(json.dumps({"siteContainerMap@@_m.example": {"userContextId": "12"}}))
    containers = tmp_path / "containers.json"
    identity = {"userContextId": 12, "public": True, "icon": "pet", "color": "red", "name": "Farm"}
    containers.write_text(json.dumps({"version": 5, "lastUserContextId": 12, "identities": [identity]}))
    refused = cli("rules", "import", "mac", str(mac))
    assert (refused.status, "--containers" in refused.err) == (1, True)
    imported = cli("rules", "import", "mac", str(mac), "--containers", str(containers), "--create-identities")
    assert "Created: Farm" in imported.err
    assert [each["pattern"] for each in cli("rules", "list", "--json").json] == [
        "a.example",
        "*.b.example",
        "m.example",
    ]
    assert cli("rules", "import", "mac", str(tmp_path)).status == 1


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_device_or_a_pipe_is_not_imported(cli: Cli, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    containers = tmp_path / "containers.json"
    containers.write_text("{}")
    for arguments in (
        ["containerise", "/dev/zero"],
        ["mac", "/dev/zero"],
        ["mac", str(pipe)],
        ["mac", str(containers), "--containers", str(pipe)],
    ):
        result = cli("rules", "import", *arguments)
        assert (result.status, "not a file" in result.err) == (1, True)
    folder = tmp_path / "firefox" / "browser-extension-data" / "@testpilot-containers"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "storage.js")
    assert "not a file" in cli("rules", "import", "mac", str(tmp_path / "firefox")).err
    assert cli("rules", "list", "--json").json == []


def test_adding_a_rule_again_says_what_has_changed(cli: Cli) -> None:
    assert cli("rules", "add", "a.example", "Work").out == "Added rule 1: a.example opens in Work\n"
    assert cli("rules", "add", "A.example", "Work").out == "Unchanged: rule 1: a.example opens in Work\n"
    replaced = cli("rules", "add", "a.example", "Personal", "--replace")
    assert replaced.out == "Replaced rule 1: a.example opens in Personal\n"


def test_an_empty_page_has_no_rules(cli: Cli) -> None:
    result = cli("rules", "test", "about:blank")
    assert (result.status, result.out) == (2, "")
    assert "about:blank: rules are for http and https URLs" in result.err


# -------------------------------------------------------------------------------------------- open without an identity


def test_without_a_rule_open_says_how_to_make_one(cli: Cli) -> None:
    for arguments in (
        ["https://site.example/x"],
        ["site.example"],
        ["localhost:8000"],
        ["https://u:secret@site.example/"],
    ):
        result = cli("open", *arguments)
        assert (result.status, result.out) == (1, "")
        assert "hatbox rules add '" in result.err
        assert "secret" not in result.err
    assert cli("tabs", "--json").json == []


def test_a_proposed_command_runs_nothing_else_when_it_is_pasted(cli: Cli) -> None:
    proposed = cli("open", "http://a'$(id)'.example/").err.partition("add a rule: ")[2]
    assert shlex.split(proposed)[3:] == ["a'$(id)'.example", "NAME"]
    for name in ("$(id)", "`id`"):
        cli("create", name)
    cli("rules", "add", "ask.example", "$(id)", "`id`", "--ask")
    proposed = cli("open", "ask.example").err.partition("Name one of them: ")[2]
    assert "hatbox open '$(id)' URL" in proposed


def test_a_mistyped_identity_is_not_a_url(cli: Cli) -> None:
    result = cli("open", "Wrok", "https://site.example/")
    assert (result.status, 'Did you mean "Work"' in result.err) == (1, True)
    assert cli("open", "Wrok").status == 1
    assert cli("open", "javascript:alert(1)").status == 2
    assert cli("tabs", "--json").json == []


def test_of_several_urls_one_without_a_rule_opens_none(cli: Cli) -> None:
    cli("rules", "add", "a.example", "Work")
    assert cli("open", "https://a.example/", "https://b.example/").status == 1
    assert cli("tabs", "--json").json == []


def test_a_rule_that_asks_needs_a_terminal(cli: Cli) -> None:
    cli("rules", "add", "a.example", "Work", "Personal", "--ask")
    result = cli("open", "https://a.example/")
    assert result.status == 1
    assert "Work or Personal. Name one of them: hatbox open 'Work' URL" in result.err
    error = cli("open", "https://a.example/", "--json").error
    assert error["type"] == "IdentityNotChosen"
    assert [each["cookieStoreId"] for each in error["candidates"]] == ["firefox-container-2", "firefox-container-1"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def open_at_a_terminal(answer: str, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, str, str]:
    out, err = Stream(), Stream()
    with monkeypatch.context() as patch:
        patch.setattr("sys.stdin", Terminal(answer))
        patch.setattr("sys.stdout", out)
        patch.setattr("sys.stderr", err)
        status = invoke(["open", *arguments])
    return status, out.text(), err.text()


@pytest.mark.slow
def test_the_rule_decides_where_a_url_opens(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    with Site() as site:
        cli("rules", "add", "127.0.0.1", "Work")
        cli("rules", "add", "localhost", "Personal", "Banking", "--ask")
        opened = cli("open", site.url("/title/header"), site.url("/me"), "--engine", "http", "--json").json
        assert {tab["identity"] for tab in opened} == {"Work"}
        here = site.url("/title/header").replace("127.0.0.1", "localhost")
        status, out, err = open_at_a_terminal("x\n2\n", monkeypatch, here, "--engine", "http")
        assert (status, "Which identity" in err) == (0, True)
        assert "Banking" in out
        assert open_at_a_terminal("Personal\n", monkeypatch, here, "--engine", "http")[0] == 0
        status, out, err = open_at_a_terminal("", monkeypatch, here, "--engine", "http")
        assert (status, out, "no identity was chosen" in err) == (1, "", True)
        named = cli("open", "Shopping", site.url("/title/header"), "--engine", "http", "--json").json
        assert [tab["identity"] for tab in named] == ["Shopping"], "a named identity is never overridden"
        cli("create", "localhost")
        as_name = cli("open", "localhost", site.url("/title/header"), "--engine", "http", "--json").json
        assert [tab["identity"] for tab in as_name] == ["localhost"], "the name of an identity is not a URL"
