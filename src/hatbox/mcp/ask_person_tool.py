"""The tools with which an agent requests something of a person, and waits for the answer."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec
from msgspec import Meta

from hatbox.mcp.agent_session import AgentSession
from hatbox.mcp.host_limits import check_url
from hatbox.mcp.person_requests import PersonRequest
from hatbox.mcp.tool_output import ToolFailed, ToolOutput, untrusted
from hatbox.shell_words import shell_word

__all__ = ["AskPersonArguments", "AskPersonWaitArguments", "ask_person", "ask_person_wait", "described", "waiting_text"]

Wait = Annotated[float, Meta(ge=0, le=600, description="Seconds after which the tool returns without an answer")]

_WAIT: Final = 50.0  # many clients end a call after 60 seconds
_OUTCOMES: Final = {
    "done": "done: the person says that it is done. Check it, for example with browser_snapshot.",
    "refused": "refused: the person cannot do it, or does not want to. Do not ask for the same again. Tell the user.",
    "closed": "closed: the person has closed the window. Check whether it is done, for example with browser_snapshot.",
    "ended": "ended: the request was ended.",
    "failed": "failed: the window could not be opened, or its browser has ended. Tell the user what is missing.",
    "expired": "expired: the user did not answer. Tell the user what is missing.",
}
_WINDOW_CLOSED: Final = " The window is closed."
_RELOADED: Final = " Your pages were loaded again: references of earlier snapshots are invalid."
_LOADING: Final = " Some are not loaded yet, or cannot be loaded."


class AskPersonArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of ask_person."""

    message: Annotated[
        str, Meta(min_length=1, max_length=500, description="What the person has to do. Never ask for a password")
    ]
    url: Annotated[str, Meta(max_length=8000, description="Where to do it. Default: the current page")] = ""
    wait: Wait = _WAIT


class AskPersonWaitArguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of ask_person_wait."""

    wait: Wait = _WAIT
    end: Annotated[
        bool, Meta(description="End the request: the user says that it is done, or it is not needed any more")
    ] = False


async def ask_person(session: AgentSession, given: AskPersonArguments) -> ToolOutput:
    """Open a window for the request. Waiting is the matter of the server: other calls go on meanwhile."""
    url = given.url or session.current_url
    if url in ("", "about:blank"):
        raise ToolFailed("specify url: no page is open.")
    if not given.url and (await session.pages.current()).shown_url(len(url)) != url:
        raise ToolFailed("specify url: the address of the current page contains a password or a cookie.")
    request = await session.person.open(given.message, check_url(session.grant("pages"), url))
    return ToolOutput(await described(session, 0) or waiting_text(session, request))


async def ask_person_wait(session: AgentSession, given: AskPersonWaitArguments) -> ToolOutput:
    """The state of the request."""
    if given.end:
        session.person.answer("ended")
    request = session.person.current
    outcome = await described(session, given.wait if given.end else 0)
    if outcome is None and request is not None:
        return ToolOutput(waiting_text(session, request))
    return ToolOutput(outcome or _OUTCOMES["ended"])


async def described(session: AgentSession, seconds: float) -> str | None:
    """The outcome of the last request, for the agent; None if it has none within this time."""
    request = await session.person.wait(seconds)
    if request is None:
        return None
    outcome = request.finished.result()
    closed = _WINDOW_CLOSED if outcome in ("ended", "expired") and not request.no_window else ""
    reloaded = _RELOADED if request.had_pages else ""
    loading = _LOADING if session.pages.are_loading else ""
    return f"{_OUTCOMES[outcome]}{closed}{reloaded}{loading}"


def waiting_text(session: AgentSession, request: PersonRequest) -> str:
    """What an open request waits for, for the agent."""
    if request.is_ending:
        return (
            "waiting: the request has ended, and its window is empty. Your pages open again when the user has closed "
            "that window, so that they do not get what the user types. Tell the user to close it, and call "
            "ask_person_wait."
        )
    if not request.no_window:
        return (
            "waiting: a window is open for the person. You cannot see it, and your other tools wait for its end. "
            "Tell the user, and call ask_person_wait."
        )
    command = f"hatbox open {shell_word(session.identity.name)} {shell_word(request.url)}"
    return (
        f"needs_person: no window can be opened here: {request.no_window} Tell the user to sign in, or to do what you "
        "need, in a browser of this identity on a computer with a screen, with the command at the end of this text "
        "(and --profile, if the server has it). You have no pages meanwhile. When the user says that it is done "
        f"and that browser is closed, call ask_person_wait with end true.\n{untrusted(command)}"
    )
