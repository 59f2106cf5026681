"""The endpoints that `hatbox status` lists: those of running engines, in any process."""

from __future__ import annotations

from pathlib import Path

import msgspec

import hatbox
from hatbox.engines.endpoint_records import ConnectedProgram, OpenEndpoint, PublishedEndpoint, open_endpoints
from hatbox.engines.running_engines import RunningEngine, put_record
from hatbox.store.processes import current_process
from tests.store.in_loop import in_loop
from tests.waiting import until_awaited

WORK = "firefox-container-2"


@in_loop
async def test_an_endpoint_is_listed_while_its_engine_runs(path: Path) -> None:
    async with hatbox.open(path) as profile, hatbox.open(path) as other:
        lease = profile.store.lease("engine")
        await lease.acquire("Chromium")
        record = RunningEngine("Chromium", current_process(), None, 1.0)
        await profile.store.write(lambda transaction: put_record(transaction, record))
        ended = OpenEndpoint(current_process()._replace(pid=2**22 + 1), WORK, 1)  # killed: its record is left

        def add_ended(transaction: hatbox.Transaction) -> None:
            transaction.extensions.put("", "endpoints", "ended", msgspec.json.encode(ended))

        await profile.store.write(add_ended)
        assert await open_endpoints(other.store) == []
        published = PublishedEndpoint(profile.store, WORK, 4711)
        for connected in ((), [("report", "g1"), ("report", "g1"), ("", "")], [("other", "g2")]):
            published.publish(connected)  # only the last one has to be seen

        async def seen() -> bool:
            found = await open_endpoints(other.store)
            return [each.programs for each in found] == [(ConnectedProgram("other", "g2", 1),)]

        await until_awaited(seen)
        assert not await other.store.read(lambda each: each.extensions.get("", "endpoints", "ended"))
        await lease.release()
        assert await open_endpoints(other.store) == []  # its engine has ended
        await published.withdraw()
        assert await other.store.read(lambda each: list(each.extensions.find("endpoints", ""))) == []
