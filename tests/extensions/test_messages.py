"""Two extensions that send each other messages, compared with what they see in a real Firefox."""

from __future__ import annotations

import asyncio
import platform
from typing import Any

import pytest

import hatbox
from tests.extensions.made import make
from tests.extensions.messages import PERMISSIONS, PROBE, make_peer, recorded
from tests.extensions.runtime.lab import needs_deno
from tests.marks import starts

pytestmark = needs_deno

FIREFOX = recorded()

# What docs/differences.md names, under "Patterns without flags".
DIFFERENT: dict[str, list[Any]] = {
    "management.get no id": [
        "threw",
        [
            "Error",
            'Type error for parameter id (Value "no id" must either: match the pattern '
            r"/^\{[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\}$/, "
            r"or match the pattern /^[a-zA-Z0-9-._]*@[a-zA-Z0-9-._]+$/) for management.get.",
        ],
    ],
    # The recording is of another machine.
    "getPlatformInfo": [
        "resolved",
        {"os": "linux", "arch": {"x86_64": "x86-64"}.get(platform.machine(), platform.machine())},
    ],
}


@pytest.fixture(scope="module")
@starts("deno")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    folder = tmp_path_factory.mktemp("messages")

    async def main() -> list[Any]:
        async with asyncio.timeout(60), hatbox.open(folder / "profile.db") as profile:
            await profile.tabs.open("firefox-default")
            await profile.extensions.start(make_peer(folder))
            background = f"var answers = (async () => {{\n{PROBE}\n}})();"
            # As tests/firefox.py makes it.
            made = make(folder, background, name="probe", permissions=[*PERMISSIONS, "http://127.0.0.1/*"])
            probe = await profile.extensions.start(made)
            log: list[Any] = await probe.evaluate("answers")
            return log

    return {name: [how, value] for name, how, value in asyncio.run(main())}


@pytest.mark.parametrize("name", FIREFOX)
def test_it_is_as_in_firefox(answers: dict[str, list[Any]], name: str) -> None:
    assert answers[name] == DIFFERENT.get(name, FIREFOX[name])


def test_all_cases_are_recorded(answers: dict[str, list[Any]]) -> None:
    assert list(answers) == list(FIREFOX)
    assert DIFFERENT.keys() <= FIREFOX.keys()
