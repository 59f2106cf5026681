"""hatbox grant and hatbox activity: what a user types and reads."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

import hatbox
from tests.cli.conftest import Cli

TOKEN = re.compile(r"hatbox_[A-Za-z0-9_-]{43}\n")


def create(cli: Cli, *arguments: str) -> tuple[str, str]:
    """The id and the token of a new grant."""
    made = cli("grant", "create", *arguments, "--json")
    assert made.status == 0, made.err
    return made.json["grant"]["id"], made.json["token"]


def test_the_token_is_printed_once_and_alone(cli: Cli, profile: Path) -> None:
    made = cli(
        "grant", "create", "--identity", "Work", "--host", "*.site.example", "--for", "8h", "--", "nightly report"
    )
    assert made.status == 0, made.err
    assert TOKEN.fullmatch(made.out)
    assert made.out.strip() not in made.err
    assert "Work: fetch on *://*.site.example/*, until " in made.err
    listed = cli("grant", "list")
    assert "nightly report" in listed.out
    assert "hatbox_" not in listed.out + cli("grant", "list", "--json").out

    async def verify() -> hatbox.Grant:
        async with hatbox.open(profile) as opened:
            return await opened.grants.verify(made.out.strip())

    grant = asyncio.run(verify())
    assert grant.expires == grant.created + 8 * 3600
    assert f"hatbox grant revoke {grant.id}" in made.err


def test_a_grant_is_created_listed_and_revoked(cli: Cli) -> None:
    arguments = ["-i", "Work", "-i", "Personal", "--action", "pages", "--action", "cookieValues", "--for", "ever"]
    first, _ = create(cli, *arguments)
    second, token = create(cli, "-i", "Work", "--host", "*", "--until", "2030-01-01T00:00Z", "a purpose")
    assert cli("grant", "list").out.count("all public hosts") == 2
    (one, two) = cli("grant", "list", "--json").json
    assert (one["id"], two["id"]) == (first, second)
    assert one["identities"] == ["firefox-container-2", "firefox-container-1"]
    assert one["actions"] == ["pages", "cookies", "cookieValues"]
    assert (one["hosts"], one["expires"], one["revoked"], one["isValid"], one["purpose"]) == (
        None,
        None,
        None,
        True,
        "",
    )
    assert (two["expires"], two["purpose"], two["actions"]) == ("2030-01-01T00:00:00+00:00", "a purpose", ["fetch"])
    unknown = cli("grant", "revoke", first, "unknown")
    assert unknown.status == 1
    assert "grant not found: 'unknown'. List the ids of all grants with: hatbox grant list" in unknown.err
    assert all(each["isValid"] for each in cli("grant", "list", "--json").json)
    assert cli("grant", "revoke", second).out == f"Revoked grant {second}: a purpose\n"
    assert [each["isValid"] for each in cli("grant", "list", "--json").json] == [True, False]
    assert "revoked 20" in cli("grant", "list").out
    wrong = cli("grant", "revoke", token)
    assert wrong.status == 1
    assert token not in wrong.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "--identity"),
        (["-i", "Wrok"], 'Did you mean "Work"?'),
        (["-i", "Work", "--host", "https://*/*"], "* for all public hosts"),
        (["-i", "Work", "--host", "site.example:0"], "localhost:8000"),
        (["-i", "Work", "--action", "everything"], "Allowed actions: fetch, pages, cookies"),
        (["-i", "Work", "--for", "8"], "is not a duration. Use a number with s, m, h, d or w"),
        (["-i", "Work", "--for", "0h"], "Use a time in the future, at most 10 years from now"),
        (["-i", "Work", "--for", "-5h"], "duration"),
        (["-i", "Work", "--for", "9999w"], "at most 10 years"),
        (["-i", "Work", "--until", "2001-01-01"], "Use a time in the future"),
        (["-i", "Work", "--until", "tomorrow"], "is not a time. Use 2026-12-31"),
        (["-i", "Work", "--for", "1h", "--until", "2030-01-01"], "specify one of --for and --until"),
        (["-i", "Work", "a\x1b[31mb"], "without line breaks and control characters"),
        (["-i", "Work", "two", "words"], "words"),
    ],
)
def test_invalid_arguments_create_nothing_and_say_what_is_allowed(cli: Cli, arguments: list[str], message: str) -> None:
    result = cli("grant", "create", *arguments)
    assert result.status in (1, 2)
    assert message in " ".join(result.err.split())
    assert result.out == ""
    assert cli("grant", "list", "--json").json == []


def test_the_activity_is_listed_by_grant_identity_and_time(cli: Cli, profile: Path) -> None:
    async def fill() -> None:
        async with hatbox.open(profile) as opened:
            for _ in range(3):
                opened.activity_log.record("firefox-container-2", "fetch", host="site.example", grant="one")
            opened.activity_log.record(
                "firefox-container-1", "pages", host="other.example", grant="two", outcome="refused"
            )

    assert cli("activity").out == ""
    asyncio.run(fill())
    second, first = cli("activity", "--json").json
    assert {key: first[key] for key in ("cookieStoreId", "action", "host", "outcome", "times", "grant")} == {
        "cookieStoreId": "firefox-container-2",
        "action": "fetch",
        "host": "site.example",
        "outcome": "ok",
        "times": 3,
        "grant": "one",
    }
    assert cli("activity", "--grant", "two", "--json").json == [second]
    assert cli("activity", "--identity", "Work", "--json").json == [first]
    assert cli("activity", "--identity", "firefox-container-1", "--since", "1h", "--json").json == [second]
    assert cli("activity", "--since", "2030-01-01", "--json").json == []
    assert cli("activity", "-n", "1", "--json").json == [second]
    shown = cli("activity").out
    assert "fetch (3 times)" in shown
    assert "refused" in shown
    for arguments in (["--since", "yesterday"], ["--identity", "Wrok"], ["-n", "0"]):
        result = cli("activity", *arguments)
        assert result.status != 0
        assert result.out == ""
