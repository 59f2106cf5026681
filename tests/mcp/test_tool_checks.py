"""Checks before and after a tool, with pages that the test controls. Without a browser."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout

from hatbox.grants.grant import Grant
from hatbox.mcp.agent_pages import MAX_TABS, AgentPages
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from hatbox.mcp.agent_tab import AgentTab
from hatbox.mcp.document_limit import DocumentLimit
from hatbox.mcp.input_tools import press_key
from hatbox.mcp.password_fields import KnownPasswords
from hatbox.mcp.server import AgentServer
from hatbox.mcp.tool_arguments import NoArguments, PressKeyArguments
from hatbox.mcp.tool_output import ToolFailed, ToolOutput, ToolRefused
from hatbox.mcp.tool_table import AgentTool
from hatbox.web_requests.request_events import RequestEvents
from tests.mcp.test_host_limits import LIMITED, grant
from tests.mcp.test_page_borders import Caller
from tests.mcp.test_page_borders import run as run_caller
from tests.mcp.test_server import run
from tests.store.in_loop import in_loop
from tests.waiting import until


class FakePage:
    """A page with one frame."""

    def __init__(self, url: str = "about:blank") -> None:
        self.main_frame = SimpleNamespace(url=url)
        self.frames = [self.main_frame]
        self.is_open = True

    @property
    def url(self) -> str:
        return str(self.main_frame.url)

    def on(self, *_: object) -> None:
        pass

    def is_closed(self) -> bool:
        return not self.is_open

    async def close(self) -> None:
        self.is_open = False


class FakeBrowser:
    """Opens pages when the test allows it."""

    def __init__(self) -> None:
        self.limit = DocumentLimit(cast(Any, None), lambda: LIMITED, [])
        self.limit._is_checked = False
        self.connection = None
        self.may_open = asyncio.Event()

    async def new_page(self, _: object) -> tuple[FakePage, int | None]:
        await self.may_open.wait()
        return FakePage(), None


def fake_session(granted: Grant) -> Any:
    return SimpleNamespace(options=AgentOptions(), browser=FakeBrowser(), grant=lambda *_: granted)


@in_loop
async def test_a_page_that_leaves_the_hosts_while_it_is_read_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    page = FakePage("https://site.example/")
    tab = AgentTab(cast(Any, page), fake_session(LIMITED), cast(Any, SimpleNamespace(add=None)), KnownPasswords())

    async def stays(*_: object) -> tuple[str, str, bool]:
        return "title", "own content", False

    async def leaves(*_: object) -> tuple[str, str, bool]:
        page.main_frame.url = "https://other.example/"
        return "title", "content of the other host", False

    monkeypatch.setattr(tab, "_read", stays)
    assert "own content" in await tab.describe()
    monkeypatch.setattr(tab, "_read", leaves)
    with pytest.raises(ToolRefused, match=r"other\.example"):
        await tab.describe()


@in_loop
async def test_a_message_of_the_browser_with_a_url_of_the_page_shows_no_cookie() -> None:
    async def cookies() -> list[dict[str, object]]:
        return [{"httpOnly": True, "value": "session-value", "domain": ".site.example"}]

    async def interrupted() -> None:
        raise PlaywrightError('Page.goto: interrupted by another navigation to "https://site.example/?session-value"')

    page = FakePage("https://www.site.example/")
    page.context = SimpleNamespace(cookies=cookies)  # type: ignore[attr-defined]
    page.main_frame.is_detached = lambda: True
    tab = AgentTab(cast(Any, page), fake_session(grant()), cast(Any, SimpleNamespace(add=None)), KnownPasswords())
    with pytest.raises(ToolFailed, match=r"site\.example/\?\(a cookie is omitted\)"):
        await tab.perform(interrupted())


@in_loop
@pytest.mark.parametrize(
    ("error", "shown"),
    [
        (PlaywrightTimeout("Timeout.\n - <p>text</p> intercepts pointer events\n - waiting"), "another element covers"),
        (PlaywrightTimeout("Timeout.\n - element is not visible\n - element is not enabled"), "is disabled"),
        (PlaywrightTimeout("Timeout.\n - 2 \xd7 element is not editable"), "is read-only or disabled"),
        (PlaywrightTimeout("Timeout."), r">\. Take a new"),
        (PlaywrightError("Target page, context or browser has been closed"), "starts again. Try again in some seconds"),
    ],
)
async def test_the_agent_learns_why_an_action_failed(error: Exception, shown: str) -> None:
    async def fails() -> None:
        raise error

    with pytest.raises(ToolFailed, match=shown) as failed:
        await _tab(FakePage()).perform(fails())
    assert "<p>" not in str(failed.value)


@in_loop
async def test_the_agent_learns_the_status_of_a_response() -> None:
    async def goto(*_: object, **__: object) -> object:
        tab.refused = "late: of a navigation of the document before"
        return SimpleNamespace(status=404)

    page = FakePage()
    page.goto = goto  # type: ignore[attr-defined]
    tab = _tab(page)
    assert await tab.load("https://site.example/") == "HTTP status: 404\n"
    assert tab.refused == ""


def _tab(page: FakePage) -> AgentTab:
    """A tab of a page without cookies and fields."""

    async def cookies() -> list[object]:
        return []

    page.context = SimpleNamespace(cookies=cookies, pages=[page])  # type: ignore[attr-defined]
    page.remove_listener = lambda *_: None  # type: ignore[attr-defined]
    page.main_frame.is_detached = lambda: True
    return AgentTab(cast(Any, page), fake_session(grant()), cast(Any, SimpleNamespace(add=None)), KnownPasswords())


@pytest.mark.parametrize("granted", [LIMITED, grant()])
def test_with_limited_hosts_documents_of_unknown_frames_fail(granted: Grant) -> None:
    requests = RequestEvents()
    limit = DocumentLimit(cast(Any, SimpleNamespace(web_requests=requests)), lambda: granted, [])
    limit.start(cast(Any, object()))
    assert requests.fails_closed == (granted is LIMITED)
    assert bool(requests.on_before_request) == (granted is LIMITED)
    limit.stop()
    assert not requests.fails_closed
    assert not requests.on_before_request


@in_loop
async def test_an_agent_opens_a_limited_number_of_tabs() -> None:
    session = fake_session(grant())
    pages = AgentPages(session)
    opening = [asyncio.ensure_future(pages.open_tab()) for _ in range(MAX_TABS)]
    await until(lambda: pages._opening == MAX_TABS)
    with pytest.raises(ToolRefused, match="Close one first"):
        await asyncio.wait_for(pages.open_tab(), 5)  # tabs that are being opened count
    session.browser.may_open.set()
    await asyncio.gather(*opening)
    with pytest.raises(ToolRefused, match="Close one first"):
        await pages.open_tab()
    await pages.close_tab(0)
    await pages.open_tab()
    assert len(pages.tabs) == MAX_TABS


def test_the_result_of_a_tool_is_not_shown_after_a_revocation(tmp_path: Path) -> None:
    async def revoke(session: AgentSession, _: NoArguments) -> ToolOutput:
        await session.profile.grants.revoke(session.grant_id)
        return ToolOutput("content")

    async def test(server: AgentServer, _: AgentSession) -> None:
        server._tools = {"revoke": AgentTool("revoke", "", NoArguments, revoke, "fetch")}
        with pytest.raises(ToolFailed, match="ended the access"):
            await server.call("revoke", {})

    run(tmp_path, test)


def test_a_read_only_agent_cannot_accept_a_dialog(tmp_path: Path) -> None:
    async def test(call: Caller, _: object) -> None:
        assert "this server is read-only" in await call("browser_handle_dialog", accept=True)
        assert "no page is open" in await call("browser_handle_dialog", accept=False)

    run_caller(tmp_path, test, options=AgentOptions(read_only=True), runs=asyncio.run)


@in_loop
async def test_alt_needs_a_grant_for_all_hosts_because_links_are_downloaded_without_a_check() -> None:
    key = PressKeyArguments(key="Alt+Enter")
    for hosts in ((), ("*://*/*",), ("*://localhost/*",)):
        with pytest.raises(ToolRefused, match="Alt is not allowed"):
            await press_key(fake_session(grant(*hosts)), key)
    with pytest.raises(AttributeError, match="pages"):  # the next step: this session has none
        await press_key(fake_session(grant("<all_urls>")), key)
