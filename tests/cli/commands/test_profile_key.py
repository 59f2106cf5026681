from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from hatbox.maintenance import Key
from tests.cli.conftest import Cli

ONE, TWO = Key(bytes(range(32))), Key(bytes(range(1, 33)))
LATER = int(time.time()) + 100 * 86400
COOKIE = f".site.example\tTRUE\t/\tTRUE\t{LATER}\tsid\tcookie-value-secret\n"


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HATBOX_KEY", "HATBOX_KEY_FILE", "HATBOX_NEW_KEY", "HATBOX_NEW_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def encrypted(cli: Cli, profile: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A profile that was encrypted after it had a cookie."""
    assert cli("import", "cookies.txt", "-", "--into", "Work", stdin=COOKIE).status == 0
    assert b"cookie-value-secret" in profile.read_bytes()
    monkeypatch.setenv("HATBOX_KEY", ONE.text)
    result = cli("profile", "encrypt")
    assert (result.status, result.out) == (0, "")
    assert result.err == f"Encrypted {profile}: 1 value.\n"
    return profile


def test_an_encrypted_profile_is_used_like_any_other(cli: Cli, encrypted: Path) -> None:
    assert b"cookie-value-secret" not in encrypted.read_bytes()
    assert "cookie-value-secret" in cli("cookies", "list", "Work", "--json").out
    assert cli("create", "New", "--color", "red", "--icon", "pet").status == 0
    assert cli("profile", "encrypt").err == f"{encrypted}: The profile is encrypted with this key already.\n"


def test_a_wrong_or_missing_key_is_named_and_printed_nowhere(
    cli: Cli, encrypted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = encrypted.read_bytes()
    monkeypatch.setenv("HATBOX_DEBUG", "1")
    monkeypatch.setenv("HATBOX_KEY", TWO.text)
    result = cli("list")
    assert result.status == 1
    assert "it is encrypted with another key" in result.err
    assert TWO.text not in result.err + result.out
    monkeypatch.delenv("HATBOX_KEY")
    assert "it is encrypted, and no key is set. Nothing was changed. Set HATBOX_KEY" in cli("list").err
    monkeypatch.setenv("HATBOX_KEY", "swordfish")
    result = cli("list")
    assert "$HATBOX_KEY is not a key" in result.err
    assert "swordfish" not in result.err
    assert encrypted.read_bytes() == before


def test_a_profile_that_is_not_encrypted_says_how_to_encrypt_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("list")
    monkeypatch.setenv("HATBOX_KEY", ONE.text)
    result = cli("list", "--json")
    assert result.error["type"] == "WrongKey"
    assert "Encrypt it with: hatbox profile encrypt" in result.error["message"]


@pytest.mark.parametrize("format_", ["cookies.txt", "storage-state", "json-lines", "firefox"])
def test_an_export_of_an_encrypted_profile_is_plain_text_only_with_plain(
    cli: Cli, encrypted: Path, tmp_path: Path, format_: str
) -> None:
    target = tmp_path / "exported"
    result = cli("export", "Work", "-f", format_, "-o", str(target), "--json")
    assert result.status == 1
    assert result.error["type"] == "PlainTextRefused"
    assert "pass --plain" in result.error["message"]
    assert not target.exists()
    assert cli("export", "Work", "-f", format_, "-o", str(target), "--plain").status == 0
    files = [target] if target.is_file() else list(target.iterdir())
    assert any(b"cookie-value-secret" in file.read_bytes() for file in files)


def test_names_of_an_encrypted_profile_are_exported_without_plain(cli: Cli, encrypted: Path) -> None:
    assert "user-context-banking" in cli("export", "--all", "-f", "containers.json").out


def test_rekey_reads_the_new_key_from_the_environment_or_a_file(
    cli: Cli, encrypted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no new key is set" in cli("profile", "rekey").err
    monkeypatch.setenv("HATBOX_NEW_KEY", TWO.text)
    assert cli("profile", "rekey").err == f"Changed the key of {encrypted}: 1 value.\n"
    assert "encrypted with another key" in cli("list").err
    monkeypatch.delenv("HATBOX_NEW_KEY")
    monkeypatch.delenv("HATBOX_KEY")
    old, new = tmp_path / "old", tmp_path / "new"
    old.touch(0o600)
    old.write_text(TWO.text)
    assert cli("profile", "generate-key", "-o", str(new)).status == 0
    result = cli("profile", "rekey", "--key-file", str(old), "--new-key-file", str(new), "--json")
    assert result.json == {"path": str(encrypted), "encrypted": True, "values": 1}
    monkeypatch.setenv("HATBOX_KEY_FILE", str(new))
    assert "cookie-value-secret" in cli("cookies", "list", "Work", "--json").out


def test_decrypt_restores_a_profile_that_needs_no_key(
    cli: Cli, encrypted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("profile", "decrypt").err == f"Decrypted {encrypted}: 1 value.\n"
    monkeypatch.delenv("HATBOX_KEY")
    assert "cookie-value-secret" in cli("cookies", "list", "Work", "--json").out
    assert b"cookie-value-secret" in encrypted.read_bytes()


def test_a_new_key_is_printed_or_written_to_a_file_that_is_never_overwritten(cli: Cli, tmp_path: Path) -> None:
    result = cli("profile", "generate-key")
    assert Key.parse(result.out) != Key.parse(cli("profile", "generate-key", "--json").json["key"])
    file = tmp_path / "key"
    assert cli("profile", "generate-key", "-o", str(file)).status == 0
    assert file.stat().st_mode & 0o777 == 0o600
    content = file.read_text()
    assert Key.parse(content).text == content.strip()
    again = cli("profile", "generate-key", "-o", str(file))
    assert again.status == 1
    assert "File exists. No key was written." in again.err
    assert file.read_text() == content


def test_commands_need_a_key(cli: Cli, profile: Path) -> None:
    cli("list")
    before = profile.read_bytes()
    for command in ("encrypt", "decrypt", "rekey"):
        assert "key is set" in cli("profile", command).err
    assert profile.read_bytes() == before


def test_a_new_profile_is_encrypted_if_a_key_is_set(
    cli: Cli, profile: Path, monkeypatch: pytest.MonkeyPatch, no_profile: None
) -> None:
    monkeypatch.setenv("HATBOX_KEY", ONE.text)
    assert cli("import", "--create", "cookies.txt", "-", "--into", "Work", stdin=COOKIE).status == 0
    assert b"cookie-value-secret" not in profile.read_bytes()


@pytest.mark.process
def test_without_a_key_the_package_is_not_imported(profile: Path) -> None:
    program = "import sys; from hatbox.cli import invoke; invoke(['list']); print('cryptography' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
