from __future__ import annotations

import errno

import pytest

from hatbox.profile import Profile
from tests.cli.conftest import Cli


def _break(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Profile, "__init__", broken)


def test_a_bug_of_ours_is_one_line_and_a_request_to_report_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, ZeroDivisionError("division by\x1b zero"))
    result = cli("list")
    assert (result.status, result.out) == (1, "")
    assert result.err == (
        "hatbox: internal error: ZeroDivisionError: division by\\x1b zero\n"
        "This is a bug in Hatbox. Please report it. Set HATBOX_DEBUG=1 for a traceback.\n"
    )


def test_a_bug_of_ours_is_json_for_programs(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, KeyError("x"))
    assert cli("--json", "list").error == {"type": "KeyError", "message": "internal error: KeyError: 'x'"}


def test_whoever_asks_for_it_sees_the_traceback(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HATBOX_DEBUG", "1")
    _break(monkeypatch, KeyError("x"))
    assert "Traceback (most recent call last)" in cli("list").err


def test_an_error_of_the_operating_system_is_reported_with_its_message(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    _break(monkeypatch, OSError(errno.EMFILE, "Too many open files"))
    assert cli("list") == (1, "", "hatbox: operating system error: Too many open files\n")


def test_an_interrupt_is_quiet(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    _break(monkeypatch, KeyboardInterrupt())
    assert cli("list") == (130, "", "")


@pytest.mark.parametrize(
    "arguments", [["lst"], ["get"], ["list", "--nope"], ["create"], ["move", "Work"], ["list", "x"], ["--profile"]]
)
def test_wrong_usage_exits_with_2_and_says_where_help_is(cli: Cli, arguments: list[str]) -> None:
    result = cli(*arguments)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("hatbox: ")
    assert "--help'" in result.err


def test_wrong_usage_is_json_for_programs(cli: Cli) -> None:
    result = cli("get", "--json")
    assert result.status == 2
    assert result.error["type"] == "UsageError"


def test_wrong_usage_cannot_steer_the_terminal(cli: Cli) -> None:
    for arguments in (["\x1b[2J"], ["list", "--\x1b[2J"], ["move", "Work", "--to", "\x1b[2J"]):
        result = cli(*arguments)
        assert result.status == 2
        assert "\x1b" not in result.err
