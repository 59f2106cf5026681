"""The scripts beside this file in an extension of Hatbox, with pages in Chromium: the same as in a real Firefox."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

import hatbox
from tests.conformance.content_scripts.record import CASES, FILES, Case, recorded
from tests.conformance.content_scripts.site import FrameSite
from tests.engines.chromium.conftest import browser as browser  # noqa: PLC0414 - a fixture
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno

pytestmark = needs_deno

FIREFOX = recorded()["answers"]
LOOPBACK = "http://127.0.0.1/*"  # tests/firefox.py gives it to every extension


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_content_scripts_are_as_in_firefox(case: Case, tmp_path: Path, browser: str) -> None:
    found = {name: [how, value] for name, how, value in asyncio.run(_run(case, tmp_path, browser))}
    expected = {name: [how, value] for name, how, value in FIREFOX[case.name]}
    assert list(found) == list(expected)
    different = {name: (found[name], expected[name]) for name in expected if found[name] != expected[name]}
    lines = (
        f"{name}\n  hatbox:  {json.dumps(ours)}\n  firefox: {json.dumps(theirs)}"
        for name, (ours, theirs) in different.items()
    )
    assert not different, "\n".join(lines)


async def _run(case: Case, folder: Path, browser: str) -> list[list[Any]]:
    with FrameSite() as site:
        keys = case.keys()
        hosts = [LOOPBACK, *keys.pop("host_permissions", ())]
        permissions = [*case.permissions, *(hosts if case.version == 2 else ())]
        made = make(
            folder,
            f"globalThis.answers = (async () => {{\n{case.body(site)}\n}})();",
            name="probe",
            manifest_version=case.version,
            permissions=permissions,
            **({"host_permissions": hosts} if case.version > 2 else {}),
            **keys,
            files=FILES,
        )
        async with asyncio.timeout(280), hatbox.open(folder / "profile.db") as profile:
            async with profile.chromium(headless=True, browser=browser):
                extension = await profile.extensions.start(made, idle_seconds=600)
                log: list[list[Any]] = await extension.evaluate("answers", timeout=240)
                return log
