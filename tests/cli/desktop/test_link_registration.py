from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.cli.desktop.link_registration import LinkRegistration, default_of, exec_line, with_default, without_default

HTTP, CONTAINER = "x-scheme-handler/http", "x-scheme-handler/ext+container"
USERS = (
    "# mine\n[Added Associations]\ntext/html=a.desktop;\n\n"
    "[Default Applications]\ntext/html=firefox.desktop\n{}=firefox.desktop;\n"
)


@pytest.fixture
def registration(tmp_path: Path) -> LinkRegistration:
    return LinkRegistration(tmp_path / "data", tmp_path / "config")


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("browser", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        USERS.format(HTTP),
        "[Default Applications]",
        "garbage\0\n=\n[",
        "# \udcff is not UTF-8\n",
        "\r\n[Default Applications]\r\nx=y\r\n",
    ],
)
def test_removing_restores_every_byte(
    registration: LinkRegistration, tmp_path: Path, text: str | None, browser: bool
) -> None:
    if text is not None:
        registration.defaults.parent.mkdir()
        registration.defaults.write_bytes(text.encode(errors="surrogateescape"))
        registration.defaults.chmod(0o640)
    before = tree(tmp_path)
    for _ in range(2):  # installing twice is installing once
        registration.install(browser=browser, profile=None)
    installed = registration.defaults.read_text(errors="replace")
    assert default_of(installed, CONTAINER) == "hatbox-links.desktop"
    assert (default_of(installed, HTTP) == "hatbox-links.desktop") is browser
    assert registration.remove()
    assert tree(tmp_path) == before
    if text is not None:
        assert registration.defaults.stat().st_mode & 0o777 == 0o640
    assert not registration.remove()


def test_what_the_user_changes_meanwhile_stays(registration: LinkRegistration) -> None:
    registration.defaults.parent.mkdir()
    registration.defaults.write_text(USERS.format(HTTP))
    registration.install(browser=True, profile=None)
    text = registration.defaults.read_text()
    text = with_default(text, "image/png", "viewer.desktop")
    text = with_default(text, "x-scheme-handler/https", "other.desktop")
    registration.defaults.write_text(text)
    registration.remove()
    text = registration.defaults.read_text()
    assert default_of(text, HTTP) == "firefox.desktop;"
    assert default_of(text, "x-scheme-handler/https") == "other.desktop"
    assert default_of(text, "image/png") == "viewer.desktop"
    assert default_of(text, CONTAINER) is None
    assert "# mine\n[Added Associations]\ntext/html=a.desktop;\n" in text


def test_a_file_of_the_user_is_restored(registration: LinkRegistration, tmp_path: Path) -> None:
    registration.entry.parent.mkdir(parents=True)
    registration.entry.write_bytes(b"[Desktop Entry]\nName=Mine \xff\n")
    before = tree(tmp_path)
    assert not registration.remove()  # nothing is registered
    assert tree(tmp_path) == before
    for browser in (False, True):
        registration.install(browser=browser, profile=None)
    assert "Name=Hatbox" in registration.entry.read_text()
    assert registration.remove()
    assert tree(tmp_path) == before


def test_a_file_that_the_user_has_replaced_since_stays(registration: LinkRegistration) -> None:
    registration.install(browser=False, profile=None)
    registration.entry.write_text("[Desktop Entry]\nName=Mine\n")
    assert registration.remove()
    assert registration.entry.read_text() == "[Desktop Entry]\nName=Mine\n"


def test_an_empty_folder_of_the_user_stays(registration: LinkRegistration, tmp_path: Path) -> None:
    registration.entry.parent.mkdir(parents=True)
    registration.install(browser=False, profile=None)
    registration.install(browser=False, profile=None)
    registration.remove()
    assert registration.entry.parent.is_dir()
    assert not (tmp_path / "data" / "hatbox").exists()


@pytest.mark.parametrize("content", [None, "{", '{"existed": 1}'])
def test_without_its_backup_the_registration_is_removed(
    registration: LinkRegistration, tmp_path: Path, content: str | None
) -> None:
    registration.defaults.parent.mkdir()
    registration.defaults.write_text("[Default Applications]\nx=y\n")
    registration.install(browser=True, profile=None)
    backup = tmp_path / "data" / "hatbox" / "links.json"
    if content is None:
        backup.unlink()
    else:
        backup.write_text(content)
    assert registration.remove()
    assert registration.defaults.read_text() == "[Default Applications]\nx=y\n"
    assert not registration.entry.exists()


def test_of_a_list_of_programs_only_hatbox_is_removed(registration: LinkRegistration) -> None:
    registration.install(browser=True, profile=None)
    text = registration.defaults.read_text()
    registration.defaults.write_text(with_default(text, HTTP, "hatbox-links.desktop;other.desktop;"))
    registration.remove()
    text = registration.defaults.read_text()
    assert default_of(text, HTTP) == "other.desktop;"
    assert "hatbox" not in text


def test_a_linked_file_stays_a_link(registration: LinkRegistration, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles"
    target.write_text("[Default Applications]\n")
    registration.defaults.parent.mkdir()
    registration.defaults.symlink_to(target)
    registration.install(browser=False, profile=None)
    assert registration.defaults.is_symlink()
    assert CONTAINER in target.read_text()
    registration.remove()
    assert registration.defaults.is_symlink()
    assert target.read_text() == "[Default Applications]\n"


def test_a_registration_that_was_killed_half_way_is_undone(registration: LinkRegistration, tmp_path: Path) -> None:
    registration.defaults.parent.mkdir()
    registration.defaults.write_text(USERS.format(HTTP))
    before = tree(tmp_path)
    registration.install(browser=True, profile=None)
    registration.defaults.write_text(USERS.format(HTTP))  # the last write did not happen
    registration.remove()
    assert tree(tmp_path) == before


@pytest.mark.parametrize("address", [None, "/a b/p.db", '/we"ird/$HOME/`x`/\\/100%u.db'])
def test_the_command_keeps_the_link_one_argument_after_the_options(address: str | None) -> None:
    line = exec_line(address)
    assert line.endswith('"--" %u')
    unescaped = line.replace("\\\\", "\\").replace("%%", "%").removesuffix(" %u")
    words = [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', unescaped)]
    assert words[-1] == "--"
    if address is not None:
        assert words[words.index("--profile") + 1] == address


@given(st.text(), st.sampled_from([HTTP, "text/html"]), st.sampled_from(["a.desktop", "b.desktop;"]))
def test_setting_a_default_changes_no_other_line(text: str, mime: str, value: str) -> None:
    changed = with_default(text, mime, value)
    assert default_of(changed, mime) == value
    ours = ("[Default Applications]", "")

    def others(content: str) -> list[str]:
        return [line for line in content.split("\n") if line.partition("=")[0].strip() != mime and line not in ours]

    assert others(changed) == others(text)
    assert default_of(without_default(changed, mime), mime) in (None, default_of(without_default(text, mime), mime))
