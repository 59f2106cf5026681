"""Links that other programs open, with dialog programs that answer by themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from hatbox.cli.commands import links
from hatbox.cli.desktop.link_registration import exec_line
from hatbox.profile import Profile
from tests.cli import engines
from tests.cli.commands.test_status import site
from tests.cli.conftest import Cli
from tests.marks import starts
from tests.site import Site

__all__ = ["site"]

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="desktop files are for Linux")


@pytest.fixture(autouse=True)
def desktop(tmp_path: Path, profile: Path, surroundings: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A desktop without any dialog program."""
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("DISPLAY", ":77")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    yield
    engines.end(profile)


@pytest.fixture
def dialog(tmp_path: Path) -> Callable[[str, int], Path]:
    """Makes a dialog program that gives an answer. Returns the file with the arguments that it gets."""

    def make(name: str, status: int) -> Path:
        program, seen = tmp_path / "bin" / name, tmp_path / f"{name}-arguments"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > "{seen}"\nexit {status}\n')
        program.chmod(0o755)
        return seen

    return make


def link_to(url: str, name: str = "Work") -> str:
    return f"ext+container:name={quote(name)}&url={quote(url, safe='')}"


@pytest.mark.process
def test_a_link_in_the_terminal_opens_in_its_identity(cli: Cli, site: Site) -> None:
    result = cli("open", f"{link_to(site.url('/page/1'))}&pinned=true", "--engine", "http")
    assert result.status == 0
    assert "in Work: " in result.out
    assert result.err == "These parts of the link have no effect: pinned.\n"
    assert [tab["identity"] for tab in cli("tabs", "--json").json] == ["Work"]


@pytest.mark.parametrize(
    "link", ["ext+container:name=Work", "ext+container:name=Work&url=javascript:alert(1)", "ext+container:url=--json"]
)
def test_a_wrong_link_is_wrong_usage(cli: Cli, link: str) -> None:
    result = cli("open", link)
    assert (result.status, result.out) == (2, "")
    assert cli("open", link_to("https://site.example/"), "https://other.example/").status == 2


def test_a_link_never_creates_an_identity(cli: Cli, dialog: Callable[[str, int], Path]) -> None:
    dialog("zenity", 0)
    for command in ("open", "open-link"):
        result = cli(command, link_to("https://site.example/", "Wrok") + "&color=red&icon=fruit")
        assert result.status == 1
        assert 'identity not found: "Wrok"' in result.err
    assert len(cli("list", "--json").json) == 4


def test_the_name_in_a_link_is_never_a_url(cli: Cli, site: Site) -> None:
    host = site.url("/").removeprefix("http://")
    cli("rules", "add", host.partition(":")[0], "Work")
    for name in (f"{host}evil", "foo.example", "https://foo.example/"):
        result = cli("open", link_to(site.url("/page/1"), name), "--engine", "http")
        assert (result.status, "identity not found" in result.err) == (1, True)
    assert cli("tabs", "--json").json == []


@pytest.mark.parametrize("name", ["zenity", "kdialog", "xmessage"])
def test_a_link_from_outside_is_opened_after_a_yes(
    cli: Cli, site: Site, dialog: Callable[[str, int], Path], program_with_http: None, name: str
) -> None:
    seen = dialog(name, 0)
    url = site.url("/page/1")
    assert cli("open-link", "--", link_to(url)).status == 0
    assert [tab["identity"] for tab in cli("tabs", "--json").json] == ["Work"]
    shown = seen.read_text()
    assert url in shown
    assert '"Work"' in shown


@pytest.mark.process
def test_the_question_shows_the_host_that_is_opened(cli: Cli, dialog: Callable[[str, int], Path]) -> None:
    seen = dialog("zenity", 1)
    cli("open-link", link_to("https://a。B.example/"))
    assert "a page of a.b.example in" in seen.read_text()
    assert "https://a.b.example/" in seen.read_text()


@pytest.mark.process
def test_a_link_from_outside_is_not_opened_after_a_no(cli: Cli, dialog: Callable[[str, int], Path]) -> None:
    dialog("zenity", 1)
    result = cli("open-link", link_to("https://site.example/"))
    assert (result.status, result.err) == (1, "hatbox: not opened\n")
    assert cli("tabs", "--json").json == []


