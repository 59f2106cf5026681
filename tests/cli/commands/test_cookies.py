from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hatbox.cli import GROUPS
from tests.cli.conftest import Cli, run_here
from tests.cli.terminal.test_terminal_text import steers_a_terminal

URL = "https://site.example/"
SID: dict[str, Any] = {
    "name": "sid",
    "value": "secret",
    "domain": "site.example",
    "hostOnly": True,
    "path": "/",
    "secure": True,
    "httpOnly": True,
    "sameSite": "lax",
    "session": True,
    "firstPartyDomain": "",
    "partitionKey": None,
    "storeId": "firefox-container-2",
}


def set_sid(cli: Cli, whose: str = "Work") -> None:
    options = ("--secure", "--http-only", "--same-site", "lax")
    assert cli("cookies", "set", whose, URL, "sid", "secret", *options).status == 0


def listed(cli: Cli, whose: str = "Work", *options: str) -> list[Any]:
    found: list[Any] = cli("cookies", "list", whose, "--json", *options).json
    return found


# ------------------------------------------------------------------------------------------------ help and usage


@pytest.mark.parametrize("verb", GROUPS["cookies"])
def test_every_verb_has_help(cli: Cli, verb: str) -> None:
    result = cli("cookies", verb, "--help")
    assert (result.status, result.err) == (0, "")
    for expected in ("--profile", "--json", "firefox-default"):
        assert expected in result.out
    assert cli("cookies", verb, "-h").out == result.out


def test_without_a_verb_there_is_a_hint_and_status_2(cli: Cli) -> None:
    result = cli("cookies")
    assert (result.status, result.out) == (2, "")
    assert "hatbox cookies --help" in result.err


@pytest.mark.parametrize("verb", ["list", "clear"])
def test_a_name_that_nothing_has_brings_up_the_nearest(cli: Cli, verb: str) -> None:
    result = cli("cookies", verb, "Wrok")
    assert (result.status, result.out) == (1, "")
    assert result.err == 'hatbox: identity not found: "Wrok". Did you mean "Work"? List identities with: hatbox list\n'


def test_a_name_that_two_have_changes_nothing(cli: Cli) -> None:
    cli("create", "Work")
    result = cli("cookies", "set", "Work", URL, "sid", "1")
    assert result.status == 1
    assert "Pass the cookieStoreId instead" in result.err
    assert listed(cli, "firefox-container-2") == []


# ---------------------------------------------------------------------------------------------------------- values


def test_values_are_hidden_in_tables_unless_asked_for(cli: Cli) -> None:
    set_sid(cli)
    assert cli("cookies", "list", "Work").out == "site.example  /  sid  session  secure http-only same-site=lax\n"
    shown = cli("cookies", "list", "Work", "--show-values").out
    assert shown == "site.example  /  sid  secret  session  secure http-only same-site=lax\n"
    assert "secret" not in cli("cookies", "list", "Work", tty=True).out
    assert "secret" in cli("cookies", "list", "Work", "--show-values", tty=True).out


def test_json_has_all_of_a_cookie(cli: Cli) -> None:
    set_sid(cli)
    assert listed(cli) == [SID]
    assert list(listed(cli)[0]) == list(SID)
    assert cli("cookies", "get", "Work", URL, "sid", "--json").json == SID
    assert cli("--json", "cookies", "get", "Work", URL, "sid").json == SID


def test_get_prints_the_value_and_nothing_else(cli: Cli) -> None:
    set_sid(cli)
    assert cli("cookies", "get", "Work", f"{URL}deep/er?x", "sid") == (0, "secret\n", "")


def test_a_cookie_that_is_not_there_is_an_error(cli: Cli) -> None:
    for verb in ("get", "remove"):
        result = cli("cookies", verb, "Work", URL, "sid")
        assert (result.status, result.out) == (1, "")
        assert result.err == 'hatbox: no cookie "sid" is sent to https://site.example/\n'
        assert cli("cookies", verb, "Work", URL, "sid", "--json").error["type"] == "CookieNotFound"


# ------------------------------------------------------------------------------------------------------- whose


def test_identities_do_not_see_each_others_cookies(cli: Cli) -> None:
    set_sid(cli)
    set_sid(cli, "firefox-default")
    assert listed(cli, "Personal") == []
    assert listed(cli, "firefox-default") == [{**SID, "storeId": "firefox-default"}]
    assert cli("cookies", "remove", "firefox-default", URL, "sid").out == (
        "Removed sid from the default store (firefox-default)\n"
    )
    assert listed(cli) == [SID]


def test_an_identity_may_be_named_by_its_id(cli: Cli) -> None:
    set_sid(cli, "firefox-container-2")
    assert listed(cli, "Work") == [SID]


# --------------------------------------------------------------------------------------------------------- set


def test_set_says_what_it_has_done(cli: Cli) -> None:
    result = cli("cookies", "set", "Work", "https://sub.site.example/", "a", "1", "--domain", "site.example")
    assert result == (0, "Set a of site.example in Work (firefox-container-2)\n", "")
    result = cli("cookies", "set", "Work", URL, "b", "1", "--path", "/x", "--expires-in-days", "30", "--json")
    assert result.json == listed(cli, "Work", "--domain", "site.example")[0]
    assert (result.json["path"], result.json["session"]) == ("/x", False)


