"""Where the key of a profile comes from, and what is refused (store/keys.py)."""

from __future__ import annotations

import base64
import os
import traceback
from pathlib import Path

import pytest

import hatbox
from hatbox.store.keys import Key, configured_key, read_key_file

SECRET = bytes(range(200, 232))
TEXT = base64.b64encode(SECRET).decode()


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HATBOX_KEY", raising=False)
    monkeypatch.delenv("HATBOX_KEY_FILE", raising=False)


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        f"{TEXT}\n",
        f"  {TEXT}\r\n",
        TEXT.rstrip("="),
        base64.urlsafe_b64encode(SECRET).decode(),
        base64.urlsafe_b64encode(SECRET).decode().rstrip("="),
    ],
)
def test_a_key_is_read_with_whitespace_without_padding_and_in_both_alphabets(text: str) -> None:
    assert Key.parse(text).secret == SECRET


@pytest.mark.parametrize(
    "text",
    [
        "correct horse battery staple",
        "password",
        base64.b64encode(SECRET[:16]).decode(),
        base64.b64encode(SECRET * 2).decode(),
        SECRET.hex(),
        f"{TEXT[:20]} {TEXT[20:]}",
        "ключ",
        TEXT[:-5] + "====",
        "AAAAA",
    ],
)
def test_a_text_that_is_not_a_key_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(hatbox.InvalidKey, match=r"32 random bytes in base64 .* hatbox profile generate-key") as refusal:
        Key.parse(text, "$HATBOX_KEY")
    assert text not in "".join(traceback.format_exception(refusal.value))


def test_a_new_key_is_random_and_reads_back() -> None:
    one, two = Key.generate(), Key.generate()
    assert one != two
    assert Key.parse(one.text) == one


def test_a_key_is_not_in_its_repr() -> None:
    assert TEXT not in f"{Key(SECRET)!r} {Key(SECRET)}"


def test_the_key_comes_from_the_environment_or_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert configured_key() is None
    monkeypatch.setenv("HATBOX_KEY", TEXT)
    assert configured_key() == Key(SECRET)
    monkeypatch.delenv("HATBOX_KEY")
    file = tmp_path / "key"
    file.write_text(f"{TEXT}\n")
    file.chmod(0o600)
    monkeypatch.setenv("HATBOX_KEY_FILE", str(file))
    assert configured_key() == Key(SECRET)


@pytest.mark.parametrize("variable", ["HATBOX_KEY", "HATBOX_KEY_FILE"])
def test_an_empty_variable_is_an_error_and_not_a_profile_without_encryption(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "")
    path = tmp_path / "profile.db"
    with pytest.raises(hatbox.InvalidKey, match=f"{variable} is empty"), hatbox.open_sync(path):
        pass
    assert not path.exists()


def test_two_keys_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HATBOX_KEY", TEXT)
    monkeypatch.setenv("HATBOX_KEY_FILE", "key")
    with pytest.raises(hatbox.InvalidKey, match="both set"):
        configured_key()


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_key_file_that_other_users_may_access_is_refused(mode: int, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(TEXT)
    file.chmod(mode)
    with pytest.raises(hatbox.InvalidKey, match=rf"mode {mode:04o}\).*chmod 600"):
        read_key_file(file)
    file.chmod(0o400)
    assert read_key_file(file) == Key(SECRET)


def test_a_key_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(hatbox.InvalidKey, match=r"missing: the key file cannot be read \(No such file"):
        read_key_file(tmp_path / "missing")
    with pytest.raises(hatbox.InvalidKey, match="cannot be read"):
        read_key_file(tmp_path)
