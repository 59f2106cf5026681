"""`hatbox backup`, `restore` and `clone`."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from hatbox.archive import age_format
from hatbox.cli import invoke
from hatbox.cli.terminal.sizes import size_text
from tests.cli.conftest import Cli, Stream
from tests.extensions.made import make


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "backup.hatbox"


@pytest.fixture
def quick_passphrase(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passphrases that are checked in no time."""
    monkeypatch.setattr(age_format.EncryptingWriter.__init__, "__defaults__", (4,))


def names(cli: Cli, *options: str) -> list[str]:
    return [each["name"] for each in cli("list", "--json", *options).json]


def set_cookie(cli: Cli, identity: str, name: str) -> None:
    assert cli("cookies", "set", identity, "https://site.example/", name, "value").status == 0


def test_a_backup_says_what_it_contains_and_is_restored(cli: Cli, file: Path) -> None:
    set_cookie(cli, "Work", "a")
    result = cli("backup", str(file))
    assert (result.status, result.err) == (0, "")
    size = size_text(file.stat().st_size)
    assert result.out == f"Backed up 4 identities, 1 cookie, 0 tabs to {file} ({size}).\n"
    assert file.stat().st_mode & 0o777 == 0o600
    cli("remove", "-y", "Work")
    result = cli("restore", str(file), stdin="y\n")
    assert result.status == 0
    assert "1 cookie added" in result.out
    assert result.out.endswith("Restored 1 identity.\n")
    assert names(cli) == ["Personal", "Work", "Banking", "Shopping"]
    assert [each["name"] for each in cli("cookies", "list", "Work", "--json").json] == ["a"]
    result = cli("restore", str(file), "--yes")
    assert result.out == "Nothing had to be changed: everything is as in the backup.\n"


def test_nothing_is_restored_without_a_yes(cli: Cli, file: Path) -> None:
    cli("backup", str(file))
    cli("remove", "-y", "Work")
    for answer in ("n\n", ""):
        result = cli("restore", str(file), stdin=answer)
        assert result.status == 1
        assert "not restored" in result.err
    assert "Work" not in names(cli)
    assert cli("restore", str(file), "--dry-run").status == 0
    assert "Work" not in names(cli)


def test_a_restore_that_only_changes_the_order_says_so_and_asks(cli: Cli, file: Path) -> None:
    cli("backup", str(file))
    assert cli("move", "Shopping", "--to", "0").status == 0
    result = cli("restore", str(file), stdin="n\n")
    assert result.status == 1
    assert "The order of the identities changes." in result.out
    assert names(cli) == ["Shopping", "Personal", "Work", "Banking"]
    result = cli("restore", str(file), "--yes")
    assert result.out == "Restored 0 identities. Their order is as in the backup.\n"
    assert names(cli) == ["Personal", "Work", "Banking", "Shopping"]
    assert cli("restore", str(file), "--yes").out.startswith("Nothing had to be changed")


def test_only_the_named_identities_are_restored(cli: Cli, file: Path) -> None:
    cli("backup", str(file))
    for name in ("Work", "Banking"):
        cli("remove", "-y", name)
    assert cli("restore", str(file), "Banking", "-y").status == 0
    assert names(cli) == ["Personal", "Banking", "Shopping"]
    result = cli("restore", str(file), "Wrok", "-y")
    assert result.status == 1
    assert 'identity not in this archive: "Wrok". Did you mean "Work"?' in result.err
    assert cli("restore", str(file), "Wrok", "-y", "--json").error["type"] == "NotInArchive"


def test_some_identities_are_backed_up(cli: Cli, file: Path) -> None:
    report = cli("backup", str(file), "--identity", "Work", "--identity", "firefox-container-1", "--json").json
    assert (report["isWhole"], report["rows"]["identities"], report["isEncrypted"]) == (False, 2, False)
    assert cli("backup", str(file) + "2", "--identity", "Wrok").status == 1
    assert not Path(str(file) + "2").exists()


def test_a_file_is_not_overwritten_without_force(cli: Cli, file: Path) -> None:
    file.write_text("a letter")
    result = cli("backup", str(file))
    assert result.status == 1
    assert "this file exists already" in result.err
    assert file.read_text() == "a letter"
    assert cli("backup", str(file), "--force", "--quiet").out == ""
    assert cli("restore", str(file), "-n").status == 0


def test_the_profile_is_not_overwritten_even_with_force(cli: Cli, profile: Path) -> None:
    cli("profile", "create", str(profile))
    result = cli("backup", str(profile), "--force", "--profile", str(profile))
    if result.status == 0:
        pytest.skip("the profile is not this file")
    assert "part of the profile" in result.err


def test_a_new_profile_becomes_equal_to_the_backup(cli: Cli, file: Path, tmp_path: Path) -> None:
    set_cookie(cli, "Work", "a")
    cli("create", "Clients")
    cli("backup", str(file))
    other = ("--profile", str(tmp_path / "other.db"))
    assert cli("profile", "create", *other[1:]).status == 0
    result = cli("restore", str(file), *other, stdin="y\n")
    assert "The profile is new. It becomes equal to the backup: 5 identities, 1 cookie," in result.out
    assert result.out.endswith("Restored 5 identities.\n")
    assert names(cli, *other) == names(cli)


