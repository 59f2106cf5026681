"""Which folders of Hatbox and of its Python are read-only for a script."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path

import pytest

import hatbox
from hatbox import Profile
from hatbox.cli.commands.run.permitted.installed_code import installed_folders, protected_folders
from hatbox.cli.commands.run.permitted.script_sandbox import hidden_files

ENVIRONMENT = "/home/me/project/.venv"


@pytest.mark.parametrize(
    ("working", "restricted", "is_protected"),
    [
        ("/data", [], True),
        ("/home/me/other", [], True),
        (ENVIRONMENT, [], False),
        (f"{ENVIRONMENT}/lib/python3.12", [], False),
        ("/home/me/project", [], False),  # the script creates its results there
        ("/home/me", [], False),
        ("/home/me", ["/", "/home", "/home/me"], True),  # it can create nothing there anyway
        (f"{ENVIRONMENT}2", [], True),
    ],
)
def test_the_environment_is_protected_unless_the_script_works_in_or_above_it(
    working: str, restricted: list[str], is_protected: bool
) -> None:
    found = protected_folders([ENVIRONMENT], ["/data", working], restricted)
    assert found == ([ENVIRONMENT] if is_protected else [])


def test_hatbox_and_its_environment_are_installed_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: True)
    found = installed_folders()
    expected = [str(Path(hatbox.__file__).parent), sysconfig.get_path("purelib"), sysconfig.get_path("scripts")]
    assert {os.path.realpath(each) for each in expected} <= set(found)
    assert (os.path.realpath(sys.prefix) in found) == (sys.prefix != sys.base_prefix)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert installed_folders() == []  # the script cannot change them without a sandbox either


def test_a_script_cannot_change_them_unless_it_works_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "project" / "package"
    package.mkdir(parents=True)
    monkeypatch.setattr(
        "hatbox.cli.commands.run.permitted.script_sandbox.installed_folders", lambda: [os.path.realpath(package)]
    )
    profile = Profile(tmp_path / "data" / "profile.db")
    assert str(package) in hidden_files(profile, tmp_path / "other").wall().execute
    inside = hidden_files(profile, package).wall()
    assert str(package) not in inside.execute
    assert str(tmp_path / "project") in inside.use
