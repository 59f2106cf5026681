from __future__ import annotations

import inspect
import re
from pathlib import Path

import hatbox
from hatbox import errors


def test_the_tree_drawn_at_the_top_is_the_tree_there_is() -> None:
    _, _, tree = (errors.__doc__ or "").partition("\n\n")
    lines = re.findall(r"^((?:[│ ]   )*(?:[├└]── )?)(\w+)", tree, re.MULTILINE)
    path: list[str] = []
    for prefix, name in lines:
        depth = len(prefix) // 4
        path[depth:] = [name]
        parent = getattr(errors, name).__mro__[1].__name__
        assert parent == (path[depth - 1] if depth else "Exception"), name
    assert {name for _, name in lines} == set(errors.__all__)


def test_every_error_is_public_and_explained() -> None:
    for name in errors.__all__:
        assert getattr(hatbox, name) is getattr(errors, name)
        assert inspect.getdoc(getattr(errors, name))


def test_a_message_can_always_be_printed() -> None:
    assert str(errors.InvalidIdentity("\ud800")) == "Invalid contextual identity: \ufffd"


def test_an_unknown_name_comes_with_the_nearest_ones() -> None:
    assert (
        str(errors.IdentityNotFound("Wrok", ["Work"]))
        == 'identity not found: "Wrok". Did you mean "Work"? List identities with: hatbox list'
    )
    assert str(errors.IdentityNotFound("Wrok")) == 'identity not found: "Wrok". List identities with: hatbox list'


def test_an_ambiguous_name_comes_with_the_ids() -> None:
    error = errors.AmbiguousIdentity("Work", ["firefox-container-2", "firefox-container-6"])
    assert "firefox-container-2, firefox-container-6" in str(error)
    assert error.candidates == ("firefox-container-2", "firefox-container-6")


def test_trouble_with_the_file_names_it_and_says_what_to_do() -> None:
    error = errors.DiskFull(Path("/somewhere/profile.db"), "there is no room", "Free some space.")
    assert str(error) == f"{Path('/somewhere/profile.db')}: there is no room. Free some space."
