"""A restore while engines run, without a browser. tests/engines/chromium/test_restored_backup.py has one."""

from __future__ import annotations

from pathlib import Path

import pytest

import hatbox
from hatbox.archive.identity_restore import RestoredIdentity
from hatbox.archive.restore_report import RestoreReport
from hatbox.engines import restoring
from hatbox.engines.http.registration import DISPLAY_NAME as HTTP_ENGINE
from hatbox.engines.running_engines import RunningEngine
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.store.base import Store
from tests.store.in_loop import in_loop


def planned(sites: int) -> RestoreReport:
    default = RestoredIdentity(name="", uuid="", cookie_store_id=DEFAULT_COOKIE_STORE_ID, archived_id="")
    default.sites_changed = sites
    return RestoreReport(default_store=default)


@pytest.mark.parametrize(
    ("engine", "sites", "is_refused"), [("Chromium", 1, True), ("Chromium", 0, False), (HTTP_ENGINE, 1, False)]
)
@in_loop
async def test_site_data_of_the_default_store_is_not_restored_below_a_running_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: str, sites: int, is_refused: bool
) -> None:
    async def running(_: Store) -> list[RunningEngine]:
        return [RunningEngine(engine, None, None, None)]

    monkeypatch.setattr(restoring, "running_engines", running)
    async with hatbox.open(tmp_path / "profile.db") as profile:
        pages = restoring.closed_pages(profile.store, profile.tabs, profile.identities, planned(sites))
        if is_refused:
            with pytest.raises(hatbox.ProfileError, match="Close the browser"):
                await pages.__aenter__()
        else:
            async with pages:
                pass
