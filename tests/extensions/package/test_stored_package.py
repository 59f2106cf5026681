"""How the files of an installed extension are stored: one block, named by its hash."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.errors import PackageError
from hatbox.extensions.package import stored_package as stored
from hatbox.extensions.package.manifest import read_manifest
from hatbox.extensions.package.package_files import MANIFEST, Package, open_package
from hatbox.extensions.package.stored_package import StoredPackage, digest_of, pack
from tests.extensions.made import make


class Files(Package):
    """A package in memory."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(Path("files"))
        self._files = files

    def read(self, name: str) -> bytes | None:
        return self._files.get(name)

    def exists(self, name: str) -> bool:
        return name in self._files

    def names(self, folder: str = "") -> tuple[str, ...]:
        prefix = f"{folder}/" if folder else ""
        return tuple(sorted(name for name in self._files if name.startswith(prefix)))


def unpacked(data: bytes) -> StoredPackage:
    return StoredPackage(Path("somewhere"), data, digest_of(data), "a@b")


def zipped(folder: Path, to: Path, *, top: str = "", compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(to, "w", compression) as archive:
        for file in sorted(folder.rglob("*"), reverse=True):
            if file.is_file():
                archive.write(file, f"{top}{file.relative_to(folder).as_posix()}")
    return to


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.binary(max_size=50)))
def test_every_file_comes_back_as_it_was(files: dict[str, bytes]) -> None:
    files = {name: data for name, data in files.items() if not {".git", ".hg", ".svn"} & set(name.split("/"))}
    package = unpacked(pack(Files(files)))
    assert package.names() == tuple(sorted(files))
    assert {name: package.read(name) for name in package.names()} == files
    assert all(package.exists(name) for name in files)
    assert package.read("not/there") is None
    assert not package.exists("not/there")


def test_a_folder_and_every_archive_of_it_have_the_same_hash(tmp_path: Path) -> None:
    folder = make(tmp_path, "1", files={"_locales/en/messages.json": "{}", "ä/ö.js": "2", "empty": ""})
    digest = digest_of(pack(open_package(folder)))
    os.utime(folder / "background.js", (1e9, 1e9))
    (folder / "empty").chmod(0o600)
    others = [
        zipped(folder, tmp_path / "a.xpi"),
        zipped(folder, tmp_path / "b.zip", top="top/", compression=zipfile.ZIP_STORED),
        Path(shutil.copytree(folder, tmp_path / "copy")),
    ]
    assert [digest_of(pack(open_package(each))) for each in [folder, *others]] == [digest] * 4
    (folder / "empty").write_text(" ")
    assert digest_of(pack(open_package(folder))) != digest


@given(st.binary(max_size=9), st.binary(max_size=9))
def test_files_cannot_be_shifted_into_one_another(one: bytes, two: bytes) -> None:
    assert pack(Files({"a": one + two, "b": b""})) != pack(Files({"a": one, "b": two})) or two == b""
    assert pack(Files({"ab": one})) != pack(Files({"a": one}))


def test_what_is_stored_is_an_extension_with_its_texts(tmp_path: Path) -> None:
    messages = '{"name": {"message": "Hüte"}}'
    made = make(tmp_path, files={"_locales/de/messages.json": messages})
    manifest = (made / MANIFEST).read_text("utf-8").replace('"name": "made"', '"name": "__MSG_name__"')
    (made / MANIFEST).write_text(manifest.replace("{", '{"default_locale": "de", ', 1), "utf-8")
    assert read_manifest(unpacked(pack(open_package(made)))).name == "Hüte"


def test_folders_of_version_control_are_not_stored(tmp_path: Path) -> None:
    folder = make(tmp_path, files={".git/config": "", "sub/.svn/entries": "", ".gitignore": "", "git/x": ""})
    names = unpacked(pack(open_package(folder))).names()
    assert names == (".gitignore", "background.js", "git/x", "manifest.json")


def test_links_are_stored_as_what_they_lead_to_and_never_lead_out(tmp_path: Path) -> None:
    folder = make(tmp_path)
    (tmp_path / "secret").write_text("mine")
    (folder / "inside.js").symlink_to(folder / "background.js")
    (folder / "outside.js").symlink_to(tmp_path / "secret")
    package = unpacked(pack(open_package(folder)))
    assert package.names() == ("background.js", "inside.js", "manifest.json")


def test_a_name_that_no_url_can_spell_is_left_out() -> None:
    assert unpacked(pack(Files({"a": b"", "\udcff": b""}))).names() == ("a",)


def test_what_is_too_large_is_refused_with_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "MAX_PACKAGE_BYTES", 2**20)
    folder = make(tmp_path, files={"one": "x" * 600_000, "two": "x" * 600_000})
    with pytest.raises(
        PackageError, match=r"its files are larger than 1 MiB together\. Remove files that are not needed"
    ):
        pack(open_package(folder))
    many = Files({f"{index:06}" * 10: b"" for index in range(20_000)})
    with pytest.raises(PackageError, match="larger than 1 MiB"):
        pack(many)
