"""Which store an address means (store/registry.py)."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

import hatbox
from hatbox.store import registry
from hatbox.store.base import Store
from hatbox.store.registry import STORES, check_at, repair_at, store_at
from hatbox.store.sqlite import SqliteStore


def test_every_package_beside_the_registry_is_a_store() -> None:
    assert "sqlite" in STORES


@pytest.mark.parametrize("name", ["profile.db", "a:b.db", "C:\\profile.db", "postgresql:/one-slash"])
def test_a_plain_path_is_a_sqlite_file(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = store_at(name)
    assert isinstance(store, SqliteStore)
    assert (store.address, store.label) == (str(tmp_path / name), str(tmp_path / name))


def test_a_path_object_is_a_path_whatever_it_contains(tmp_path: Path) -> None:
    assert isinstance(store_at(tmp_path / "x://y"), SqliteStore)


def test_an_unknown_scheme_is_an_error_that_names_the_scheme_and_not_the_password() -> None:
    with pytest.raises(hatbox.ProfileError, match="nosuch://…: no store for this scheme") as caught:
        hatbox.open("nosuch://user:secret@host/db")
    assert "secret" not in str(caught.value)
    assert caught.value.label == "nosuch://…"


def test_a_new_store_needs_nothing_but_its_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen: list[str] = []

    def other_store_at(address: str) -> Store:
        seen.append(address)
        return SqliteStore(tmp_path / "profile.db")

    package = ModuleType("hatbox.store.other")
    package.SCHEMES = ("other",)  # type: ignore[attr-defined]
    package.store_at = other_store_at  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setattr(registry, "STORES", (*STORES, "other"))
    hatbox.open("other://user:secret@host//db?x=1")
    monkeypatch.setenv("HATBOX_PROFILE", "OTHER://host/db")
    hatbox.open()
    assert seen == ["other://user:secret@host//db?x=1", "OTHER://host/db"]
    with pytest.raises(hatbox.ProfileError, match=r"Use a path, or one of: .*other://"):
        store_at("nosuch://host")


def test_a_store_without_a_check_says_so_and_not_its_password(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class OtherStore(SqliteStore):
        @property
        def label(self) -> str:
            return "other://host/db"

    package = ModuleType("hatbox.store.other")
    package.SCHEMES = ("other",)  # type: ignore[attr-defined]
    package.store_at = lambda _: OtherStore(tmp_path / "profile.db")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setattr(registry, "STORES", (*STORES, "other"))
    address = "other://user:secret@host/db"
    with pytest.raises(hatbox.ProfileError, match=r"^other://host/db: check is not supported"):
        check_at(address)
    with pytest.raises(hatbox.ProfileError, match=r"^other://host/db: repair is not supported"):
        repair_at(address, tmp_path / "new.db")
    with pytest.raises(hatbox.ProfileError, match=r"^other://host/db: .* another kind of store") as caught:
        repair_at(tmp_path / "profile.db", address)
    assert "secret" not in str(caught.value)
