"""An agent without a limit of hosts reaches no private network: in its own browser, and in that of another program."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from playwright.async_api import Error as PlaywrightError

import hatbox
from hatbox.grants import grant
from hatbox.mcp import document_addresses
from hatbox.mcp.agent_session import AgentOptions
from hatbox.mcp.document_addresses import DocumentAddresses
from tests.mcp.agent_client import reference
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.store.in_loop import in_loop
from tests.waiting import until

LABELS = ("plain", "redirected", "blank", "opened")


@pytest.fixture(autouse=True)
def _only_localhost_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grant, "is_private_host", lambda host: host == "localhost")
    monkeypatch.setattr(document_addresses, "is_private_address", lambda _: False)


async def _leaves_nowhere(call: Caller, site: AgentSite, labels: tuple[str, ...]) -> None:
    assert "have to be named" in await call("browser_navigate", url=site.url("/secret", "localhost"))
    for label in labels:
        page = await call("browser_navigate", url=site.url("/leave"))
        shown = await call("browser_click", target=reference(page, label))
        shown += await call("browser_snapshot")
        assert "content of the other host" not in shown
        assert label in ("blank", "opened") or "have to be named" in shown  # of a new page, it may come later


@pytest.mark.browser
def test_no_document_of_a_private_host_is_requested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        await _leaves_nowhere(call, site, LABELS)
        assert {host for host, _ in site.requests} == {"127.0.0.1"}
        downloads = call.session.pages.downloads
        await call("browser_navigate", url=site.url("/echo-file"))
        await until(lambda: [each.state for each in downloads.listed()] == ["complete"])
        await until(lambda: any("part" not in each.name for each in folder.iterdir()))
        # A name of the public DNS with a private address.
        monkeypatch.setattr(document_addresses, "is_private_address", lambda address: address == "127.0.0.1")
        for tool in ("browser_navigate", "browser_snapshot"):
            shown = await call(tool, **({"url": site.url("/form")} if tool == "browser_navigate" else {}))
            assert "have to be named" in shown
            assert "Send" not in shown
        page = call.session.pages.tabs[-1].page
        await until(lambda: page.url == "about:blank")
        may_decide, allows = asyncio.Event(), DocumentAddresses.allows_download

        async def later(addresses: DocumentAddresses, url: str) -> bool:
            await may_decide.wait()
            return await allows(addresses, url)

        monkeypatch.setattr(DocumentAddresses, "allows_download", later)
        async with page.expect_download() as found:
            await call("browser_navigate", url=site.url("/echo-file"))
        await (await found.value).path()  # it is complete
        may_decide.set()
        await downloads._tasks.wait()
        assert downloads.listed()[-1].state.startswith("refused")
        assert len(list(folder.iterdir())) == 1

    folder = tmp_path / "downloads"
    folder.mkdir()
    run(tmp_path, test, ["*"], AgentOptions(downloads=folder))


class FakePage:
    def is_closed(self) -> bool:
        return False


class FakeResponse:
    """The response of a document, as Playwright reports it."""

    def __init__(self, url: str, page: FakePage, address: dict[str, Any] | Exception) -> None:
        self.url = url
        self.frame = SimpleNamespace(page=page)
        self.is_known = asyncio.Event()
        self._address = address

    @property
    def request(self) -> FakeResponse:
        return self

    def is_navigation_request(self) -> bool:
        return True

    async def server_addr(self) -> dict[str, Any]:
        await self.is_known.wait()
        if isinstance(self._address, Exception):
            raise self._address
        return self._address


@in_loop
async def test_a_page_with_an_unknown_address_is_refused_and_waits_for_no_other_page() -> None:
    addresses = DocumentAddresses(lambda *_: False)
    failing, public, slow = FakePage(), FakePage(), FakePage()
    responses = [
        FakeResponse("https://failing.example/", failing, PlaywrightError("no answer")),
        FakeResponse("https://public.example/", public, {"ipAddress": "1.1.1.1", "port": 443}),
        FakeResponse("https://slow.example/", slow, {"ipAddress": "1.1.1.1", "port": 443}),
    ]
    for each in responses:
        addresses._on_response(cast(Any, each))
    for each in responses[:2]:
        each.is_known.set()
    assert await addresses.private_url(cast(Any, failing)) == "https://failing.example/"
    assert await addresses.private_url(cast(Any, public)) == ""
    assert await addresses.allows_download("https://public.example/file")
    for url in ("https://failing.example/file", "https://public.example:8443/file", "https://other.example/"):
        assert not await addresses.allows_download(url)
    responses[2].is_known.set()
    assert await addresses.private_url(cast(Any, slow)) == ""


@pytest.mark.browser
def test_what_a_refused_document_says_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        await call("browser_navigate", url=site.url("/form"))
        monkeypatch.setattr(document_addresses, "is_private_address", lambda address: address == "127.0.0.1")
        shown = [await call("browser_navigate", url=site.url("/talks"))]
        assert "have to be named" in shown[0]
        shown += [await call(each) for each in ("browser_console_messages", "browser_network_requests")]
        shown += [await call("browser_press_key", key="a"), await call("browser_snapshot")]
        assert not [each for each in shown if "words" in each or "/talks" in each]

    run(tmp_path, test, ["*"])


@pytest.mark.browser
def test_nor_in_the_browser_of_another_program(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        async with (
            hatbox.open(tmp_path / "profile.db") as other,
            other.chromium(headless=True, identities="Work"),
        ):
            await _leaves_nowhere(call, site, LABELS[:2])
            assert {host for host, _ in site.requests} == {"127.0.0.1"}
            page = await call("browser_navigate", url=site.url("/leave"))
            await call("browser_click", target=reference(page, "opened"))  # the first request of a new page is sent
            await until(lambda: any(host == "localhost" for host, _ in site.requests))
            assert "content of the other host" not in await call("browser_snapshot")
            assert call.session.browser._runner.attached_to is not None  # type: ignore[union-attr] # it has started
            await call.session.close()

    run(tmp_path, test, ["*"])
