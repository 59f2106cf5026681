from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from hatbox.errors import NotAProfile
from hatbox.maintenance import check_profile, repair_profile
from tests.store.in_loop import in_loop


@in_loop
async def test_a_sound_profile_can_be_checked_and_copied(tmp_path: Path) -> None:
    path = tmp_path / "profile.db"
    async with hatbox.open(path):
        pass
    assert check_profile(path).is_sound
    repaired = repair_profile(path, tmp_path / "new.db")
    assert repaired.saved["identities"] == 4
    assert check_profile(tmp_path / "new.db").is_sound


def test_a_file_that_is_no_profile_is_refused_or_reported(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader, " * 100)
    with pytest.raises(NotAProfile):
        check_profile(path)
    report = check_profile(path, any_file=True)
    assert (report.is_sound, [place for place, _ in report.problems]) == (False, ["header"])
