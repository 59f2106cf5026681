"""browser.downloads, compared with what an extension sees in a real Firefox."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import hatbox
from tests.downloads.recording import PERMISSIONS, probe, recorded
from tests.downloads.test_downloads import file_site
from tests.extensions.made import make
from tests.extensions.runtime.lab import needs_deno
from tests.marks import starts

pytestmark = needs_deno

FIREFOX = recorded()

# Firefox counts the bytes of error pages, and lists a file that was removed with removeFile() as existing.
DIFFERENT: dict[str, Any] = {
    'search {"totalBytesLess":6}': ["resolved", [1, 2]],
    'search {"exists":true}': ["resolved", [2]],
}


@pytest.fixture(scope="module")
@starts("deno")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("downloads")

    async def main(site: str) -> dict[str, Any]:
        async with asyncio.timeout(100), hatbox.open(folder / "profile.db") as profile:
            profile.downloads.folder = folder / "saved"
            background = f"var answers = (async () => {{\n{probe(site)}\n}})();"
            extension = await profile.extensions.start(make(folder, background, permissions=[*PERMISSIONS]))
            return dict(await extension.evaluate("answers"))

    with file_site() as site:
        return asyncio.run(main(site.origin))


@pytest.mark.parametrize("name", FIREFOX)
def test_it_is_as_in_firefox(answers: dict[str, Any], name: str) -> None:
    assert answers[name] == DIFFERENT.get(name, FIREFOX[name])


def test_all_cases_are_recorded(answers: dict[str, Any]) -> None:
    assert list(answers) == list(FIREFOX)
    assert all(FIREFOX[name] != answer for name, answer in DIFFERENT.items())
