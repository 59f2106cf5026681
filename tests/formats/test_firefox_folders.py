from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hatbox.errors import FirefoxProfileLocked, ImportExportError, InvalidInputFile
from hatbox.formats.firefox_folders import FirefoxProfileFolder, default_folder, find_folders, locked

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows locks in another way")

INI = """\
[Profile1]
Name=default
IsRelative=1
Path=abc.default
Default=1

[Profile0]
Name=default-release
IsRelative=1
Path=Profiles/abc.default-release

[Profile2]
Name=elsewhere
IsRelative=0
Path={elsewhere}

[Profile3]
Name=gone
IsRelative=1
Path=gone

[InstallCF146F38BCAB2D21]
Default=Profiles/abc.default-release
Locked=1
"""


def make_root(root: Path, ini: str = INI) -> None:
    for name in ("abc.default", "Profiles/abc.default-release", "elsewhere"):
        (root / name).mkdir(parents=True)
    (root / "profiles.ini").write_text(ini.format(elsewhere=root / "elsewhere"), "utf-8")


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("linux", ".mozilla/firefox"),
        ("linux", ".config/mozilla/firefox"),
        ("linux", "snap/firefox/common/.mozilla/firefox"),
        ("linux", ".var/app/org.mozilla.firefox/.mozilla/firefox"),
        ("darwin", "Library/Application Support/Firefox"),
        ("win32", "AppData/Roaming/Mozilla/Firefox"),
    ],
)
def test_the_profile_that_an_installation_starts_with_is_found(tmp_path: Path, platform: str, place: str) -> None:
    make_root(tmp_path / place)
    found = find_folders(tmp_path, platform, {})
    assert [each.name for each in found] == ["default", "default-release", "elsewhere"]
    assert default_folder(found) == tmp_path / place / "Profiles" / "abc.default-release"


def test_windows_says_where_its_roaming_folder_is(tmp_path: Path) -> None:
    make_root(tmp_path / "roaming" / "Mozilla" / "Firefox")
    assert len(find_folders(tmp_path, "win32", {"APPDATA": str(tmp_path / "roaming")})) == 3


def test_without_an_installation_the_old_default_counts(tmp_path: Path) -> None:
    make_root(tmp_path / ".mozilla/firefox", INI.partition("[Install")[0])
    assert default_folder(find_folders(tmp_path, "linux", {})).name == "abc.default"


def test_several_are_listed_and_none_is_chosen(tmp_path: Path) -> None:
    make_root(tmp_path / ".mozilla/firefox")
    make_root(tmp_path / "snap/firefox/common/.mozilla/firefox")
    with pytest.raises(ImportExportError, match=r"found 2 Firefox profiles: .*default-release\)") as caught:
        default_folder(find_folders(tmp_path, "linux", {}))
    assert str(tmp_path / "snap") in str(caught.value)


def test_where_there_is_none_you_are_told_how_to_name_one() -> None:
    with pytest.raises(ImportExportError, match="about:support"):
        default_folder([])


def test_one_is_enough(tmp_path: Path) -> None:
    assert default_folder([FirefoxProfileFolder(tmp_path, "only", 0)]) == tmp_path


def test_a_broken_list_is_named(tmp_path: Path) -> None:
    root = tmp_path / ".mozilla/firefox"
    root.mkdir(parents=True)
    (root / "profiles.ini").write_text("nonsense", "utf-8")
    with pytest.raises(InvalidInputFile, match=r"profiles\.ini"):
        find_folders(tmp_path, "linux", {})


HOLD = """
import fcntl, os, sys
descriptor = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
fcntl.lockf(descriptor, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.process
@posix_only
def test_a_profile_that_another_process_holds_is_left_alone(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / ".parentlock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(FirefoxProfileLocked, match="Firefox has this profile open"), locked(tmp_path):
            pass
        holder.communicate()
    with locked(tmp_path):
        pass


@posix_only
@pytest.mark.parametrize(
    ("link", "held"),
    [
        ("127.0.1.1:+{pid}", False),  # after a crash: with the +, the lock on the file is what counts
        ("127.0.1.1:{pid}", True),
        ("127.0.1.1:999999999", False),
        ("nonsense", False),
    ],
)
def test_a_link_without_plus_counts_while_its_process_lives(tmp_path: Path, link: str, held: bool) -> None:
    (tmp_path / "lock").symlink_to(link.format(pid=os.getpid()))
    if held:
        with pytest.raises(FirefoxProfileLocked), locked(tmp_path):
            pass
    else:
        with locked(tmp_path):
            pass
