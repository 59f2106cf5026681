"""A program requests a window for a person in the engine of another process. Without a browser."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest

import hatbox
from hatbox.engines.endpoint_requests import EndpointAnswer, answer_request
from hatbox.engines.person_windows import PERSON_REQUESTED, PersonWindowRequest, RequestedPersonWindow
from hatbox.engines.running_engines import RunningEngine
from hatbox.store.base import ChangeRecord
from tests.engines.fake import FakeEngine, run
from tests.store.in_loop import in_loop

WORK = "firefox-container-2"


class Browser(FakeEngine):
    """An engine without a browser that has the name of one."""

    name: ClassVar[str] = "Chromium"


async def open_window(profile: hatbox.Profile, engine: RunningEngine) -> RequestedPersonWindow:
    return await RequestedPersonWindow.open(profile.store, engine, WORK, "https://site.example/", "Sign in")


@in_loop
async def test_an_engine_of_an_older_version_is_not_asked_for_a_window_that_it_cannot_end(path: Path) -> None:
    async with hatbox.open(path) as profile, run(Browser(), profile, "Work"):
        answers: list[asyncio.Future[None]] = []

        def on_change(change: ChangeRecord) -> None:
            if change.topic == PERSON_REQUESTED:
                answer = EndpointAnswer(msgspec.json.decode(change.payload, type=PersonWindowRequest).id)
                answers.append(profile.store.write(lambda each: answer_request(each, answer)))

        profile.store.subscribe(on_change)
        engine = await profile.running_engine("Work")
        assert engine is not None
        fields = msgspec.to_builtins(engine)
        del fields["ends_person_windows"]
        with pytest.raises(hatbox.EngineBusy, match=r"older version of Hatbox, whose windows .* cannot be ended"):
            await open_window(profile, msgspec.convert(fields, RunningEngine))
        assert not answers
        window = await open_window(profile, engine)
        assert len(answers) == 1
        window._finish("closed")