@pytest.mark.process
def test_without_a_dialog_nothing_is_opened_and_the_user_is_notified(
    cli: Cli, dialog: Callable[[str, int], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = dialog("notify-send", 0)
    result = cli("open-link", link_to("https://site.example/"))
    assert (result.status, "Nothing was opened" in result.err) == (1, True)
    assert "site.example" in seen.read_text()
    dialog("zenity", 0)
    seen.unlink()
    monkeypatch.delenv("DISPLAY")
    assert cli("open-link", link_to("https://site.example/")).status == 1
    assert "neither a terminal nor a desktop" in seen.read_text()
    assert cli("tabs", "--json").json == []


@pytest.mark.process
def test_a_link_that_fails_notifies_the_user(cli: Cli, dialog: Callable[[str, int], Path]) -> None:
    seen = dialog("notify-send", 0)
    dialog("zenity", 1)
    cli("rules", "add", "ask.example", "Work", "Personal", "--ask")
    for arguments, shown in {
        (link_to("https://site.example/", "Wrok"),): 'identity not found: "Wrok"',
        ("https://ask.example/?a=$(id)",): "hatbox open 'Work' 'https://ask.example/?a=$(id)'",
        ("javascript:alert(1)",): "must have an http:// or https:// URL",
        ("https://site.example/", "--profile", "nosuch.db"): "no profile exists there",
        ("https://site.example/", "--profile", ""): "must not be empty",
    }.items():
        result = cli("open-link", *arguments)
        assert (result.status > 0, result.out) == (True, "")
        assert shown in seen.read_text()
        seen.unlink()
    assert cli("open-link", link_to("https://site.example/")).err == "hatbox: not opened\n"
    assert not seen.exists()  # the user has said no
    assert not Path("nosuch.db").exists()


@pytest.mark.parametrize(
    "link",
    [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "--profile=/tmp/other.db",
        "-h",
        "mailto:a@b.example",
        "ext+container:name=Work&url=file:///etc/passwd",
        "https://site.example/\n--json",
        "https://site.example/" + "x" * 1_000_000,
    ],
    ids=lambda link: link[:30],
)
def test_a_hostile_link_from_outside_is_refused(
    cli: Cli, dialog: Callable[[str, int], Path], tmp_path: Path, link: str
) -> None:
    asked = dialog("zenity", 0)
    result = cli("open-link", "--", link)
    assert (result.status, result.out) == (1, "")
    assert len(result.err) < 1000
    assert not asked.exists()
    assert cli("tabs", "--json").json == []


def test_a_link_creates_no_profile(
    cli: Cli, profile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_profile: None
) -> None:
    monkeypatch.delenv("HATBOX_PROFILE")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cli("open-link", link_to("https://site.example/")).status == 1
    assert not list(tmp_path.rglob("profile.db"))


def test_a_plain_url_creates_the_default_profile(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_profile: None
) -> None:
    monkeypatch.delenv("HATBOX_PROFILE")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    cli("open-link", "http://site.example/", "--nosuch")
    assert not list(tmp_path.rglob("profile.db"))
    opened: list[tuple[str, list[str]]] = []
    monkeypatch.setattr(links, "open_", lambda identity, urls, **_: opened.append((identity, urls)))
    assert cli("open-link", "http://site.example/").status == 0
    assert opened == [("firefox-default", ["http://site.example/"])]
    assert list(tmp_path.rglob("profile.db"))


def test_a_plain_url_opens_in_the_default_store_without_a_question(
    cli: Cli, site: Site, program_with_http: None
) -> None:
    assert cli("open-link", site.url("/page/1")).status == 0
    assert [tab["cookieStoreId"] for tab in cli("tabs", "--json").json] == ["firefox-default"]


@pytest.fixture
@starts("process")
def program_with_http(profile: Path) -> Iterator[None]:
    """A running engine without a browser."""
    with subprocess.Popen(
        [sys.executable, "-m", "hatbox", "browse", "--engine", "http", "--json"],
        stdout=subprocess.PIPE,
        env=dict(os.environ),
    ) as process:
        assert process.stdout
        process.stdout.readline()
        yield
        process.terminate()
        process.communicate(timeout=60)


@linux
def test_links_are_registered_and_removed(cli: Cli, tmp_path: Path) -> None:
    result = cli("install-links")
    entry = tmp_path / "data" / "applications" / "hatbox-links.desktop"
    assert result.status == 0
    assert str(entry) in result.out
    assert "MimeType=x-scheme-handler/ext+container;\n" in entry.read_text()
    assert "hatbox-links.desktop" in (tmp_path / "config" / "mimeapps.list").read_text()
    assert cli("install-links", "--browser", "--json").json["types"][1:] == [
        "x-scheme-handler/http",
        "x-scheme-handler/https",
    ]
    assert cli("install-links", "--remove").out == f"Removed {entry}.\n"
    assert not entry.exists()
    assert not (tmp_path / "config" / "mimeapps.list").exists()
    assert cli("install-links", "--remove").status == 0


@linux
def test_links_open_in_the_profile_of_the_terminal(cli: Cli, tmp_path: Path) -> None:
    entry = tmp_path / "data" / "applications" / "hatbox-links.desktop"
    assert cli("install-links").status == 0
    assert exec_line(Profile(os.environ["HATBOX_PROFILE"], create=False).address) in entry.read_text()
    assert '"--profile"' in entry.read_text()


@linux
def test_a_mistyped_profile_is_not_registered(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mistyped = str(tmp_path / "profle.db")
    for _ in range(2):
        result = cli("install-links", "--profile", mistyped)
        assert (result.status, "no profile exists there" in result.err) == (1, True)
        monkeypatch.setenv("HATBOX_PROFILE", mistyped)
    assert cli("install-links").status == 1
    assert not (tmp_path / "data").exists()
    assert not Path(mistyped).exists()


@linux
def test_an_address_with_a_password_is_not_written_to_a_file(cli: Cli, tmp_path: Path) -> None:
    result = cli("install-links", "--profile", "postgresql://u:secret@host/db")
    assert result.status == 2
    assert "secret" not in result.err
    assert not (tmp_path / "data").exists()
