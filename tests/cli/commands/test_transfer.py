from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hatbox.cli.terminal import progress_bar
from hatbox.formats.firefox_folders import FirefoxProfileFolder
from tests.cli.conftest import Cli, Start
from tests.formats import chromium_files
from tests.formats.firefox_files import insert, make_database
from tests.postgres import sqlite_file

LATER = str(int(time.time()) + 100 * 86400)
LINE = f".site.example\tTRUE\t/\tTRUE\t{LATER}\tsid\tabc\n"
LOSING = ["firefox", "cookies.txt", "storage-state", "containers.json", "json-lines"]


@pytest.fixture
def firefox(tmp_path: Path) -> Path:
    """A closed Firefox profile with a container of the user's, and a cookie in each store."""
    folder = tmp_path / "firefox"
    folder.mkdir()
    gifts = {"userContextId": 6, "public": True, "icon": "gift", "color": "red", "name": "Gifts"}
    work = {"userContextId": 2, "public": True, "icon": "briefcase", "color": "orange", "l10nId": "user-context-work"}
    (folder / "containers.json").write_text(
        json.dumps({"version": 6, "lastUserContextId": 6, "identities": [work, gifts]})
    )
    connection = make_database(folder / "cookies.sqlite")
    for number in (0, 2, 6):
        insert(connection, value=f"v{number}", originAttributes=f"^userContextId={number}" if number else "")
    insert(connection, name="old", expiry=1000)
    connection.close()
    return folder


# ------------------------------------------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize("end", ["", "-wal", "-lock"])
def test_nothing_is_written_over_the_profile(cli: Cli, profile: Path, end: str) -> None:
    cli("create", "Mine", "--color", "red", "--icon", "pet")
    before = sqlite_file(profile).read_bytes()
    for command in (("export", "--all", "-f", "json-lines"), ("fetch", "Work", "http://127.0.0.1:1/")):
        result = cli(*command, "-o", f"{profile}{end}")
        assert result.status == 2
        assert "is the profile itself" in result.err
    assert profile.read_bytes() == before


@pytest.mark.parametrize("format_", LOSING[1:])
@pytest.mark.parametrize(
    "content", [b"nonsense\n", b'{"format":"hatbox","version":1}\n', b'{"cookies": [', b"\xff\x00"]
)
def test_a_broken_file_is_named_and_nothing_is_changed(
    cli: Cli, tmp_path: Path, profile: Path, format_: str, content: bytes
) -> None:
    file = tmp_path / "input"
    file.write_bytes(content)
    before = cli("export", "--all", "-f", "json-lines").out
    into = ["--into", "Work"] if format_ in ("cookies.txt", "storage-state") else []
    result = cli("import", format_, str(file), *into)
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"hatbox: {file}")
    assert result.err.count("\n") == 1
    assert result.err.endswith("Nothing was imported.\n")
    assert cli("export", "--all", "-f", "json-lines").out == before
    assert cli("import", format_, str(file), *into, "--json").error["type"] == "InvalidInputFile"


def test_a_broken_file_does_not_even_make_a_profile(cli: Cli, tmp_path: Path, profile: Path, no_profile: None) -> None:
    (tmp_path / "input").write_text("nonsense")
    assert cli("import", "json-lines", str(tmp_path / "input"), "--create").status == 1
    assert not profile.exists()


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["import"], "FORMAT"),
        (["import", "json-line", "x"], "Did you mean json-lines?"),
        (["import", "cookies.txt", "x"], "Specify the identity that gets the cookies"),
        (["import", "cookies.txt", "--into", "Work"], "[FILE]"),
        (["import", "cookies.txt", "x", "--into", "Work", "--container", "Work"], "--container"),
        (["import", "storage-state", "x"], "Specify the identity that gets the cookies"),
        (["export", "Work", "-f", "chromium"], "Hatbox only reads it"),
        (["export", "Work"], "--format"),
        (["export", "Work", "-f", "cookie.txt"], "Did you mean cookies.txt?"),
        (["export", "-f", "json-lines"], "--all"),
        (["export", "Work", "--all", "-f", "json-lines"], "--all"),
        (["export", "--all", "-f", "cookies.txt"], "one identity"),
        (["export", "Work", "Banking", "-f", "storage-state"], "one identity"),
        (["export", "--all", "-f", "firefox"], "--output"),
    ],
)
def test_what_does_not_go_together_is_wrong_usage(
    cli: Cli, profile: Path, arguments: list[str], hint: str, no_profile: None
) -> None:
    result = cli(*arguments)
    assert (result.status, result.out) == (2, "")
    assert hint in result.err
    assert not profile.exists()


