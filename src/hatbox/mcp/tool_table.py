"""The tools of the server: their names, descriptions, arguments and functions. Pure data."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from hatbox.mcp import ask_person_tool, fetch_tool, identity_tools, input_tools, page_tools, tab_tools
from hatbox.mcp import tool_arguments as arguments
from hatbox.mcp.agent_session import AgentSession
from hatbox.mcp.tool_output import ToolOutput

__all__ = ["TOOLS", "AgentTool", "offered_tools"]

ToolFunction: TypeAlias = Callable[[AgentSession, Any], Awaitable[ToolOutput]]


class AgentTool(msgspec.Struct, frozen=True):
    """A tool that agents call."""

    name: str
    description: str
    arguments: type[msgspec.Struct]
    function: ToolFunction
    action: str | None
    """The action that the grant must allow; None for none."""
    is_offered_read_only: bool = True
    """Whether it is offered in read-only mode: it enters nothing and submits nothing."""
    changes: bool = False
    """Whether it may change something at the site."""
    needs_uploads: bool = False


_SNAPSHOT: Final = "Returns a snapshot of the page."
_CHANGES: Final = "Returns what has changed in the snapshot."

TOOLS: Final = (
    AgentTool(
        "identity",
        "Which identity (account container) you use, and what you may do with it. Starts no browser.",
        arguments.NoArguments,
        identity_tools.identity,
        None,
    ),
    AgentTool(
        "signed_in",
        "Whether the identity looks signed in at a site: sends one request to a page that needs an account.",
        arguments.SignedInArguments,
        identity_tools.signed_in,
        "fetch",
    ),
    AgentTool(
        "fetch",
        "Send an HTTP request as the identity, with its cookies, and return the response. Faster than a page. "
        "Returns the text of a PDF.",
        arguments.FetchArguments,
        fetch_tool.fetch,
        "fetch",
        changes=True,
    ),
    AgentTool(
        "browser_navigate",
        f"Open a URL in the current tab. {_SNAPSHOT}",
        arguments.NavigateArguments,
        page_tools.navigate,
        "pages",
    ),
    AgentTool(
        "browser_navigate_back",
        f"Go back in the history of the tab. {_SNAPSHOT}",
        arguments.NoArguments,
        page_tools.navigate_back,
        "pages",
    ),
    AgentTool(
        "browser_snapshot",
        "Accessibility snapshot of the page, with a reference for each element. Prefer it to a screenshot.",
        arguments.SnapshotArguments,
        page_tools.snapshot,
        "pages",
    ),
    AgentTool(
        "browser_find",
        "The lines of the snapshot that contain a text, with their references. Shorter than a snapshot.",
        arguments.FindArguments,
        page_tools.find,
        "pages",
    ),
    AgentTool(
        "browser_console_messages",
        "The messages and errors in the console of the page.",
        arguments.ConsoleArguments,
        page_tools.console_messages,
        "pages",
    ),
    AgentTool(
        "browser_network_requests",
        "The requests of the page, with status and size. Without queries, headers and bodies.",
        arguments.NoArguments,
        page_tools.network_requests,
        "pages",
    ),
    AgentTool(
        "browser_take_screenshot",
        "An image of the page or of one element. To act on the page, use browser_snapshot.",
        arguments.ScreenshotArguments,
        page_tools.take_screenshot,
        "pages",
    ),
    AgentTool(
        "browser_wait_for",
        f"Wait for a time, or until a text appears or disappears. {_CHANGES}",
        arguments.WaitArguments,
        page_tools.wait_for,
        "pages",
    ),
    AgentTool(
        "browser_tabs",
        "List, open, close or select a tab. Only the tabs that you have opened, and those that their pages open.",
        arguments.TabsArguments,
        tab_tools.tabs,
        "pages",
    ),
    AgentTool(
        "downloads",
        "The files that your pages have downloaded.",
        arguments.NoArguments,
        tab_tools.downloads,
        "pages",
    ),
    AgentTool(
        "browser_click",
        f"Click an element. {_CHANGES}",
        arguments.ClickArguments,
        input_tools.click,
        "pages",
        is_offered_read_only=False,
        changes=True,
    ),
    AgentTool(
        "browser_type",
        f"Type text into an editable element, in place of its text. {_CHANGES}",
        arguments.TypeArguments,
        input_tools.type_text,
        "pages",
        is_offered_read_only=False,
        changes=True,
    ),
    AgentTool(
        "browser_fill_form",
        f"Fill several fields of a form. {_CHANGES}",
        arguments.FillFormArguments,
        input_tools.fill_form,
        "pages",
        is_offered_read_only=False,
        changes=True,
    ),
    AgentTool(
        "browser_select_option",
        f"Select options of a list, by value or label. {_CHANGES}",
        arguments.SelectOptionArguments,
        input_tools.select_option,
        "pages",
        is_offered_read_only=False,
        changes=True,
    ),
    AgentTool(
        "browser_press_key",
        f"Press a key or a combination of keys. {_CHANGES}",
        arguments.PressKeyArguments,
        input_tools.press_key,
        "pages",
        is_offered_read_only=False,
        changes=True,
    ),
    AgentTool(
        "browser_hover",
        f"Move the pointer over an element. {_CHANGES}",
        arguments.HoverArguments,
        input_tools.hover,
        "pages",
        is_offered_read_only=False,
    ),
    AgentTool(
        "browser_drag",
        f"Drag an element to another one. {_CHANGES}",
        arguments.DragArguments,
        input_tools.drag,
        "pages",
        is_offered_read_only=False,
        changes=True,
    ),
    AgentTool(
        "browser_handle_dialog",
        f"Accept or dismiss the open dialog (alert, confirm, prompt). {_CHANGES}",
        arguments.DialogArguments,
        input_tools.handle_dialog,
        "pages",
        changes=True,
    ),
    AgentTool(
        "browser_file_upload",
        "Choose files for the open file chooser, or cancel it without paths. Only files below the folder for uploads.",
        arguments.UploadArguments,
        input_tools.upload_files,
        "pages",
        is_offered_read_only=False,
        changes=True,
        needs_uploads=True,
    ),
    AgentTool(
        "ask_person",
        "Open a window of the identity for a person to sign in, or to pass a check (CAPTCHA, second factor), and wait. "
        "You cannot see the window. Your pages are loaded again afterwards. Never ask for passwords yourself.",
        ask_person_tool.AskPersonArguments,
        ask_person_tool.ask_person,
        "pages",
        changes=True,
    ),
    AgentTool(
        "ask_person_wait",
        "Wait on for the answer to ask_person, or end the request.",
        ask_person_tool.AskPersonWaitArguments,
        ask_person_tool.ask_person_wait,
        "pages",
    ),
)
"""All tools, in the order in which they are listed."""


def offered_tools(*, read_only: bool, uploads: Path | None) -> dict[str, AgentTool]:
    """The tools for these options, by name."""
    return {
        each.name: each
        for each in TOOLS
        if (each.is_offered_read_only or not read_only) and (uploads is not None or not each.needs_uploads)
    }
