"""A process is ended if it does not respond, and not if the host is slow."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from hatbox.extensions.runtime import Exit
from hatbox.extensions.runtime.watchdog import Watchdog
from tests.store.in_loop import in_loop


class SilentConnection:
    """Scripts that never respond."""

    def __init__(self) -> None:
        self.running = self.reading = True
        self.pings = 0
        self.ended: asyncio.Future[Exit] = asyncio.get_running_loop().create_future()

    def send(self, _: bytes) -> None:
        self.pings += 1

    def end(self, reason: Exit) -> None:
        self.running = False
        self.ended.set_result(reason)


class SentMessages:
    """What the scripts have sent: `is_host_behind` and `received_frames` at each check."""

    def __init__(self, behind: Sequence[bool], frames: Sequence[int]) -> None:
        self._behind, self._frames = iter(behind), iter(frames)

    @property
    def received_frames(self) -> int:
        return next(self._frames)

    @property
    def is_host_behind(self) -> bool:
        return next(self._behind)


@in_loop
async def test_scripts_whose_response_waits_for_the_host_are_not_ended() -> None:
    connection = SilentConnection()
    sent = SentMessages([False, True, True, True, True, False], [0] * 6)
    Watchdog(connection, 0.001, sent).start()  # type: ignore[arg-type]
    assert (await connection.ended).reason == "unresponsive"
    assert connection.pings == 1
    with pytest.raises(StopIteration):
        _ = sent.is_host_behind  # all six were checked


@in_loop
async def test_scripts_whose_response_waits_behind_their_messages_are_not_ended() -> None:
    connection = SilentConnection()
    sent = SentMessages([False] * 6, [0, 10, 20, 30, 30])
    Watchdog(connection, 0.001, sent).start()  # type: ignore[arg-type]
    assert (await connection.ended).reason == "unresponsive"
    assert connection.pings == 4