def test_a_name_that_nothing_has_brings_up_the_nearest(cli: Cli, tmp_path: Path, firefox: Path) -> None:
    (tmp_path / "c.txt").write_text(LINE)
    for arguments in (
        ["export", "Wrok", "-f", "cookies.txt"],
        ["import", "cookies.txt", str(tmp_path / "c.txt"), "--into", "Wrok"],
    ):
        assert cli(*arguments) == (
            1,
            "",
            'hatbox: identity not found: "Wrok". Did you mean "Work"? List identities with: hatbox list\n',
        )
    result = cli("import", "firefox", str(firefox), "--container", "Gfits")
    assert (result.status, result.err) == (
        1,
        'hatbox: container not found: "Gfits". Did you mean "Gifts"?\nContainers: firefox-default, Work, Gifts.\n',
    )
    assert [each["name"] for each in cli("list", "--json").json] == ["Personal", "Work", "Banking", "Shopping"]


@pytest.mark.parametrize(
    "arguments",
    [["import", "cookies.txt", "-", "--into", "Work"], ["export", "firefox-default", "Work", "-f", "json-lines"]],
)
def test_an_ambiguous_name_lists_the_candidates_and_changes_nothing(cli: Cli, arguments: list[str]) -> None:
    cli("create", "Work", "--color", "cyan", "--icon", "pet")
    assert cli(*arguments, stdin=LINE) == (
        1,
        "",
        'hatbox: 2 identities are named "Work". Pass the cookieStoreId instead.\n'
        "orange  briefcase  Work  firefox-container-2\n"
        "cyan    pet        Work  firefox-container-6\n",
    )
    error = cli(*arguments, "--json", stdin=LINE).error
    assert [each["cookieStoreId"] for each in error["candidates"]] == ["firefox-container-2", "firefox-container-6"]
    assert '"cookies":0}' in cli("export", "--all", "-f", "json-lines").out


def test_files_that_are_not_there_or_cannot_be_written_are_named(cli: Cli, tmp_path: Path) -> None:
    nowhere = tmp_path / "no" / "file"
    assert cli("import", "json-lines", str(nowhere)).err == f"hatbox: {nowhere}: No such file or directory\n"
    assert cli("import", "firefox", str(nowhere)).err.startswith(f"hatbox: {nowhere}: not a Firefox profile")
    assert cli("export", "Work", "-f", "cookies.txt", "-o", str(nowhere)).err.startswith(f"hatbox: {nowhere}: ")
    (tmp_path / "file").write_text("x")
    below = tmp_path / "file" / "folder"
    result = cli("export", "--all", "-f", "firefox", "-o", str(below))
    assert (result.status, result.err.startswith(f"hatbox: {below}: ")) == (1, True)


def test_several_firefox_profiles_are_listed(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "hatbox.formats.firefox_folders.find_folders",
        lambda: [FirefoxProfileFolder(tmp_path, "a", 2), FirefoxProfileFolder(tmp_path / "b", "b", 2)],
    )
    result = cli("import", "firefox")
    assert result.status == 1
    assert f"found 2 Firefox profiles: {tmp_path} (a); {tmp_path / 'b'} (b)." in result.err


