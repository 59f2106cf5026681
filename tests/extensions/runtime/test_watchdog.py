"""A process is ended if it does not respond, and not if the host is slow."""

from __future__ import annotations

import asyncio

from hatbox.extensions.runtime import Exit
from hatbox.extensions.runtime.bridge import Watchdog
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


@in_loop
async def test_scripts_whose_response_waits_for_the_host_are_not_ended() -> None:
    connection = SilentConnection()
    checks = 0

    def is_host_behind() -> bool:
        nonlocal checks
        checks += 1
        return 1 < checks < 6

    watchdog = Watchdog(connection, 0.001, is_host_behind)  # type: ignore[arg-type]
    watchdog.start()
    assert (await connection.ended).reason == "unresponsive"
    assert checks == 6
    assert connection.pings == 1
