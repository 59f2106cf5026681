from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.postgres import sqlite_file

SURFACES = """
print(dir(browser))
for name in dir(browser):
    print(name, hasattr(getattr(browser, name), "onCreated"), hasattr(getattr(browser, name), "hide"))
"""


KNOWN = (
    "browsingData",
    "contextualIdentities",
    "contextualidentities",
    "cookies",
    "hatbox",
    "proxy",
    "tabGroups",
    "tabHide",
    "tabs",
    "webNavigation",
    "webRequest",
    "webRequestAuthProvider",
    "webRequestBlocking",
)


@pytest.fixture
def surfaces(tmp_path: Path) -> str:
    script = tmp_path / "surfaces.py"
    script.write_text(SURFACES)
    return str(script)


def test_a_script_holds_all_permissions_unless_some_are_named(cli: Cli, surfaces: str) -> None:
    assert cli("run", surfaces).out.splitlines() == [
        "['browsingData', 'contextualIdentities', 'contextualidentities', 'cookies', 'hatbox', 'proxy', 'tabGroups', "
        "'tabs', 'webNavigation', 'webRequest', 'windows']",
        "browsingData False False",
        "contextualIdentities True True",
        "contextualidentities False False",
        "cookies False False",
        "hatbox False False",
        "proxy False False",
        "tabGroups True False",
        "tabs True True",
        "webNavigation False False",
        "webRequest False False",
        "windows True False",
    ]


def test_a_script_holds_exactly_the_permissions_that_are_named(cli: Cli, surfaces: str) -> None:
    assert cli("run", surfaces, "--permission", "contextualIdentities").out.splitlines() == [
        "['contextualIdentities', 'tabs', 'windows']",
        "contextualIdentities True True",
        "tabs True False",
        "windows True False",
    ]
    assert "contextualIdentities False True" in cli("run", surfaces, "--permission", "contextualidentities").out
    every_one = [word for name in KNOWN for word in ("--permission", name)]
    assert cli("run", *every_one, surfaces).out == cli("run", surfaces).out


def test_a_script_with_named_permissions_gets_no_profile_and_the_error_says_why(cli: Cli, tmp_path: Path) -> None:
    script = tmp_path / "everything.py"
    script.write_text("print(sorted(name for name in globals() if not name.startswith('_')))\nprint(profile.address)\n")
    options = [word for name in (*KNOWN, "https://site.example/*") for word in ("--permission", name)]
    result = cli("run", *options, str(script))
    assert (result.status, result.out) == (1, "['browser']\n")
    assert result.err.splitlines()[0].endswith("everything.py, line 2: NameError: name 'profile' is not defined")
    assert "`profile` is in scope only without --permission and --grant" in result.err
    assert cli("run", str(script)).out.splitlines()[0] == "['browser', 'profile']"


def test_a_script_has_no_sandbox_to_require(cli: Cli, surfaces: str) -> None:
    for options in ([], ["--permission", "cookies"]):
        result = cli("run", surfaces, "--require-sandbox", *options)
        assert (result.status, result.out) == (2, "")
        assert "only for extensions: scripts have no sandbox" in result.err


def test_a_script_with_a_grant_has_what_the_grant_allows_and_not_its_token(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = cli("grant", "create", "--identity", "Work", "--host", "site.example", "--json").json["token"]
    script = tmp_path / "use.py"
    script.write_text(
        "import os\n"
        "print('TOKEN' in os.environ, 'profile' in globals())\n"
        "print([each['name'] for each in await browser.contextualIdentities.query({})])\n"
        "await browser.contextualIdentities.create({'name': 'Other', 'color': 'red', 'icon': 'pet'})\n"
    )
    monkeypatch.setenv("TOKEN", token)
    result = cli("run", str(script), "--grant", "TOKEN")
    assert (result.status, result.out) == (1, "False False\n['Work']\n")
    assert "PermissionDenied: contextualIdentities.create" in result.err
    assert "Other" not in cli("list").out


def test_an_unknown_permission_is_wrong_usage_and_lists_the_known(cli: Cli, surfaces: str) -> None:
    result = cli("run", surfaces, "--permission", "contextualIdentitys")
    assert (result.status, result.out) == (2, "")
    assert "Did you mean contextualIdentities?" in result.err
    assert f"Allowed values: {', '.join(KNOWN)}" in result.err


@pytest.mark.parametrize(
    ("permissions", "outcome"),
    [
        ([], "allowed"),
        (["cookies", "https://*.site.example/*"], "allowed"),
        (["cookies", "https://other.example/*"], "denied"),
    ],
)
def test_a_script_may_touch_the_cookies_of_all_hosts_unless_some_are_named(
    cli: Cli, tmp_path: Path, permissions: list[str], outcome: str
) -> None:
    script = tmp_path / "set.py"
    script.write_text(
        "try:\n    await browser.cookies.set({'url': 'https://site.example/', 'name': 'a'})\n    print('allowed')\n"
        "except Exception as error:\n    print('denied')\n"
    )
    options = [word for name in permissions for word in ("--permission", name)]
    assert cli("run", *options, str(script)).out == f"{outcome}\n"


def test_a_script_works_on_the_profile_that_is_named(cli: Cli, tmp_path: Path, profile: Path, no_profile: None) -> None:
    script, other = tmp_path / "make.py", sqlite_file(tmp_path / "other.db")
    script.write_text("await profile.identities.create('Clients', color='red', icon='pet')\nprint(profile.address)")
    result = cli("run", str(script), "--profile", str(other), "--create")
    assert result == (0, f"{other}\n", "")
    assert "Clients" in cli("list", "--profile", str(other)).out
    assert not profile.exists()


def test_a_profile_that_cannot_be_used_is_not_blamed_on_the_script(cli: Cli, surfaces: str, profile: Path) -> None:
    sqlite_file(profile).write_text("my diary")
    result = cli("run", surfaces, "--json")
    assert (result.status, result.out, result.error["type"]) == (1, "", "NotAProfile")
