"""hatbox settings: what a user types and reads."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Cli

SECRET = "hunter2"


def test_settings_are_shown_changed_and_unset(cli: Cli) -> None:
    shown = cli("settings", "Work")
    assert shown.status == 0
    assert shown.out.count("not set") == 4
    assert "Chromium only" in shown.out
    changed = cli("settings", "Work", "--proxy", "socks5h://127.0.0.1:9050", "--locale", "de_de", "--user-agent", "A/1")
    assert changed.status == 0, changed.err
    assert "Changed settings of Work (firefox-container-2)" in changed.out
    assert cli("settings", "Work", "--timezone", "europe/berlin").status == 0
    expected = {
        "name": "Work",
        "cookieStoreId": "firefox-container-2",
        "proxy": "socks5://127.0.0.1:9050",
        "userAgent": "A/1",
        "locale": "de-DE",
        "timezone": "Europe/Berlin",
        "activity": False,
    }
    assert cli("settings", "Work", "--json").json == expected
    after = cli("settings", "Work", "--unset", "proxy", "--unset", "user-agent", "--json")
    assert after.json == {**expected, "proxy": None, "userAgent": None}
    assert cli("settings", "Personal", "--json").json["locale"] is None


def test_the_password_of_a_proxy_is_shown_on_request_only(cli: Cli) -> None:
    proxy = f"http://user:{SECRET}@127.0.0.1:8080"
    for arguments in (["--proxy", proxy], [], ["--json"], ["--locale", "de"]):
        result = cli("settings", "Work", *arguments)
        assert result.status == 0, result.err
        assert SECRET not in result.out + result.err
        assert "user:***@127.0.0.1:8080" in result.out
    assert cli("settings", "Work", "--show-secrets", "--json").json["proxy"] == proxy


def test_a_proxy_can_be_read_from_standard_input(cli: Cli) -> None:
    result = cli("settings", "Work", "--proxy", "-", "--json", stdin=f"http://u:{SECRET}@h:1\n")
    assert result.json["proxy"] == "http://u:***@h:1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--proxy", f"http://u:{SECRET}@h"], "needs a host and a port"),
        (["--proxy", ""], "invalid proxy"),
        (["--locale", "german"], "language tag"),
        (["--timezone", "Berlin"], "Did you mean Europe/Berlin"),
        (["--user-agent", "a\nb"], "printable ASCII"),
        (["--unset", "colour"], "is not one of proxy, user-agent, locale, timezone"),
        (["--unset", "proxy", "--proxy", "direct"], "specify one of --proxy and --unset proxy"),
    ],
)
def test_a_mistake_is_explained_and_changes_nothing(cli: Cli, arguments: list[str], message: str) -> None:
    assert cli("settings", "Work", "--locale", "fr").status == 0
    result = cli("settings", "Work", *arguments)
    assert result.status != 0
    assert message in result.err
    assert SECRET not in result.err
    shown = cli("settings", "Work", "--json").json
    assert (shown["proxy"], shown["locale"], shown["timezone"]) == (None, "fr", None)


def test_an_unknown_identity_is_not_found(cli: Cli) -> None:
    result = cli("settings", "Wrok", "--json")
    assert (result.status, result.error["type"]) == (1, "IdentityNotFound")
    assert cli("settings", "firefox-default").status == 1


def test_the_activity_of_an_identity_is_switched_on_and_off(cli: Cli) -> None:
    assert cli("settings", "Work", "--activity", "on", "--json").json["activity"] is True
    assert cli("settings", "Work", "--json").json["activity"] is True
    assert cli("settings", "Personal", "--json").json["activity"] is False
    assert "Changed settings of Work" in cli("settings", "Work", "--activity", "off").out
    assert cli("settings", "Work", "--json").json["activity"] is False
    wrong = cli("settings", "Work", "--activity", "maybe", "--locale", "de")
    assert wrong.status == 2
    assert "is not one of on, off" in wrong.err
    assert cli("settings", "Work", "--json").json["locale"] is None
