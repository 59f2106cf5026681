from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from hatbox.formats.atomic_write import replace_file


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
