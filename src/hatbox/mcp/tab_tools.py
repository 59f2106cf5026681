"""The tools about tabs and downloads of the agent."""

from __future__ import annotations

import asyncio

from hatbox.mcp.agent_session import AgentSession
from hatbox.mcp.host_limits import check_frame, check_url
from hatbox.mcp.page_tools import navigate
from hatbox.mcp.tool_arguments import NavigateArguments, NoArguments, TabsArguments
from hatbox.mcp.tool_output import ToolFailed, ToolOutput, ToolRefused, untrusted

__all__ = ["downloads", "tabs"]


async def tabs(session: AgentSession, given: TabsArguments) -> ToolOutput:
    """List, open, close or select a tab of the agent."""
    pages = session.pages
    if given.action == "new":
        if given.url:
            check_url(session.grant("pages"), given.url)  # before a tab is opened
        await pages.open_tab()
        if given.url:
            return await navigate(session, NavigateArguments(given.url))
    elif given.action == "close":
        await pages.close_tab(given.index)
    elif given.action == "select":
        if given.index is None:
            raise ToolFailed("specify index: the number of the tab in the list.")
        return ToolOutput(await pages.select(given.index).describe())
    await pages.adopt_tabs()
    return ToolOutput(await _listed(session))


async def _listed(session: AgentSession) -> str:
    pages, grant = session.pages, session.grant("pages")
    lines = []
    await asyncio.gather(*(each.read_cookies() for each in pages.tabs))
    for index, tab in enumerate(pages.tabs):
        try:
            check_frame(grant, tab.page.url, is_main=True)
            url = tab.shown_url(500)
        except ToolRefused:
            url = "(a host that is not allowed)"
        lines.append(f"{index}: {'(current) ' if pages.is_current(tab) else ''}{url}")
    return untrusted("\n".join(lines)) if lines else "No tab is open."


async def downloads(session: AgentSession, _: NoArguments) -> ToolOutput:
    """The files that pages of the agent have downloaded."""
    found = session.pages.downloads.listed()
    if not found:
        return ToolOutput("No downloads.")
    folder = session.options.downloads
    where = "They are deleted with the browser." if folder is None else f"Folder: {folder}"
    text = "\n".join(f"{each.name}: {each.state}" for each in found)
    for tab in session.pages.tabs:
        await tab.read_cookies()
        text = tab.cookies.hide(text)
    return ToolOutput(f"{where}\n{untrusted(text)}")
