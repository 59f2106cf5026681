"""The cache of packages: what is in it is never trusted, and never needed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from hatbox.extensions.package.package_cache import PackageCache, default_folder
from hatbox.extensions.package.stored_package import digest_of

DATA = b"the files of an extension"
DIGEST = digest_of(DATA)


def test_what_was_put_comes_back_and_is_for_the_user_alone(tmp_path: Path) -> None:
    cache = PackageCache(tmp_path / "a" / "cache")
    assert cache.get(DIGEST) is None
    cache.put(DIGEST, DATA)
    cache.put(DIGEST, DATA)
    assert cache.get(DIGEST) == DATA
    (file,) = cache.folder.iterdir()
    assert stat.S_IMODE(cache.folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    cache.remove(DIGEST)
    cache.remove(DIGEST)
    assert list(cache.folder.iterdir()) == []


def test_what_was_changed_is_not_returned(tmp_path: Path) -> None:
    cache = PackageCache(tmp_path)
    for changed in (DATA + b" ", DATA[:-1], b"", b"X" + DATA[1:]):
        (tmp_path / DIGEST).write_bytes(changed)
        assert cache.get(DIGEST) is None
        cache.put(DIGEST, DATA)
        assert cache.get(DIGEST) == DATA


def test_what_is_no_file_is_not_returned_and_never_waited_for(tmp_path: Path) -> None:
    cache = PackageCache(tmp_path)
    os.mkfifo(tmp_path / DIGEST)
    assert cache.get(DIGEST) is None
    cache.put(DIGEST, DATA)
    assert cache.get(DIGEST) == DATA
    cache.remove(DIGEST)
    (tmp_path / DIGEST).mkdir()
    assert cache.get(DIGEST) is None
    cache.put(DIGEST, DATA)  # cannot be, and is no error
    cache.remove(DIGEST)
    assert [each.name for each in tmp_path.iterdir()] == [DIGEST]


def test_a_folder_that_others_may_write_is_closed_to_them(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    PackageCache(tmp_path).put(DIGEST, DATA)
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o700


def test_a_cache_that_cannot_be_written_is_none(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = PackageCache(tmp_path / "file" / "cache")
    cache.put(DIGEST, DATA)
    assert cache.get(DIGEST) is None
    cache.remove(DIGEST)


def test_its_folder_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HATBOX_CACHE", "/somewhere")
    assert default_folder() == Path("/somewhere/packages")
    monkeypatch.delenv("HATBOX_CACHE")
    assert default_folder().parts[-2:] == ("hatbox", "packages")
