"""To which running engine a program attaches, and the errors where it cannot. Without a browser."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import msgspec
import pytest
from playwright.async_api import Error as PlaywrightError

import hatbox
from hatbox.cli.commands.endpoint import _wait_for_engine
from hatbox.engines.base import EngineOptions
from hatbox.engines.chromium.attachable_engine import WantedOptions, find_serving_engine, why_not_attachable
from hatbox.engines.chromium.attached_browser import AttachedBrowser
from hatbox.engines.endpoint_records import PublishedEndpoint, open_endpoints
from hatbox.engines.running_engines import RunningEngine
from hatbox.store.processes import current_process, current_user
from hatbox.web_requests.request_model import RequestSnapshot
from tests.engines.fake import FakeEngine, run
from tests.store.in_loop import in_loop
from tests.waiting import until_awaited

WORK, PERSONAL = "firefox-container-2", "firefox-container-1"


class Browser(FakeEngine):
    """An engine without a browser that has the name of one, and answers nothing."""

    name: ClassVar[str] = "Chromium"


class Windows(Browser):
    """One with windows."""

    has_windows = True


HERE = RunningEngine(
    "Chromium",
    current_process(),
    None,
    1.0,
    has_windows=False,
    user=current_user(),
    options=EngineOptions("/opt/chromium", "/downloads"),
)


@pytest.mark.parametrize(
    ("changed", "wanted", "reason"),
    [
        ({}, {}, ""),
        ({"has_windows": True}, {}, ""),
        ({"has_windows": True}, {"headless": False}, ""),
        ({}, {"headless": False}, "no windows"),
        ({"has_windows": None}, {"headless": False}, "no windows"),
        ({}, {"downloads": "/downloads"}, ""),
        ({}, {"downloads": "/elsewhere"}, "downloads go to /downloads"),
        ({"options": EngineOptions()}, {"downloads": "/elsewhere"}, "keeps no downloads"),
        ({}, {"browser": "/bin/sh"}, "another browser: /opt/chromium"),
        ({}, {"indicator": False}, ""),
        ({}, {"indicator": True}, "do not show the identity"),
        ({"options": None}, {}, "options are not known"),
        ({"user": "another"}, {}, "another user"),
        ({"user": ""}, {}, "older version"),
        ({"engine": "HTTP"}, {}, "only Chromium"),
        ({"process": current_process()._replace(host="elsewhere/1/2")}, {}, "another machine"),
        ({"process": None}, {}, "another machine"),
    ],
)
def test_a_program_attaches_to_an_engine_of_its_user_and_machine_whose_options_agree(
    changed: dict[str, object], wanted: dict[str, object], reason: str
) -> None:

    engine = msgspec.structs.replace(HERE, **changed)
    found = why_not_attachable(engine, WantedOptions(**({"headless": True} | wanted)))  # type: ignore[arg-type]
    assert found == "" if not reason else reason in found


@in_loop
async def test_an_error_of_the_connection_does_not_contain_the_token(path: Path) -> None:
    async with hatbox.open(path) as profile:
        attached = AttachedBrowser(profile.store, HERE, "run", lambda: None)
        with pytest.raises(hatbox.EngineError) as raised, attached.map_errors():
            raise PlaywrightError("connect failed: <ws connecting> ws://127.0.0.1:1/SECRET\nmore of SECRET")
    assert "connect failed" in str(raised.value)
    assert "SECRET" not in str(raised.value) + repr(raised.value.__cause__)


@in_loop
async def test_an_engine_that_does_not_answer_is_busy_after_a_bounded_time(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile, run(Browser(), profile):
        runner = profile.chromium(headless=True)
        monkeypatch.setattr(runner, "_max_time", 0.1)
        with pytest.raises(hatbox.EngineBusy, match=r"Chromium engine of .* \(pid \d+\).*: it does not answer"):
            await runner.__aenter__()
        await runner.stop()
        with pytest.raises(hatbox.EngineAlreadyRunning) as raised:
            await profile.chromium(headless=True, attach=False).__aenter__()
        assert not isinstance(raised.value, hatbox.EngineBusy)


@in_loop
async def test_engines_that_do_not_agree_are_busy_and_nothing_is_started(path: Path) -> None:
    def listener(request: RequestSnapshot) -> None:
        raise AssertionError(request)

    async with hatbox.open(path) as profile:
        async with run(Browser(), profile, "Work"):
            for options, reason in (
                ({"headless": False}, "no windows"),
                ({"identities": ["Personal", "Work"]}, "only some of the identities"),
            ):
                with pytest.raises(hatbox.EngineBusy, match=reason) as busy:
                    await profile.chromium(**({"headless": True, "identities": "Work"} | options)).__aenter__()  # type: ignore[arg-type]
                assert busy.value.identity == WORK
        async with run(Browser(), profile):
            profile.web_requests.on_before_request.add_listener(listener)
            with pytest.raises(hatbox.EngineBusy, match="webRequest listeners"):
                await profile.chromium(headless=True).__aenter__()
        async with run(FakeEngine(), profile):
            with pytest.raises(hatbox.EngineBusy, match="only Chromium has pages"):
                await profile.chromium(headless=True).__aenter__()
        assert await profile.running_engines() == []


@in_loop
async def test_the_engine_that_serves_the_wanted_identities_is_found(path: Path) -> None:
    async with hatbox.open(path) as profile, run(Browser(), profile, ["Work", "Personal"]):
        assert await find_serving_engine(profile.store, None) is None
        assert await find_serving_engine(profile.store, ["firefox-container-3"]) is None
        some = await find_serving_engine(profile.store, ["firefox-container-3", WORK])
        assert some is not None
        assert not some.has_all
        async with run(Browser(), profile):
            own = await find_serving_engine(profile.store, [WORK])
            rest = await find_serving_engine(profile.store, ["firefox-container-3"])
            everything = await find_serving_engine(profile.store, None)
        assert own is not None
        assert own.engine.identities == (WORK, PERSONAL)
        assert (own.has_all, own.releases) == (True, False)
        assert rest is not None
        assert everything is not None
        assert (rest.engine, rest.releases, everything.releases) == (everything.engine, True, False)


@in_loop
async def test_open_windows_are_not_closed_for_a_program_that_cannot_attach(path: Path) -> None:
    async with hatbox.open(path) as profile, run(Windows(), profile):
        hidden = await profile.identities.find("Personal")
        for each in (WORK, PERSONAL):
            await profile.tabs.open(each)
        await profile.identities.hide(hidden)
        for wanted, releases in (([WORK], False), ([PERSONAL], True), (["firefox-container-3"], True)):
            found = await find_serving_engine(profile.store, wanted)
            assert found is not None
            assert found.releases == releases
        with pytest.raises(hatbox.EngineBusy, match="another browser"):
            await profile.chromium(headless=True, browser="/bin/sh", identities="Work").__aenter__()
        (tab,) = await profile.tabs.query(WORK)
        assert (tab.hidden, [each.identities for each in await profile.running_engines()]) == (False, [None])


@in_loop
async def test_an_endpoint_of_another_program_is_not_closed_for_one_that_cannot_attach(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with hatbox.open(path) as profile, run(Browser(), profile):
        endpoint = PublishedEndpoint(profile.store, WORK, 4711)
        endpoint.publish([("report", "g1")])

        async def is_published() -> bool:
            return bool(await open_endpoints(profile.store))

        await until_awaited(is_published)
        for wanted, releases in (([WORK], False), ([PERSONAL], True)):
            found = await find_serving_engine(profile.store, wanted)
            assert found is not None
            assert found.releases == releases
        runner = profile.chromium(headless=True, browser="/bin/sh", identities="Work")
        monkeypatch.setattr("hatbox.engines.chromium.attaching_runner._ENDPOINT_SECONDS", 0.0)
        with pytest.raises(hatbox.EngineBusy, match="another browser"):
            await runner.__aenter__()
        assert [each.identities for each in await profile.running_engines()] == [None]
        await endpoint.withdraw()
        found = await find_serving_engine(profile.store, [WORK])
        assert found is not None
        assert found.releases


@in_loop
async def test_an_endpoint_whose_identity_another_engine_has_says_so(path: Path) -> None:
    async with hatbox.open(path) as profile, run(Browser(), profile):
        identity = await profile.identities.find("Work")
        (rest,) = await profile.running_engines()
        waiting = asyncio.ensure_future(_wait_for_engine(profile, identity, cast(Any, SimpleNamespace(engine=rest))))
        async with run(Browser(), profile, "Work"):
            with pytest.raises(hatbox.EngineError, match=r'the identity "Work" is in the Chromium engine of .* now'):
                await waiting
    with pytest.raises(hatbox.EngineError, match="has ended"):
        async with hatbox.open(path) as profile:
            await _wait_for_engine(profile, identity, cast(Any, SimpleNamespace(engine=rest)))