def test_setting_the_same_again_is_no_error(cli: Cli) -> None:
    for _ in range(2):
        assert cli("cookies", "set", "Work", URL, "a", "1", "--json").json["value"] == "1"
    assert len(listed(cli)) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("http://site.example/", "a", "1", "--secure"), "only over https"),
        ((URL, "a", "1", "--domain", "other.example"), "not the host of the URL"),
        (("https://site.co.uk/", "a", "1", "--domain", "co.uk"), "public suffix"),
        ((URL, "__Host-a", "1"), "prefix"),
        ((URL, "a", "1", "--same-site", "none"), "only for secure cookies"),
        (("nonsense", "a", "1"), "no host"),
        ((URL, "a;b", "1"), "cannot be written"),
        ((URL, "a", "x" * 4096), "4096 bytes"),
    ],
)
def test_what_a_site_could_not_set_is_refused_with_the_reason(cli: Cli, arguments: tuple[str, ...], words: str) -> None:
    result = cli("cookies", "set", "Work", *arguments)
    assert (result.status, result.out) == (1, "")
    assert words in result.err
    assert listed(cli) == []


@pytest.mark.parametrize(
    "options", [("--same-site", "Lax"), *(("--expires-in-days", days) for days in ("0", "-1", "nan", "x"))]
)
def test_wrong_options_are_wrong_usage(cli: Cli, options: tuple[str, ...]) -> None:
    result = cli("cookies", "set", "Work", URL, "a", "1", *options)
    assert (result.status, result.out) == (2, "")
    assert options[0] in result.err


# --------------------------------------------------------------------------------------------------------- clear


def test_clear_asks_and_a_no_removes_nothing(cli: Cli) -> None:
    set_sid(cli)
    for answer, words in (("n\n", "not removed"), ("", "no answer on standard input")):
        result = cli("cookies", "clear", "Work", stdin=answer)
        assert (result.status, result.out) == (1, "")
        assert result.err.startswith('Remove all cookies from "Work" (firefox-container-2)? [y/N] ')
        assert words in result.err
    assert listed(cli) == [SID]


def test_clear_removes_the_cookies_of_one_identity_and_leaves_the_identity(cli: Cli) -> None:
    set_sid(cli)
    set_sid(cli, "Personal")
    result = cli("cookies", "clear", "Work", stdin="y\n")
    assert (result.status, result.out) == (0, "Removed 1 cookie from Work (firefox-container-2)\n")
    assert listed(cli) == []
    assert len(listed(cli, "Personal")) == 1


def test_clear_of_a_domain_leaves_the_others(cli: Cli) -> None:
    for host in ("site.example", "sub.site.example", "other.example"):
        cli("cookies", "set", "Work", f"https://{host}/", "a", "1")
    result = cli("cookies", "clear", "Work", "--domain", "site.example", "--yes", "--json")
    assert sorted(each["domain"] for each in result.json) == ["site.example", "sub.site.example"]
    assert [each["domain"] for each in listed(cli)] == ["other.example"]
    assert "the cookies of x.example" in cli("cookies", "clear", "Work", "--domain", "x.example").err


# ------------------------------------------------------------------------------------------------------ terminals


# All but what no Set-Cookie line can hold.
texts = st.text(
    st.characters(codec="utf-8", exclude_characters="".join(map(chr, range(0x20))) + "\x7f;="), max_size=12
).map(lambda text: text.strip(" "))


@pytest.mark.slow
@given(texts.filter(bool), texts)
@settings(max_examples=20, deadline=None)
def test_any_cookie_is_shown_harmlessly_and_comes_back_unchanged_in_json(
    tmp_path_factory: pytest.TempPathFactory, name: str, value: str
) -> None:
    profile = ("--profile", str(tmp_path_factory.mktemp("any") / "profile.db"))
    made = run_here("--create", "cookies", "set", *profile, "--", "Work", URL, name, value)
    (found,) = run_here("cookies", "list", *profile, "Work", "--json").json
    assert (found["name"], found["value"]) == (name, value)
    got = run_here("cookies", "get", *profile, "--", "Work", URL, name)
    table = run_here("cookies", "list", *profile, "Work", "--show-values")
    for shown in (made, got, table):
        assert shown.status == 0
        assert not any(steers_a_terminal(character) for character in shown.out.replace("\n", ""))
        assert len(shown.out.splitlines()) == 1


def test_a_host_or_domain_cannot_steer_the_terminal_in_messages_or_in_the_prompt(cli: Cli) -> None:
    evil, shown = "\x1b[2J\u202e", r"\x1b[2J\u202e"
    assert shown in cli("cookies", "get", "Work", f"https://{evil}/", "a").err
    assert shown in cli("cookies", "clear", "Work", "--domain", evil).err
    assert shown in cli("cookies", "set", "Work", URL, "a", "1", "--same-site", evil).err
    cli("create", evil)
    assert shown in cli("cookies", "set", evil, URL, "a", "1", tty=True).out


def test_clearing_a_domain_that_is_empty_is_wrong_usage(cli: Cli) -> None:
    assert cli("cookies", "clear", "Work", "--domain", "", "--yes").status == 2
