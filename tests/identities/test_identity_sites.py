"""Who is signed in where, in Python and on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from hatbox.errors import IdentityNotFound
from tests.cli.conftest import Cli
from tests.cli.conftest import cli as cli
from tests.postgres import address_of
from tests.store.in_loop import in_loop


async def sign_in(profile: hatbox.Profile, identity: str, host: str, line: str) -> None:
    await (await profile.cookie_store(identity)).receive([line], f"https://{host}/")


async def filled(profile: hatbox.Profile) -> None:
    await sign_in(profile, "Work", "accounts.site.example", "session=1; HttpOnly; Domain=site.example")
    await sign_in(profile, "Work", "site.example", "theme=dark")
    await sign_in(profile, "Personal", "site.example", "theme=dark")
    await sign_in(profile, "firefox-default", "other.example", "sid=1; HttpOnly")


@in_loop
async def test_sites_say_which_identity_is_signed_in(tmp_path: Path) -> None:
    async with hatbox.open(address_of(tmp_path / "profile.db")) as profile:
        await filled(profile)
        found = await profile.sites()
        assert [(each.host, each.name, each.signed_in_since is not None, each.cookies) for each in found] == [
            ("other.example", "", True, 1),
            ("site.example", "Work", True, 2),
            ("site.example", "Personal", False, 1),
        ]
        assert await profile.sites(host="https://accounts.site.example/path") == found[1:]
        assert await profile.sites("Personal") == found[2:]
        assert await profile.sites("firefox-default") == found[:1]
        with pytest.raises(IdentityNotFound):
            await profile.sites("Nobody")


def test_the_command_shows_the_same(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "profile.db"
    monkeypatch.setenv("HATBOX_PROFILE", str(path))
    with hatbox.open_sync(path) as profile:
        profile.cookie_store("Work").set("https://site.example/", name="session", value="1", http_only=True)
    line = cli("sites", "site.example").out
    assert line.split()[:2] == ["site.example", "Work"]
    (document,) = cli("sites", "--json", "--identity", "Work").json
    assert (document["host"], document["name"], document["cookies"]) == ("site.example", "Work", 1)
    assert document["signedInSince"].endswith("+00:00")
    assert cli("sites", "nowhere.example").err == "No sites.\n"
