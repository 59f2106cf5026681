"""The end of processes, reported by the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hatbox.store.process_exits import ProcessExits
from hatbox.store.processes import ProcessId, current_process, host_id, start_time
from tests.store.in_loop import in_loop
from tests.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems are polled")


def waiting_process() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)


@pytest.mark.process
@in_loop
async def test_a_killed_process_and_one_that_has_ended_before_are_reported_once() -> None:
    ends: list[None] = []
    exits = ProcessExits(lambda: ends.append(None))
    with waiting_process() as process:
        known = ProcessId(host_id(), process.pid, start_time(process.pid) or "")
        assert exits.watch([known, current_process()])
        assert exits.watch([known, current_process()])  # the same again
        assert not ends
        process.kill()
        await until(lambda: ends)
    assert exits.watch([known])
    await until(lambda: len(ends) == 2)
    exits.stop()
    assert len(ends) == 2


@in_loop
async def test_a_process_of_another_machine_has_to_be_polled() -> None:
    exits = ProcessExits(lambda: None)
    assert not exits.watch([ProcessId("elsewhere/boot/1", 1, "1"), current_process()])
    exits.stop()
