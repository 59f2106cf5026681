"""webRequest.filterResponseData, compared with what an extension sees in a real Firefox."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox import Profile
from hatbox.errors import ApiError
from hatbox.extensions.extension import Extension
from hatbox.extensions.runtime import Exit
from hatbox.web_requests import response_filter
from tests.extensions.made import make, run_made
from tests.extensions.response_filters import PERMISSIONS, capitals, probe, recorded, text_site
from tests.extensions.runtime.lab import needs_deno
from tests.marks import starts

pytestmark = needs_deno

FIREFOX = recorded()


def in_order_of_filters(answer: Any) -> Any:
    """The events of each filter in their order: that of events of several filters depends on processes in Firefox."""
    return {**answer, "seen": sorted(answer["seen"], key=lambda event: event[0])}


@pytest.fixture(scope="module")
@starts("deno")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("filters")

    async def main(site: str) -> dict[str, Any]:
        async with asyncio.timeout(100), hatbox.open(folder / "profile.db") as profile:
            background = f"var answers = (async () => {{\n{probe(site, 10)}\n}})();"
            made = make(folder, background, name="probe", permissions=[*PERMISSIONS, "http://127.0.0.1/*"])
            extension = await profile.extensions.start(made)
            return dict(await extension.evaluate("answers"))

    with text_site() as site:
        return asyncio.run(main(site))


@pytest.mark.parametrize("name", FIREFOX)
def test_it_is_as_in_firefox(answers: dict[str, Any], name: str) -> None:
    shown = in_order_of_filters if name == "two filters" else lambda answer: answer
    assert shown(answers[name]) == shown(FIREFOX[name])


def test_all_cases_are_recorded(answers: dict[str, Any]) -> None:
    assert list(answers) == list(FIREFOX)


def test_the_http_engine_shows_the_filtered_page(tmp_path: Path) -> None:
    async def use(profile: Profile, _: Extension) -> None:
        async with profile.http_engine() as engine:
            tab = await profile.tabs.open("Work", f"{site}/page")
            assert (await engine.wait_until_loaded(tab.id)).title == "Filtered"

    with text_site() as site:
        run_made(tmp_path, use, capitals('["main_frame"]'), permissions=[*PERMISSIONS])


def test_a_filter_that_writes_too_much_fails_the_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_filter, "_MAX_WRITTEN_BYTES", 100)
    background = """
    const errors = [];
    browser.webRequest.onErrorOccurred.addListener(({error}) => { errors.push(error); }, {urls: ["<all_urls>"]});
    browser.webRequest.onBeforeRequest.addListener(({requestId}) => {
      const filter = browser.webRequest.filterResponseData(requestId);
      filter.ondata = () => { for (const size of [60, 60, 10]) filter.write(new Uint8Array(size)); };
      filter.onstop = () => { filter.close(); };
    }, {urls: ["<all_urls>"]}, ["blocking"]);
    """

    async def use(_: Profile, extension: Extension) -> None:
        outcome = f"fetch({site + '/page'!r}).then(response => response.text(), error => error.name)"
        assert await extension.evaluate(outcome) == "TypeError"
        assert await extension.evaluate("errors") == ["NS_ERROR_ABORT"]

    with text_site() as site:
        run_made(tmp_path, use, background, permissions=[*PERMISSIONS])


@pytest.mark.parametrize("way", ["never closes", "stops", "crashes"])
def test_a_filter_that_never_ends_delays_a_page_only_for_a_while(tmp_path: Path, way: str) -> None:
    background = """
    globalThis.started = new Promise(resolve => {
      browser.webRequest.onBeforeRequest.addListener(({requestId}) => {
        const filter = browser.webRequest.filterResponseData(requestId);
        filter.ondata = event => { filter.write(event.data); resolve(true); };
      }, {urls: ["<all_urls>"], types: ["main_frame"]}, ["blocking"]);
    });
    """

    async def use(profile: Profile, extension: Extension) -> None:
        profile.web_requests.blocking_timeout = 0.3 if way == "never closes" else 60
        async with profile.http_engine() as engine:
            tab = await profile.tabs.open("Work", f"{site}/page")
            assert await extension.evaluate("started")
            if way == "stops":
                await profile.extensions.stop(extension)
            elif way == "crashes":
                assert extension.runtime is not None
                extension.runtime.process.end(Exit("stopped"))
            assert (await engine.wait_until_loaded(tab.id)).title == "Plain"

    with text_site() as site:
        run_made(tmp_path, use, background, permissions=[*PERMISSIONS])


def test_an_extension_filters_only_what_it_may_observe(tmp_path: Path) -> None:
    async def use(profile: Profile, extension: Extension) -> None:
        spy = make(tmp_path, name="spy", permissions=["webRequest", "webRequestBlocking", "https://other.example/*"])
        other = await profile.extensions.start(spy)
        tries = """new Promise(resolve => {
          const filter = browser.webRequest.filterResponseData("%s");
          filter.onerror = () => resolve(filter.error);
          filter.onstart = () => resolve("started");
        })"""
        request = asyncio.ensure_future(extension.evaluate(f"fetch('{site}/text').then(r => r.text())"))
        number = await extension.evaluate("seen")
        assert await other.evaluate(tries % number) == "Invalid request ID"
        await extension.evaluate("proceed()")
        assert await request == "hello world"

    with text_site() as site:
        background = """
        globalThis.seen = new Promise(resolve => {
          browser.webRequest.onBeforeRequest.addListener(({requestId}) => {
            resolve(requestId);
            return new Promise(done => { globalThis.proceed = () => { done({}); }; });
          }, {urls: ["<all_urls>"]}, ["blocking"]);
        });
        """
        run_made(tmp_path, use, background, permissions=[*PERMISSIONS])


def test_manifest_version_3_needs_a_permission_of_its_own(tmp_path: Path) -> None:
    keys: dict[str, Any] = {"manifest_version": 3}
    call = 'typeof browser.webRequest.filterResponseData("1")'
    attempt = f"(() => {{ try {{ return {call}; }} catch (error) {{ return error.message; }} }})()"

    async def without(_: Profile, extension: Extension) -> None:
        assert await extension.evaluate(attempt) == 'Missing required "webRequestFilterResponse" permission'

    async def with_it(_: Profile, extension: Extension) -> None:
        assert await extension.evaluate(attempt) == "object"

    for folder, use, more in (("a", without, []), ("b", with_it, ["webRequestFilterResponse"])):
        (tmp_path / folder).mkdir()
        run_made(tmp_path / folder, use, permissions=["webRequest", "webRequestBlocking", *more], **keys)


def test_a_python_script_has_no_filters_and_is_told_so(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "profile.db") as profile:
            with pytest.raises(ApiError, match="only available to the scripts of an extension"):
                profile.browser(["webRequest", "webRequestBlocking"]).webRequest.filterResponseData("1")

    asyncio.run(main())
