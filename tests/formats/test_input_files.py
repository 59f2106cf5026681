from __future__ import annotations

import io
import os
import threading
from pathlib import Path

import pytest

from hatbox.errors import InvalidInputFile
from hatbox.formats import input_files
from hatbox.formats.firefox_profile import read_folder
from hatbox.formats.input_files import read_input_file, read_stream

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX files")


def test_a_named_pipe_a_device_and_a_folder_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name, problem in (("pipe", "a named pipe"), ("device", "a device or socket"), (".", "a folder")):
        with pytest.raises(InvalidInputFile, match=f"{problem}, not a file"):
            read_input_file(tmp_path / name)
    for missing in ("none", "loop"):
        (tmp_path / "loop").unlink(missing_ok=True)
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        with pytest.raises(OSError, match=missing):
            read_input_file(tmp_path / missing)


def test_a_link_to_a_file_is_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert read_input_file(tmp_path / "link") == b"content"


def test_an_endless_stream_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "MAX_INPUT_BYTES", 2**20)
    with Path("/dev/zero").open("rb") as endless, pytest.raises(InvalidInputFile, match="larger than 1 MB"):
        read_stream(endless, "standard input")
    assert len(read_stream(io.BytesIO(bytes(2**20)), "x")) == 2**20
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(InvalidInputFile, match="larger than 1 MB"):
        read_input_file(tmp_path / "sparse")


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd here")
def test_what_a_shell_passes_for_a_command_is_read() -> None:
    read, write = os.pipe()

    def run_command() -> None:
        with os.fdopen(write, "wb") as end:
            end.write(b"from a command")

    writer = threading.Thread(target=run_command)
    writer.start()
    try:
        assert read_input_file(f"/dev/fd/{read}") == b"from a command"
    finally:
        writer.join()
        os.close(read)


def test_a_pipe_in_the_place_of_a_file_of_firefox_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cookies.sqlite").touch()
    os.mkfifo(tmp_path / "containers.json")
    with pytest.raises(InvalidInputFile, match="a named pipe"):
        read_folder(tmp_path)
