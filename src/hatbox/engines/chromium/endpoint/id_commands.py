"""Checks commands of a client that name a node, a paused request or a stream. Pure.

Chromium numbers them in a row. Nodes are those of all pages of a process, streams are those of all sessions of a page.
The client may use those that it was given.
"""

from __future__ import annotations

from typing import Any, Final

from hatbox.engines.chromium.endpoint.client_sessions import ClientSession
from hatbox.engines.chromium.endpoint.client_state import ClientState, PendingCommand
from hatbox.engines.chromium.endpoint.command_params import decode_params
from hatbox.engines.chromium.endpoint.endpoint_urls import loadable_url
from hatbox.engines.chromium.endpoint.messages import ClientMessage, MethodRefused, error_message

__all__ = ["ID_COMMANDS", "check_nodes", "expect_no_withheld_frame"]

_MAX_NODES: Final = 64  # each is a command to Chromium, of which a client should not have many unsent
_MAX_NAMED: Final = 1000  # with repetitions
_NODES: Final = "hatbox-nodes"
_ENDING: Final = frozenset(
    {
        "Fetch.continueRequest",
        "Fetch.continueResponse",
        "Fetch.continueWithAuth",
        "Fetch.failRequest",
        "Fetch.fulfillRequest",
    }
)


def check_nodes(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    """A node of another page is not resolved by Chromium, but the other commands read it."""
    params = decode_params(command.params)
    given = params.get("backendNodeIds", [])
    named = [*given, params["backendNodeId"]] if params.get("backendNodeId") is not None else [*given]
    if len(named) > _MAX_NAMED:
        raise MethodRefused(f"{len(named)} nodes are named. At most {_MAX_NODES} are allowed in one command.")
    if any(type(each) is not int for each in named):
        raise MethodRefused("backendNodeId must be an integer")
    nodes = [*dict.fromkeys(named)]
    if len(nodes) > _MAX_NODES:
        raise MethodRefused(f"{len(nodes)} nodes are named. At most {_MAX_NODES} are allowed in one command.")
    if not nodes:
        state.forward(command, params)
        return
    state.expect_capacity(len(nodes) + 1)
    number = state.expect(PendingCommand(command.id, command.sessionId, None, ()))
    answers: list[bool] = []

    def resolved(result: dict[str, Any] | None) -> None:
        answers.append(result is not None)
        if len(answers) < len(nodes) or state.pending.pop(number, None) is None:
            return
        if all(answers):
            state.command("Runtime.releaseObjectGroup", {"objectGroup": _NODES}, session.id)
            state.forward(command, params)
        else:
            refused = MethodRefused("No node with given id found in this page.")
            state.outputs.append(error_message(command.id, command.sessionId, refused))

    for each in nodes:
        state.command("DOM.resolveNode", {"backendNodeId": each, "objectGroup": _NODES}, session.id, resolved)


def _request(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    """Requests for files of extensions are paused too, and not shown."""
    params = decode_params(command.params)
    request_id = params.get("requestId")
    if not isinstance(request_id, str) or request_id not in session.requests:
        raise MethodRefused("Invalid InterceptionId.", -32602)
    if params.get("url") is not None:
        shown, params["url"] = params["url"], loadable_url(str(params["url"]))
        if params["url"] is None:
            raise MethodRefused(f"Cannot continue with {str(shown)[:200]}: only http and https.")
    if command.method in _ENDING:
        session.paused.pop(request_id, None)
    state.forward(command, params)


def expect_no_withheld_frame(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    """Chromium itself makes the answer, of all frames of a page. A session reaches only its own."""
    if state.targets.has_withheld_frame(session.page_id):
        raise MethodRefused(
            f"{command.method} would contain a frame of an extension, which is withheld. Use Page.captureScreenshot."
        )


def _take_stream(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    if command.method == "Page.printToPDF":
        expect_no_withheld_frame(state, session, command)
    if command.method.startswith("Fetch.") and decode_params(command.params).get("requestId") not in session.requests:
        raise MethodRefused("Invalid InterceptionId.", -32602)

    def given(result: dict[str, Any]) -> dict[str, Any]:
        if command.method == "Page.printToPDF":
            expect_no_withheld_frame(state, session, command)
        if "stream" in result:
            state.streams.add((session.target_id, result["stream"]))
        return result

    state.forward(command, None, given)


def _stream(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    stream = session.target_id, params.get("handle")
    if stream not in state.streams:
        raise MethodRefused("Invalid stream handle", -32602)
    if command.method == "IO.close":
        state.streams.discard(stream)
    state.forward(command, params)


ID_COMMANDS: Final = {
    "Accessibility.getAXNodeAndAncestors": check_nodes,
    "Accessibility.getPartialAXTree": check_nodes,
    "Accessibility.queryAXTree": check_nodes,
    "DOM.describeNode": check_nodes,
    "DOM.focus": check_nodes,
    "DOM.getBoxModel": check_nodes,
    "DOM.getContentQuads": check_nodes,
    "DOM.getOuterHTML": check_nodes,
    "DOM.highlightNode": check_nodes,
    "DOM.pushNodesByBackendIdsToFrontend": check_nodes,
    "DOM.scrollIntoViewIfNeeded": check_nodes,
    "Fetch.continueRequest": _request,
    "Fetch.continueResponse": _request,
    "Fetch.continueWithAuth": _request,
    "Fetch.failRequest": _request,
    "Fetch.fulfillRequest": _request,
    "Fetch.getResponseBody": _request,
    "Fetch.takeResponseBodyAsStream": _take_stream,
    "IO.close": _stream,
    "IO.read": _stream,
    "Overlay.highlightNode": check_nodes,
    "Page.printToPDF": _take_stream,
}
"""The checks of commands for sessions of pages, frames and workers."""
