"""Pages with too many requests for files of extensions, without a browser."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from hatbox.engines.chromium import resource_floods
from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.chromium.resource_floods import ResourceFloods


class Frames:
    def __init__(self) -> None:
        self.sent: list[tuple[str, str, Any]] = []

    def target_of(self, frame_id: str) -> str | None:
        return {"F1": "hostile", "F2": "hostile", "F3": "calm"}.get(frame_id)

    async def send(self, target_id: str, method: str, **params: Any) -> dict[str, Any]:
        self.sent.append((target_id, method, params["value"]))
        return {}


def test_the_scripts_of_a_page_with_too_many_requests_are_stopped_and_others_load(monkeypatch: Any) -> None:
    async def main() -> None:
        frames = Frames()
        floods = ResourceFloods(cast("FrameTree", frames))
        clock = iter(range(10**6))
        monkeypatch.setattr("hatbox.engines.chromium.resource_floods.time.monotonic", lambda: 100 + next(clock) / 1e6)
        ignored = [floods.includes(("F1", "F2")[number % 2]) for number in range(2000)]
        assert ignored == [False] * 500 + [True] * 1500
        assert not floods.includes("F3")
        await asyncio.sleep(0)
        assert frames.sent == [("hostile", "Emulation.setScriptExecutionDisabled", True)]
        floods.cancel()

    asyncio.run(main())


def test_a_page_may_load_many_files_one_second_after_the_other(monkeypatch: Any) -> None:
    async def main() -> None:
        floods = ResourceFloods(cast("FrameTree", Frames()))
        clock = iter(range(10**6))
        monkeypatch.setattr("hatbox.engines.chromium.resource_floods.time.monotonic", lambda: 100 + next(clock) / 400)
        assert not any(floods.includes("F1") for _ in range(3000))

    asyncio.run(main())


def test_scripts_run_again_after_a_while(monkeypatch: Any) -> None:
    async def main() -> None:
        frames = Frames()
        floods = ResourceFloods(cast("FrameTree", frames))
        monkeypatch.setattr(resource_floods, "_PAUSE", 0)
        monkeypatch.setattr(resource_floods, "_MAX_REQUESTS", 1)
        assert [floods.includes("F1"), floods.includes("F1")] == [False, True]
        await asyncio.gather(*floods._stopped.values())
        assert [value for *_, value in frames.sent] == [True, False]

    asyncio.run(main())
