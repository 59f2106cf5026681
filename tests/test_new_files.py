from __future__ import annotations

import contextlib
import os
import sys
import threading
from pathlib import Path

import pytest

from hatbox import new_files
from hatbox.new_files import new_file, replace_file


def test_a_file_is_its_owners_alone_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "secrets.txt"
    path.write_bytes(b"old")
    path.chmod(0o644)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o600 or os.name == "nt"
    assert list(tmp_path.iterdir()) == [path]


def test_when_writing_fails_the_old_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secrets.txt"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("overwrite", [True, False])
@pytest.mark.parametrize("is_named", [True, False])
def test_a_file_is_complete_under_its_name_or_not_there(
    overwrite: bool, is_named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_named:  # as on other systems
        monkeypatch.setattr(new_files, "_open_unnamed", lambda _: None)
    path = tmp_path / "backup"
    with new_file(path, overwrite=overwrite) as file:
        file.write(b"one")
        assert not path.exists()
        if not is_named and sys.platform == "linux":
            assert list(tmp_path.iterdir()) == [], "a killed process leaves nothing"
    expected = pytest.raises(FileExistsError) if not overwrite else contextlib.nullcontext()
    with expected, new_file(path, overwrite=overwrite) as file:
        file.write(b"two")
    assert path.read_bytes() == (b"two" if overwrite else b"one")
    assert list(tmp_path.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o600 or os.name == "nt"


def test_what_a_killed_process_has_left_is_removed_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(new_files, "_open_unnamed", lambda _: None)
    old, new = (new_files.draft_path(tmp_path) for _ in range(2))
    for draft, age in ((old, 2 * 86400), (new, 0)):
        draft.write_bytes(b"secret")
        os.utime(draft, (draft.stat().st_mtime - age,) * 2)
    replace_file(tmp_path / "backup", b"new")
    assert {path.name for path in tmp_path.iterdir()} == {new.name, "backup"}


def test_without_hard_links_no_other_file_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(new_files, "_open_unnamed", lambda _: None)
    monkeypatch.setattr(Path, "hardlink_to", no_links)
    with new_file(tmp_path / "backup", overwrite=False) as file:
        file.write(b"one")
    with pytest.raises(FileExistsError), new_file(tmp_path / "backup", overwrite=False) as file:
        file.write(b"two")
    assert (tmp_path / "backup").read_bytes() == b"one"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    replace_file(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=replace_file, args=(pipe, b"new"))
    writer.start()
    assert pipe.read_bytes() == b"new"
    writer.join()
    assert pipe.is_fifo()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can make files of others")
@pytest.mark.parametrize("is_pipe", [True, False])
def test_secrets_do_not_go_to_a_pipe_or_a_link_of_another_user(tmp_path: Path, is_pipe: bool) -> None:
    folder, own = tmp_path / "tmp", tmp_path / "own"
    folder.mkdir()
    folder.chmod(0o1777)
    own.write_bytes(b"old")
    path = folder / "cookies.json"
    os.mkfifo(path) if is_pipe else path.symlink_to(own)
    os.chown(path, 65534, 65534, follow_symlinks=False)
    with pytest.raises(PermissionError, match="of another user"):
        replace_file(path, b"new")  # and does not wait for a reader
    assert own.read_bytes() == b"old"
    if not is_pipe:
        folder.chmod(0o755)  # the kernel follows links there too
        replace_file(path, b"new")
        assert own.read_bytes() == b"new"
