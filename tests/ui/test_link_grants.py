"""Links that another process of the user has created for a running server."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from hatbox.ui.access_keys import AccessKeys, hash_of
from hatbox.ui.link_grants import LinkGrants


def test_a_link_of_another_process_works_once_and_only_as_long_as_others(tmp_path: Path) -> None:
    passed = 0.0
    grants = LinkGrants(tmp_path / "link-", clock=lambda: time.time() + passed)
    keys = AccessKeys(take_grant=grants.take)
    for token in ("first", "second"):
        grants.create(hash_of(token))
    assert all(each.stat().st_mode & 0o777 == 0o600 for each in tmp_path.iterdir())
    cookie = keys.redeem("first")
    assert cookie is not None and keys.accepts(cookie)
    assert keys.redeem("first") is None and keys.redeem("third") is None
    assert grants.pending
    passed = 601.0
    assert not grants.pending
    assert keys.redeem("second") is None
    assert not [*tmp_path.iterdir()]


def test_a_file_that_is_not_of_this_user_gives_nobody_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    grants = LinkGrants(tmp_path / "link-")
    own = tmp_path / "own"
    own.touch()
    (tmp_path / f"link-{hash_of('symbolic')}").symlink_to(own)
    (tmp_path / f"link-{hash_of('hard')}").hardlink_to(own)
    grants.create(hash_of("other"))
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)  # as if that file were of another user
    assert not grants.take(hash_of("other"))
    monkeypatch.undo()
    assert not grants.pending
    assert not grants.take(hash_of("symbolic")) and not grants.take(hash_of("hard"))


def test_the_number_of_unused_links_is_bounded(tmp_path: Path) -> None:
    grants = LinkGrants(tmp_path / "link-")
    for number in range(100):
        grants.create(hash_of(str(number)))
    assert len([*tmp_path.iterdir()]) == 64
    assert grants.take(hash_of("99"))