def test_a_new_id_is_reported(cli: Cli, file: Path, tmp_path: Path) -> None:
    cli("create", "Clients")
    cli("backup", str(file), "--identity", "Clients")
    other = ("--profile", str(tmp_path / "other.db"))
    cli("profile", "create", *other[1:])
    cli("create", "Mine", *other)
    result = cli("restore", str(file), *other, stdin="y\n")
    assert "created; firefox-container-6 is taken" in " ".join(result.out.split())
    assert result.out.endswith('Restored 1 identity. "Clients" is now firefox-container-7.\n')
    report = cli("restore", str(file), *other, "-y", "--json").json
    assert (report["changed"], report["identities"][0]["hasNewId"]) == (False, True)


@pytest.mark.usefixtures("quick_passphrase")
def test_an_encrypted_backup_asks_for_the_passphrase(cli: Cli, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = cli("backup", str(file), "--encrypt")
    assert result.status == 1
    assert "no terminal to ask for the passphrase. Set $HATBOX_PASSPHRASE" in result.err
    monkeypatch.setenv("HATBOX_PASSPHRASE", "")
    assert "is empty" in cli("backup", str(file), "--encrypt").err
    monkeypatch.setenv("HATBOX_PASSPHRASE", "correct horse")
    assert cli("backup", str(file), "--encrypt").out.endswith("encrypted).\n")
    assert cli("restore", str(file), "-n").status == 0
    monkeypatch.setenv("HATBOX_PASSPHRASE", "wrong")
    assert "the passphrase is wrong" in cli("restore", str(file), "-n").err
    assert cli("backup", str(file), "--encrypt", "--plain").status == 2


@pytest.mark.usefixtures("quick_passphrase")
def test_a_new_passphrase_is_asked_for_twice(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    asked: list[str] = []

    def run(*arguments: str, answers: list[str]) -> tuple[int, str]:
        given, err = iter(answers), Stream()

        def getpass(prompt: str, _stream: Any) -> str:
            asked.append(prompt)
            return next(given)

        monkeypatch.setattr("getpass.getpass", getpass)
        monkeypatch.setattr(sys, "stdin", Terminal("y\n"))
        monkeypatch.setattr(sys, "stdout", Stream())
        monkeypatch.setattr(sys, "stderr", err)
        return invoke(arguments), err.text()

    status, err = run("backup", str(file), "-e", answers=["one", "two"])
    assert status == 1
    assert "the passphrases differ" in err
    assert "the passphrase is empty" in run("backup", str(file), "-e", answers=[""])[1]
    assert not file.exists()
    assert run("backup", str(file), "-e", answers=["one", "one"])[0] == 0
    asked.clear()
    assert run("restore", str(file), answers=["one"])[0] == 0
    assert asked == ["Passphrase: "]


def test_damaged_and_other_files_are_refused(cli: Cli, file: Path) -> None:
    cli("backup", str(file))
    data = file.read_bytes()
    one_byte_changed = data[:100] + bytes([data[100] ^ 1]) + data[101:]
    for changed in (data[:-1], data + b"\n", one_byte_changed, b"", b"Dear reader"):
        file.write_bytes(changed)
        result = cli("restore", str(file), "-y")
        assert result.status == 1
        assert "Nothing was changed" in result.err
    assert cli("restore", str(file.with_name("missing")), "-y").status == 1
    assert cli("restore", "").status == 2
    assert cli("backup", "").status == 2


def test_a_clone_comes_right_after_the_original_with_its_cookies(cli: Cli) -> None:
    set_cookie(cli, "Work", "a")
    assert cli("clone", "Work").out == "Created Work 2 (firefox-container-6)\n"
    assert cli("clone", "Work", "Clients", "--json").json["name"] == "Clients"
    assert cli("clone", "Work").out == "Created Work 3 (firefox-container-8)\n"
    assert names(cli) == ["Personal", "Work", "Work 3", "Clients", "Work 2", "Banking", "Shopping"]
    assert [each["name"] for each in cli("cookies", "list", "Clients", "--json").json] == ["a"]
    assert cli("clone", "Wrok").status == 1
    assert cli("clone", "Work", " ").status == 1


def test_a_restore_names_the_proxies_and_the_extensions_that_it_brings(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "backup.hatbox"
    assert cli("settings", "Work", "--proxy", "http://me:secret@proxy.example:3128").status == 0
    package = make(tmp_path, permissions=["<all_urls>", "nativeMessaging"], name="Broad")
    assert cli("extensions", "install", str(package)).status == 0
    assert cli("backup", str(file)).status == 0
    other = ["--profile", str(tmp_path / "other.db")]
    assert cli("profile", "create", other[1]).status == 0
    new = cli("restore", str(file), "--dry-run", *other).out
    assert cli("create", "Mine", *other).status == 0
    used = cli("restore", str(file), "--dry-run", *other).out
    for shown in (new, used):
        assert "proxy http://proxy.example:3128" in shown and "secret" not in shown
        assert "is installed, with: <all_urls>, nativeMessaging." in shown
