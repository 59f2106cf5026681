from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from hatbox.extensions.runtime.sandbox.hidden_paths import HiddenPaths


def make(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def within(wall_paths: Iterable[str], folder: Path) -> set[str]:
    return {str(Path(each).relative_to(folder)) for each in wall_paths if Path(each).is_relative_to(folder)}


def test_what_is_beside_the_way_to_a_hidden_file_is_allowed_and_the_way_is_not(tmp_path: Path) -> None:
    make(tmp_path, "a/b/profile.db", "a/b/profile.db-wal", "a/b/other", "a/c/deep/file", "d")
    hidden = HiddenPaths(prefixes=[tmp_path / "a/b/profile.db"])
    assert within(hidden.wall().use, tmp_path) == {"a/b/other", "a/c", "d"}
    assert {str(tmp_path / "a/b"), str(tmp_path), "/"} <= hidden.folders_above
    assert "/" not in hidden.wall().use


def test_a_hidden_folder_is_hidden_with_everything_in_it_also_if_it_does_not_exist_yet(tmp_path: Path) -> None:
    make(tmp_path, "a/keys/one/key", "a/file")
    hidden = HiddenPaths([tmp_path / "a/keys", tmp_path / "a/later/still", tmp_path / "a/keys/one"])
    assert within(hidden.wall().use, tmp_path) == {"a/file"}
    assert hidden.contains(str(tmp_path / "a/keys/one/key"))
    assert not hidden.contains(str(tmp_path / "a/keys2"))


def test_links_are_neither_a_way_in_nor_a_way_out(tmp_path: Path) -> None:
    """A link is not allowed by itself: where it leads to is. A hidden path through a link is hidden where it is."""
    make(tmp_path, "real/profile.db", "real/file")
    (tmp_path / "home").symlink_to("real")
    (tmp_path / "shortcut").symlink_to("real/profile.db")
    hidden = HiddenPaths(prefixes=[tmp_path / "home/profile.db"])
    assert within(hidden.wall().use, tmp_path) == {"real/file"}
    assert hidden.contains(str(tmp_path / "real/profile.db"))


def test_what_a_process_needs_is_allowed_unless_it_is_hidden_or_above(tmp_path: Path) -> None:
    make(tmp_path, "a/profile.db", "b/python")
    hidden = HiddenPaths([tmp_path / "a"])
    needed = [str(tmp_path / "b/python"), str(tmp_path / "a"), str(tmp_path / "a/profile.db"), str(tmp_path)]
    added = set(hidden.wall(needed).use) - set(hidden.wall().use)
    assert within(added, tmp_path) == {"b/python"}


@pytest.mark.slow
def test_read_only_folders_are_not_usable_in_other_ways_and_hide_what_is_hidden_in_them(tmp_path: Path) -> None:
    make(tmp_path, "env/bin/python", "env/lib/module.py", "env/lib/profile.db", "beside/file")
    plain = HiddenPaths(read_only=[tmp_path / "env", tmp_path / "env/lib"])
    assert within(plain.wall().execute, tmp_path) == {"env"}
    assert within(plain.wall().use, tmp_path) == {"beside"}
    needed = plain.wall([str(tmp_path / "env/bin"), str(tmp_path)])
    assert within(needed.use, tmp_path) == {"beside"}
    both = HiddenPaths(prefixes=[tmp_path / "env/lib/profile.db"]).with_read_only([tmp_path / "env"])
    assert within(both.wall().execute, tmp_path) == {"env/bin", "env/lib/module.py"}
    assert within(both.wall().use, tmp_path) == {"beside"}


def test_nothing_hidden_allows_everything() -> None:
    assert HiddenPaths().wall().use == ("/",)
