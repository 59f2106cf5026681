"""Pages with too many requests for files of extensions, without a browser."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from hatbox.engines.chromium import resource_floods
from hatbox.engines.chromium.frame_path import Target
from hatbox.engines.chromium.frame_tree import FrameTree
from hatbox.engines.chromium.resource_floods import ResourceFloods
from hatbox.engines.chromium.sessions import Session

SCRIPTS = "Emulation.setScriptExecutionDisabled"


def shared_worker(name: str, url: str) -> Target:
    return Target(name, "shared_worker", url, "context", None, None)


class Frames:
    def __init__(self) -> None:
        self.sent: list[tuple[Any, ...]] = []
        self.targets = {
            "hostile": Target("hostile", "page", "https://a.test/", "context", None, None),
            "calm": Target("calm", "iframe", "https://b.test/", "context", None, None),
            "worker": Target("worker", "worker", "https://a.test/", "context", None, "F1"),
            **{
                f"inner{number}": Target(f"inner{number}", "iframe", "https://d.test/", "context", None, "F1")
                for number in range(9)
            },
            "shared1": shared_worker("shared1", "https://c.test/1"),
            "shared2": shared_worker("shared2", "https://c.test/2"),
        }

    def target(self, target_id: str) -> Target | None:
        return self.targets.get(target_id)

    def target_of(self, frame_id: str) -> str | None:
        known = {"F1": "hostile", "F2": "hostile", "worker": "hostile", "F3": "calm"}
        return frame_id if frame_id.startswith("inner") else known.get(frame_id)

    def page_of(self, frame_id: str) -> str | None:
        return "hostile" if frame_id.startswith("inner") else self.target_of(frame_id)

    def workers_of(self, target_id: str) -> list[str]:
        return ["worker"] if target_id == "hostile" else []

    async def send(self, target_id: str, method: str, **params: Any) -> dict[str, Any]:
        self.sent.append((target_id, method, *params.values()))
        return {}


class FakeSession:
    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []

    async def send(self, method: str, params: dict[str, str], _: float | None = None) -> None:
        self.sent.append((method, params.get("requestId") or params["targetId"]))


class Lab:
    def __init__(self) -> None:
        self.frames, self.session = Frames(), FakeSession()
        self.floods = ResourceFloods(cast("FrameTree", self.frames), cast("Session", self.session))
        self._count = 0

    def request(self, frame_id: str) -> bool:
        """Whether a request that is refused is ignored."""
        self._count += 1
        is_ignored = self.floods.includes({"frameId": frame_id, "requestId": str(self._count)})
        if not is_ignored:
            self.floods.count_refusal(frame_id)
        return is_ignored


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource_floods, "_SECONDS", 10**6)


def test_the_scripts_of_a_page_and_its_workers_are_stopped_and_others_load() -> None:
    async def main() -> None:
        lab = Lab()
        ignored = [lab.request(("F1", "F2", "worker")[number % 3]) for number in range(2000)]
        assert ignored == [False] * 501 + [True] * 1499
        assert not lab.request("F3")
        for _ in range(10):
            await asyncio.sleep(0)
        assert lab.session.sent == [("Fetch.failRequest", str(number)) for number in range(502, 2001)]
        assert sorted(lab.frames.sent) == [
            ("hostile", SCRIPTS, True),
            ("hostile", "Page.stopLoading"),
            ("worker", "Debugger.enable"),
            ("worker", "Debugger.pause"),
            ("worker", "Runtime.terminateExecution"),
        ]
        lab.floods.cancel()

    asyncio.run(main())


def test_many_frames_of_a_page_are_stopped_together() -> None:
    async def main() -> None:
        lab = Lab()
        ignored = [lab.request(f"inner{number % 9}") for number in range(4000)]
        assert ignored == [False] * 2001 + [True] * 1999
        assert not lab.request("F3")
        for _ in range(10):
            await asyncio.sleep(0)
        assert {each[0] for each in lab.frames.sent} == {f"inner{number}" for number in range(9)}
        lab.floods.cancel()

    asyncio.run(main())


def test_a_frame_that_floods_does_not_stop_the_page_that_contains_it() -> None:
    async def main() -> None:
        lab = Lab()
        assert any(lab.request("inner1") for _ in range(1000))
        assert not lab.request("F1")
        lab.floods.cancel()

    asyncio.run(main())


def test_requests_that_are_allowed_count_less() -> None:
    async def main() -> None:
        lab = Lab()
        ignored = [lab.floods.includes({"frameId": "F1", "requestId": str(number)}) for number in range(3000)]
        assert ignored == [False] * 2000 + [True] * 1000
        lab.floods.cancel()

    asyncio.run(main())


def test_a_page_may_load_many_files_one_second_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        lab = Lab()
        times = iter(range(10**6))
        monkeypatch.setattr(resource_floods, "_SECONDS", 1)
        monkeypatch.setattr("hatbox.engines.chromium.resource_floods.time.monotonic", lambda: 100 + next(times) / 800)
        assert not any(lab.request("F1") for _ in range(3000))

    asyncio.run(main())


def test_scripts_run_again_after_a_while_and_no_request_stays_paused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        lab = Lab()
        monkeypatch.setattr(resource_floods, "_PAUSE", 0)
        monkeypatch.setattr(resource_floods, "_MAX_REFUSED", 1)
        assert [lab.request("F1") for _ in range(4)] == [False, False, True, True]
        await lab.floods._tasks.wait()
        scripts = [each for each in lab.frames.sent if each[1] == SCRIPTS]
        assert scripts == [("hostile", SCRIPTS, True), ("hostile", SCRIPTS, False)]
        assert ("worker", "Debugger.disable") in lab.frames.sent
        assert [request_id for _, request_id in lab.session.sent] == ["3", "4"]
        assert not lab.floods._stopped

    asyncio.run(main())


def test_shared_workers_of_a_site_count_together_and_end() -> None:
    async def main() -> None:
        lab = Lab()
        assert not any(lab.request(("shared1", "shared2")[number % 2]) for number in range(501))
        assert lab.request("shared1")
        assert lab.request("shared2")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        ended = {target_id for method, target_id in lab.session.sent if method == "Target.closeTarget"}
        assert ended == {"shared1", "shared2"}
        lab.floods.cancel()

    asyncio.run(main())


def test_a_page_that_needs_no_scripts_to_go_on_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        lab = Lab()
        monkeypatch.setattr(resource_floods, "_MAX_IGNORED", 10)
        for _ in range(600):
            lab.request("F3")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [each for each in lab.frames.sent if each[1] == "Page.crash"] == [("calm", "Page.crash")]
        lab.floods.cancel()

    asyncio.run(main())
