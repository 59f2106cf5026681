"""Waits for a person with the means of the client: progress, and elicitation where the client supports it.

Clients of protocol versions before 2026-07-28 get a request of their own during the call. Later ones get the request as
the result, and repeat the call with the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

import mcp.types as types
from mcp import MCPError

from hatbox.engines.chromium.identity_indicator import request_text
from hatbox.javascript.text import well_formed
from hatbox.mcp.agent_session import AgentSession
from hatbox.mcp.ask_person_tool import described, waiting_text
from hatbox.mcp.person_requests import PersonRequest
from hatbox.mcp.tool_output import ToolOutput

__all__ = ["PERSON_TOOLS", "call_person_tool"]

PERSON_TOOLS: Final = ("ask_person", "ask_person_wait")
"""The tools that wait for a person."""

ToolCall = Callable[[str, dict[str, Any]], Awaitable[ToolOutput]]

_WAIT_TOOL: Final = "ask_person_wait"
_KEY: Final = "person"
_FIRST_WITH_INPUT: Final = "2026-07-28"
_SCHEMA: Final[dict[str, Any]] = {"type": "object", "properties": {}}
_PROGRESS_SECONDS: Final = 5.0
_ANSWERS: Final = {"accept": "done", "decline": "refused"}
"""The action `cancel` is no answer: some clients cancel requests that no user has seen. The window stays open."""


async def call_person_tool(
    session: AgentSession, context: Any, params: types.CallToolRequestParams, call: ToolCall
) -> ToolOutput | types.InputRequiredResult:
    """Call a tool that requests something of a person, and wait for the answer."""
    arguments = params.arguments or {}
    answer = (params.input_responses or {}).get(_KEY)
    if answer is None:
        output = await call(params.name, arguments)
    else:
        request = session.person.current
        if request is not None and params.request_state == request.id and isinstance(answer, types.ElicitResult):
            _use(session, answer)
        output = await call(_WAIT_TOOL, {"wait": arguments.get("wait", 0)})
    request = session.person.current
    if request is None or arguments.get("end"):
        return output
    seconds = float(arguments.get("wait", 50.0))
    prompt = None
    if answer is None and seconds > 0 and _supports_forms(context):
        message = _message(session, request)
        if context.protocol_version >= _FIRST_WITH_INPUT:
            asked = types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=_SCHEMA))
            return types.InputRequiredResult(input_requests={_KEY: asked}, request_state=request.id)
        prompt = asyncio.ensure_future(_prompt(session, context, message))
    try:
        text = await _wait(session, context, seconds)
    finally:
        if prompt is not None:
            prompt.cancel()
    return ToolOutput(waiting_text(session, request) if text is None else text)


async def _prompt(session: AgentSession, context: Any, message: str) -> None:
    with contextlib.suppress(MCPError):  # the client does not support it after all
        _use(session, await context.session.elicit_form(message, _SCHEMA, context.request_id))


def _use(session: AgentSession, answer: types.ElicitResult) -> None:
    if answer.action in _ANSWERS:
        session.person.answer(_ANSWERS[answer.action])


async def _wait(session: AgentSession, context: Any, seconds: float) -> str | None:
    """Wait for the outcome, and report progress meanwhile: some clients wait longer if they see it."""
    started = time.monotonic()
    while (left := seconds - (time.monotonic() - started)) > 0:
        text = await described(session, min(left, _PROGRESS_SECONDS))
        if text is not None:
            return text
        await context.session.report_progress(time.monotonic() - started, seconds, "Waiting for a person")
    return None


def _supports_forms(context: Any) -> bool:
    """Whether the client supports elicitation with forms. Without any mode it is that one."""
    capabilities = context.session.client_capabilities
    elicitation = None if capabilities is None else capabilities.elicitation
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


def _message(session: AgentSession, request: PersonRequest) -> str:
    message = request_text(request.message)["message"]
    where = "in the window that has opened" if not request.no_window else "in a browser of this identity"
    return well_formed(
        f'The agent that uses your identity "{session.identity.name}" asks: {message}\n'
        f"Do it {where}, then confirm here. Enter no password here. Decline if you cannot do it."
    )