@pytest.mark.skipif(os.name == "nt", reason="POSIX files")
def test_files_that_never_end_are_refused_and_nothing_is_imported(
    cli: Cli, tmp_path: Path, profile: Path, no_profile: None
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        for format_ in ("cookies.txt", "storage-state", "containers.json", "json-lines"):
            into = ["--into", "Work"] if format_ in ("cookies.txt", "storage-state") else []
            result = cli("import", format_, str(tmp_path / name), *into, "--create")
            assert (result.status, result.out) == (1, "")
            assert "not a file. Pass - and redirect standard input" in result.err
            assert result.err.endswith("Nothing was imported.\n")
    assert not profile.exists()


def test_cookies_of_several_do_not_get_into_one(cli: Cli, firefox: Path, profile: Path, no_profile: None) -> None:
    result = cli("import", "firefox", str(firefox), "--into", "Personal", "--create")
    assert result.status == 2
    assert "Select one with --container" in " ".join(result.err.split())
    assert not profile.exists()


def test_a_damaged_cookie_database_of_chromium_is_named_and_nothing_is_imported(
    cli: Cli, tmp_path: Path, profile: Path, no_profile: None
) -> None:
    chromium_files.make_profile(tmp_path / "data" / "Default")
    file = tmp_path / "data" / "Default" / "Network" / "Cookies"
    file.write_bytes(file.read_bytes()[:5000])
    result = cli("import", "chromium", str(tmp_path / "data"), "--create")
    assert (result.status, result.out) == (1, "")
    assert result.err.startswith(f"hatbox: {file}: ")
    assert result.err.endswith("Nothing was imported.\n")
    assert not profile.exists()


# ------------------------------------------------------------------------------------------------------ what works


def test_chromium_is_imported_and_what_the_keyring_encrypts_is_counted(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    chromium_files.make_profile(folder / "Default", value="", encrypted_value=chromium_files.encrypted(b"abc"))
    chromium_files.make_profile(folder / "Profile 1", value="", encrypted_value=b"v11" + b"x" * 32)
    names = {"Default": {"name": "Work"}, "Profile 1": {"name": "Home"}}
    (folder / "Local State").write_text(json.dumps({"profile": {"info_cache": names}}))
    result = cli("import", "chromium", str(folder))
    assert (result.status, result.out) == (0, "")
    assert result.err == (
        "Imported 1 new identity (1 existing) and 1 new cookie (0 changed, 0 unchanged).\n"
        "Skipped: cookies encrypted with the system's keyring, which only the browser itself can decrypt (1)\n"
        "Not supported: cookies of the last 30 seconds, if Chromium is running, because it has not written them yet\n"
        "Not supported: localStorage and IndexedDB\n"
    )
    assert cli("export", "Work", "-f", "cookies.txt").out.endswith("\tsid\tabc\n")
    assert cli("import", "chromium", str(folder), "--container", "Work", "--into", "Banking").status == 0
    assert cli("export", "Banking", "-f", "cookies.txt").out.endswith("\tsid\tabc\n")
    single = cli("import", "chromium", str(folder / "Default"), "--into", "Shopping", "--json")
    assert single.json["cookiesNew"] == 1


def test_an_import_after_a_recolor_makes_no_second_identity(cli: Cli, firefox: Path) -> None:
    cli("import", "firefox", str(firefox))
    cli("update", "Work", "--color", "red", "--icon", "pet")
    cli("update", "Gifts", "--name", "Presents", "--color", "blue")
    again = cli("import", "firefox", str(firefox), "--json").json
    assert (again["identitiesNew"], again["identitiesMatched"], again["cookiesUnchanged"]) == (0, 2, 3)
    names = [each["name"] for each in cli("list", "--json").json]
    assert names == ["Personal", "Work", "Banking", "Shopping", "Presents"]
    file = firefox / "containers.json"
    assert cli("import", "containers.json", str(file), "--json").json["identitiesNew"] == 1, "another source"
    cli("update", "Gifts", "--name", "Other")
    assert cli("import", "containers.json", str(file), "--json").json["identitiesNew"] == 0


def test_of_several_with_the_name_the_user_chooses_once(cli: Cli, firefox: Path) -> None:
    cli("create", "Work", "--color", "cyan", "--icon", "pet")
    cli("update", "firefox-container-2", "--color", "green")
    result = cli("import", "firefox", str(firefox))
    assert (result.status, result.out) == (1, "")
    assert result.err == (
        'hatbox: 2 identities are named "Work", and none has the icon and color of the imported one. Nothing was '
        "imported. Choose one of them, for example: --container Work --into firefox-container-2\n"
        "green  briefcase  Work  firefox-container-2\n"
        "cyan   pet        Work  firefox-container-6\n"
    )
    assert cli("import", "firefox", str(firefox), "--json").error["type"] == "AmbiguousImport"
    assert cli("import", "firefox", str(firefox), "--container", "Work", "--into", "firefox-container-6").status == 0
    assert cli("import", "firefox", str(firefox)).status == 0
    assert cli("export", "firefox-container-6", "-f", "cookies.txt").out.endswith("\tsid\tv2\n")
    assert "sid" not in cli("export", "firefox-container-2", "-f", "cookies.txt").out


def test_site_data_goes_from_one_identity_to_another(cli: Cli, tmp_path: Path) -> None:
    state = {"cookies": [], "origins": [{"origin": "https://a.example", "localStorage": [{"name": "k", "value": "v"}]}]}
    result = cli("import", "storage-state", "-", "--into", "Work", stdin=json.dumps(state))
    assert "Imported site data of 1 new origin (0 changed, 0 unchanged).\n" in result.err
    file = tmp_path / "state.json"
    exported = cli("export", "Work", "-f", "storage-state", "-o", str(file))
    assert exported.err == f"Exported 1 identity, 0 cookies and site data of 1 origin to {file}.\n"
    assert json.loads(file.read_text()) == state
    cookies = cli("export", "Work", "-f", "cookies.txt")
    assert cookies.err == "Not supported: localStorage of sites (1)\n"


def test_firefox_is_imported_with_its_containers_and_the_second_time_nothing_more(cli: Cli, firefox: Path) -> None:
    result = cli("import", "firefox", str(firefox))
    assert (result.status, result.out) == (0, "")
    assert result.err == (
        "Imported 1 new identity (1 existing) and 3 new cookies (0 changed, 0 unchanged).\n"
        "Skipped: expired cookies (1)\n"
        "Not supported: session cookies, which Firefox has in memory only\n"
    )
    for name, value in (("Gifts", "v6"), ("Work", "v2"), ("firefox-default", "v0")):
        assert cli("export", name, "-f", "cookies.txt").out.endswith(f"\tsid\t{value}\n")
    again = cli("import", "firefox", str(firefox), "--json")
    assert again.err == ""
    assert again.json == {
        "identitiesNew": 0,
        "identitiesMatched": 2,
        "cookiesNew": 0,
        "cookiesChanged": 0,
        "cookiesUnchanged": 3,
        "originsNew": 0,
        "originsChanged": 0,
        "originsUnchanged": 0,
        "skipped": {"expired cookies": 1},
        "dropped": {"session cookies, which Firefox has in memory only": 0},
    }


def test_only_the_containers_that_are_named_are_imported(cli: Cli, firefox: Path) -> None:
    cli("import", "firefox", str(firefox), "--container", "Gifts")
    assert "sid" in cli("export", "Gifts", "-f", "cookies.txt").out
    for name in ("Work", "firefox-default"):
        assert "sid" not in cli("export", name, "-f", "cookies.txt").out


def test_without_a_folder_it_is_the_profile_that_firefox_starts_with(
    cli: Cli, firefox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "hatbox.formats.firefox_folders.find_folders", lambda: [FirefoxProfileFolder(firefox, "default", 2)]
    )
    assert cli("import", "firefox").err.startswith("Imported 1 new identity")


@pytest.mark.parametrize("format_", ["cookies.txt", "storage-state"])
def test_cookies_go_from_one_identity_to_another_through_a_pipe(cli: Cli, tmp_path: Path, format_: str) -> None:
    cli("import", "cookies.txt", "-", "--into", "Work", stdin=LINE)
    text = cli("export", "Work", "-f", format_).out
    result = cli("import", format_, "-", "--into", "Banking", "--json", stdin=text)
    assert (result.json["cookiesNew"], result.err) == (1, "")
    assert cli("export", "Banking", "-f", "cookies.txt").out.endswith(LINE)
    assert "sid" not in cli("export", "Shopping", "-f", "cookies.txt").out


def test_everything_goes_to_another_machine(cli: Cli, firefox: Path, tmp_path: Path) -> None:
    cli("import", "firefox", str(firefox))
    cli("hide", "Gifts")
    file, other = tmp_path / "all.jsonl", str(tmp_path / "other.db")
    result = cli("export", "--all", "--format", "json-lines", "--output", str(file))
    assert (result.out, result.err) == ("", f"Exported 5 identities and 3 cookies to {file}.\n")
    assert file.stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    assert cli("import", "json-lines", str(file), "--profile", other, "--create").status == 0
    back = cli("export", "--all", "-f", "json-lines", "--profile", other).out
    uuid = re.compile('"uuid":"[^"]+"')  # of each machine its own
    assert uuid.sub("", back) == uuid.sub("", file.read_text("utf-8"))


def test_a_firefox_profile_can_be_made_and_read_again(cli: Cli, firefox: Path, tmp_path: Path) -> None:
    cli("import", "firefox", str(firefox))
    cli("import", "cookies.txt", "-", "--into", "Work", stdin=LINE.replace(LATER, "0"))
    folder = tmp_path / "made"
    result = cli("export", "--all", "-f", "firefox", "-o", str(folder), "--json")
    assert result.json == {
        "identities": 5,
        "cookies": 3,
        "origins": 0,
        "dropped": {"session cookies, which Firefox has in memory only": 1},
        "leftOut": {},
    }
    again = cli("import", "firefox", str(folder), "--json").json
    assert (again["identitiesMatched"], again["cookiesUnchanged"], again["cookiesNew"]) == (5, 3, 0)


def test_containers_alone(cli: Cli, firefox: Path) -> None:
    result = cli("import", "containers.json", str(firefox / "containers.json"))
    assert result.err == "Imported 1 new identity (1 existing) and 0 new cookies (0 changed, 0 unchanged).\n"
    entries = json.loads(cli("export", "--all", "-f", "containers.json").out)["identities"]
    assert [each.get("name") for each in entries if each["public"]][-1] == "Gifts"


def test_unsupported_data_is_reported_on_standard_error(cli: Cli) -> None:
    cli("import", "cookies.txt", "-", "--into", "Work", stdin=LINE)
    result = cli("export", "Work", "-f", "storage-state")
    assert result.err == "Not supported: SameSite attributes that were not set, and are Lax now (1)\n"
    reported = cli("export", "Work", "-f", "storage-state", "--json")
    assert json.loads(reported.err)["dropped"] == {"SameSite attributes that were not set, and are Lax now": 1}
    assert reported.out == result.out


def test_fractions_of_a_second_are_not_worth_a_line_at_every_export(cli: Cli) -> None:
    cli("import", "cookies.txt", "-", "--into", "Work", stdin=LINE)
    cli("cookies", "set", "Work", "https://site.example/", "mine", "v", "--expires-in-days", "1.234567")
    result = cli("export", "Work", "-f", "cookies.txt")
    assert (result.out.count("site.example"), result.err) == (2, "")
    assert "fractions of a second" in " ".join(cli("export", "--help").out.split())


def test_the_help_lists_what_each_format_loses(cli: Cli) -> None:
    shown = " ".join(cli("export", "--help").out.split())
    for format_ in LOSING[:-1]:
        assert f"Not supported by {format_}: " in shown
    assert "partitioned cookies, which would be sent to every site" in shown
    assert "json-lines:" not in shown


def test_what_does_not_fit_into_a_store_is_counted_each_time(cli: Cli) -> None:
    lines = "".join(LINE.replace("sid", f"n{number}") for number in range(200))
    limits = "cookies above the limits of a store (180 per site, 3300 in total); the newest were stored"
    skipped = f"Skipped: {limits} (20)\n"
    first = cli("import", "cookies.txt", "-", "--into", "Work", stdin=lines)
    assert first.err == f"Imported 0 new identities and 180 new cookies (0 changed, 0 unchanged).\n{skipped}"
    again = cli("import", "cookies.txt", "-", "--into", "Work", stdin=lines)
    assert again.err == f"Imported 0 new identities and 0 new cookies (0 changed, 180 unchanged).\n{skipped}"


def test_long_work_has_a_bar_where_a_person_is_looking(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_bar, "_MIN_TOTAL", 1)
    seen = cli("import", "cookies.txt", "-", "--into", "Work", stdin=LINE, tty=True)
    assert "Importing" in seen.err
    assert "1 new cookie (" in seen.err
    assert "Importing" not in cli("import", "cookies.txt", "-", "--into", "Work", stdin=LINE).err


def test_bytes_come_out_as_they_went_in_and_what_no_reader_could_read_is_named(program: Start, tmp_path: Path) -> None:
    line = LINE.encode().replace(b"abc", "ü".encode())
    broken = LINE.encode().replace(b"sid", b"latin").replace(b"abc", b"\xff\x85\xe9")
    taken_in = program("import", "cookies.txt", "-", "--into", "Work", stdin=subprocess.PIPE)
    taken_in.communicate(line + broken, timeout=60)
    out, err = program("export", "Work", "-f", "cookies.txt").communicate(timeout=60)
    assert out.endswith(b"\n\n" + line)
    reason = "cookies with bytes that are not UTF-8, which Python and yt-dlp cannot read"
    assert err.decode() == f'Not supported: {reason} (1): "latin" of site.example/\n'
    assert program("export", "Work", "-f", "cookies.txt", "--quiet").communicate(timeout=60) == (out, b"")
    reported = program("export", "Work", "-f", "cookies.txt", "--json").communicate(timeout=60)[1]
    assert json.loads(reported)["leftOut"] == {reason: [{"name": "latin", "domain": "site.example", "path": "/"}]}


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd here")
def test_the_output_can_be_a_pipe_with_a_name(program: Start, tmp_path: Path) -> None:
    process = program("export", "Work", "-f", "cookies.txt", "-o", "/dev/stdout")
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0, sys.platform
    assert out.startswith(b"# Netscape HTTP Cookie File\n")
