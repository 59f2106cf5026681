from __future__ import annotations

import io
import os
import stat
import struct
import tempfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.errors import PackageError
from hatbox.extensions.package import package_files as module
from hatbox.extensions.package.manifest import read_manifest
from hatbox.extensions.package.package_files import Package, open_package

FILES = {"manifest.json": b"{}", "js/background.js": b"1", "js/Lib.js": b"2", "empty": b""}


def make_folder(path: Path, files: dict[str, bytes] = FILES) -> Path:
    for name, contents in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(contents)
    return path


def make_zip(path: Path, files: dict[str, bytes] = FILES, prefix: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, contents in files.items():
            archive.writestr(prefix + name, contents)
    return path


def make_entry(path: Path, name: str, **attributes: int) -> Path:
    """An archive with a manifest and one entry more."""
    entry = zipfile.ZipInfo(name)
    for key, value in attributes.items():
        setattr(entry, key, value)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", "{}")
        archive.writestr(entry, "x")
    return path


@pytest.fixture(params=["folder", "xpi", "zip with one folder"])
def package(request: pytest.FixtureRequest, tmp_path: Path) -> Package:
    if request.param == "folder":
        return open_package(make_folder(tmp_path / "extension"))
    if request.param == "xpi":
        return open_package(make_zip(tmp_path / "extension.xpi"))
    return open_package(make_zip(tmp_path / "extension-1.0.zip", prefix="extension-1.0/"))


def test_what_is_not_there_is_said_to_be_not_there(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match="no such folder or file"):
        open_package(tmp_path / "nothing")


def test_a_folder_without_a_manifest_is_no_extension(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match=r"it is not an extension: it has no manifest\.json"):
        open_package(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_no_extension_and_no_file_of_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PackageError, match="neither a folder nor a file"):
        open_package(tmp_path / "pipe")
    package = open_package(make_folder(tmp_path))
    assert package.read("pipe") is None
    assert not package.exists("pipe")


@pytest.mark.parametrize("contents", [b"", b"no zip", b"PK\x05\x06" + bytes(10), b"PK\x03\x04" + bytes(100)])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, contents: bytes) -> None:
    (tmp_path / "a.xpi").write_bytes(contents)
    with pytest.raises(PackageError, match=r"not a zip archive, or it is damaged\. Download or pack it again\."):
        open_package(tmp_path / "a.xpi")


def test_an_archive_without_a_manifest_is_no_extension(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match="it is not an extension"):
        open_package(make_zip(tmp_path / "a.zip", {"a/x": b"", "b/manifest.json": b""}))


@pytest.mark.parametrize("name", ["../x", "a/../../x", "/x", "a//x", "./x", "a\\..\\x", "C:\\x", "a/./x"])
def test_an_archive_with_an_unsafe_name_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(PackageError, match="not a valid file name"):
        open_package(make_entry(tmp_path / "a.zip", name))


def test_an_archive_with_links_encrypted_or_strangely_packed_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackageError, match="symbolic link"):
        open_package(make_entry(tmp_path / "a.zip", "x", external_attr=(stat.S_IFLNK | 0o777) << 16))
    with pytest.raises(PackageError, match="unsupported compression method"):
        open_package(make_entry(tmp_path / "b.zip", "x", compress_type=zipfile.ZIP_BZIP2))
    path = make_entry(tmp_path / "c.zip", "x")
    contents = bytearray(path.read_bytes())
    contents[contents.rindex(b"PK\x01\x02") + 8] |= 1  # the bit of the second entry that says: encrypted
    path.write_bytes(contents)
    with pytest.raises(PackageError, match="encrypted"):
        open_package(path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_that_holds_a_file_twice_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("manifest.json", "{}")
        archive.writestr("manifest.json", '{"name": "other"}')
    with pytest.raises(PackageError, match=r'it has "manifest\.json" 2 times'):
        open_package(tmp_path / "a.zip")


def test_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FILES", 2)
    with pytest.raises(PackageError, match="more than 2 files"):
        open_package(make_zip(tmp_path / "a.zip"))
    with pytest.raises(PackageError, match="more than 2 files"):
        open_package(make_folder(tmp_path / "a")).names()
    monkeypatch.setattr(module, "MAX_ARCHIVE_BYTES", 100)
    with pytest.raises(PackageError, match="it is larger than"):
        open_package(make_zip(tmp_path / "b.zip"))


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FILE_BYTES", 1000)
    files = {"manifest.json": b"{}", "bomb": bytes(2000)}
    for path in make_zip(tmp_path / "a.zip", files), make_folder(tmp_path / "a", files):
        with pytest.raises(PackageError, match='"bomb" is larger than'):
            open_package(path).read("bomb")


def test_a_file_that_lies_about_its_size_is_damaged(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"manifest.json": b"{}", "bomb": bytes(100_000)})
    contents = path.read_bytes()
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = contents.rindex(signature) + offset
        contents = contents[:at] + struct.pack("<I", 10) + contents[at + 4 :]
    path.write_bytes(contents)
    with pytest.raises(PackageError, match='"bomb" in it is damaged'):
        open_package(path).read("bomb")


