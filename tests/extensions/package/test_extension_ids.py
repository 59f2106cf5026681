from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from hatbox.extensions.package.extension_ids import extension_uuid, is_extension_id, temporary_id


@pytest.mark.parametrize(
    "text", ["", "hats", "a b@c", "é@x", "@", "a@", "{1234}", "a@b\n", "12345678-1234-1234-1234-123456789abc"]
)
def test_what_is_no_id(text: str) -> None:
    assert not is_extension_id(text)


@pytest.mark.parametrize("text", ["a@b", "@b", "A-b._1@C.d", "{12345678-1234-1234-1234-123456789abC}"])
def test_what_is_an_id(text: str) -> None:
    assert is_extension_id(text)


def test_what_has_no_id_has_always_the_same_in_the_same_place(tmp_path: Path) -> None:
    made = temporary_id(tmp_path)
    assert is_extension_id(made)
    assert made.endswith("@temporary-addon")
    assert made == temporary_id(tmp_path / "x" / "..") != temporary_id(tmp_path / "x")


def test_urls_stay_the_same_for_the_same_id_in_a_profile_and_nobody_else_can_compute_them() -> None:
    made = extension_uuid("a@b", "secret")
    assert made == extension_uuid("a@b", "secret") == str(UUID(made))
    assert len({made, extension_uuid("a@c", "secret"), extension_uuid("a@b", "other"), extension_uuid("a@b")}) == 4