def test_a_link_that_leads_out_is_refused_and_one_inside_is_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    folder = make_folder(tmp_path / "extension")
    (folder / "out").symlink_to("../secret")
    (folder / "up").symlink_to("..", target_is_directory=True)
    (folder / "in").symlink_to("js/Lib.js")
    (folder / "loop").symlink_to("loop")
    (folder / "js" / "again").symlink_to("..", target_is_directory=True)
    package = open_package(folder)
    for name in ("out", "up/secret"):
        with pytest.raises(PackageError, match="is a link that leads out of the extension"):
            package.read(name)
    assert package.read("in") == b"2"
    assert package.read("js/again/in") == b"2"
    assert package.read("loop") is None
    assert package.names() == ("empty", "in", "js/Lib.js", "js/background.js", "manifest.json")


@pytest.mark.parametrize(
    "name", ["js/lib.js", "JS/Lib.js", "js", "", ".", "../extension/empty", "/empty", "js//Lib.js", "\0"]
)
def test_only_the_exact_name_of_a_file_finds_it(package: Package, name: str) -> None:
    assert package.read(name) is None
    assert not package.exists(name)


def test_case_counts_also_where_the_file_system_ignores_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = open_package(make_folder(tmp_path))
    monkeypatch.setattr(type(package), "_inside", lambda *_: tmp_path / "js" / "Lib.js")  # finds it under any name
    assert package.read("js/Lib.js") == b"2"
    assert package.read("js/lib.js") is package.read("JS/Lib.js") is None


def test_files_are_read(package: Package) -> None:
    assert package.names() == tuple(sorted(FILES))
    assert package.names("js") == ("js/Lib.js", "js/background.js")
    assert package.names("nothing") == package.names("../js") == ()
    for name, contents in FILES.items():
        assert package.exists(name)
        assert package.read(name) == contents


def test_an_archive_is_read_as_it_was_when_it_was_opened(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.xpi")
    package = open_package(path)
    path.unlink()
    assert package.read("js/background.js") == b"1"


def test_what_a_mac_adds_to_archives_does_not_matter(tmp_path: Path) -> None:
    files = {"x/manifest.json": b"{}", "__MACOSX/x/._manifest.json": b""}
    assert open_package(make_zip(tmp_path / "a.zip", files)).names() == ("manifest.json",)


@given(st.binary(max_size=300), st.integers(0, 400))
def test_damage_is_noticed_and_nothing_else_happens(noise: bytes, at: int) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name, contents in FILES.items():
            file.writestr(name, contents)
    damaged = archive.getvalue()[:at] + noise + archive.getvalue()[at + len(noise) :]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.zip"
        path.write_bytes(damaged)
        try:
            package = open_package(path)
            for name in package.names():
                package.read(name)
        except PackageError as error:
            assert str(path) in str(error)


@pytest.mark.slow
def test_a_large_manifest_is_refused_before_it_is_inflated(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.xpi", {"manifest.json": b" " * (60 << 20)})
    package = open_package(path)
    tracemalloc.start()
    try:
        with pytest.raises(PackageError, match=r'"manifest\.json" is larger than 2 MiB'):
            read_manifest(package)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_no_more_is_inflated_than_an_archive_claims(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.xpi", {"manifest.json": b"{}", "bomb": bytes(60 << 20)})
    path.write_bytes(path.read_bytes().replace(struct.pack("<I", 60 << 20), struct.pack("<I", 100)))
    package = open_package(path)
    tracemalloc.start()
    try:
        with pytest.raises(PackageError, match='"bomb" in it is damaged'):
            package.read("bomb")
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()
