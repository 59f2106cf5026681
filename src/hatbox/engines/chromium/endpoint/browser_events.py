"""Checks the events of Chromium for one client: which of them it receives, and what the endpoint does. Pure."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from hatbox.engines.chromium.endpoint.client_sessions import MAX_SESSIONS, ClientSession, PausedRequest
from hatbox.engines.chromium.endpoint.client_state import ClientState
from hatbox.engines.chromium.endpoint.client_targets import matches
from hatbox.engines.chromium.endpoint.endpoint_urls import is_withheld
from hatbox.engines.chromium.endpoint.messages import BrowserMessage, EndConnection, PageDriven
from hatbox.engines.chromium.endpoint.remote_objects import EventObjects

__all__ = ["REQUEST_SECONDS", "RESUME_SECONDS", "WITH_COOKIES", "is_delivered", "on_target_event", "update_visibility"]

RESUME_SECONDS: Final = 2.0
"""After this time, a new page that the client has stopped is resumed."""
REQUEST_SECONDS: Final = 30.0
"""After this time, a paused request of a page that the client did not open is continued."""

_DOMAINS: Final = frozenset(
    {
        "Accessibility",
        "Audits",
        "CSS",
        "DOM",
        "DOMStorage",
        "Emulation",
        "Fetch",
        "Input",
        "Inspector",
        "Log",
        "Network",
        "Overlay",
        "Page",
        "Performance",
        "Runtime",
        "Security",
        "WebMCP",
    }
)
_BINDING_CALLED: Final = "Runtime.bindingCalled"
"""The only event of this domain that clients receive without Runtime.enable."""
_PAUSED: Final = frozenset({"Fetch.requestPaused", "Fetch.authRequired"})
_DIALOGS: Final = frozenset({"Page.javascriptDialogOpening", "Page.javascriptDialogClosed"})
_LIFECYCLE: Final = frozenset(
    {"Target.targetCreated", "Target.targetInfoChanged", "Target.targetDestroyed", "Target.targetCrashed"}
)
WITH_COOKIES: Final = frozenset(
    {
        "Network.requestWillBeSentExtraInfo",
        "Network.responseReceived",
        "Network.responseReceivedExtraInfo",
        "Network.webSocketHandshakeResponseReceived",
        "Network.webSocketWillSendHandshakeRequest",
    }
)
"""The events that have the headers of requests and responses."""


class _Created(msgspec.Struct):
    context: dict[str, Any]


class _OfContext(EventObjects):
    executionContextId: int | None = None  # noqa: N815 - the name in CDP


class _Thrown(msgspec.Struct):
    exceptionDetails: _OfContext = msgspec.field(default_factory=_OfContext)  # noqa: N815 - the name in CDP


class _Request(msgspec.Struct):
    url: str


class _Dragged(msgspec.Struct):
    data: dict[str, Any]


class _Paused(msgspec.Struct):
    requestId: str  # noqa: N815 - the name in CDP
    request: _Request


def is_delivered(state: ClientState, session: ClientSession, event: BrowserMessage, now: float) -> bool:
    """Whether the client receives an event of a page, frame or worker."""
    name = event.method
    domain = name.partition(".")[0]
    if domain not in _DOMAINS:
        return False
    if domain == "Runtime":
        is_own = _is_in_own_world(state, session, event)
        return is_own and (not session.is_watched or name == _BINDING_CALLED)
    if name in _DIALOGS:
        return session.page_id in state.targets.opened
    if name == "Input.dragIntercepted" and state.targets.has_withheld_frame(session.page_id):
        _emit_empty_drag(state, session, event)
        return False
    if name in _PAUSED:
        return _is_own_request(state, session, event, now)
    return True


def _emit_empty_drag(state: ClientState, session: ClientSession, event: BrowserMessage) -> None:
    """What is dragged may be text of a frame of an extension: Chromium does not report the frame."""
    data = msgspec.json.decode(event.params, type=_Dragged).data
    mask = data.get("dragOperationsMask", 1)
    state.emit(session.id, event.method, {"data": {"items": [], "files": [], "dragOperationsMask": mask}})


def _is_in_own_world(state: ClientState, session: ClientSession, event: BrowserMessage) -> bool:
    """Worlds of Hatbox and of content scripts have rights that a page does not have."""
    name = event.method
    if name == "Runtime.executionContextCreated":
        return session.add_context(msgspec.json.decode(event.params, type=_Created).context, state.own_worlds)
    if name == "Runtime.executionContextsCleared":
        session.clear_contexts()
        return True
    if name == "Runtime.exceptionThrown":
        decoded = msgspec.json.decode(event.params, type=_Thrown).exceptionDetails
    else:
        decoded = msgspec.json.decode(event.params, type=_OfContext)
    context_id = decoded.executionContextId
    is_own = context_id is None or session.has_context(context_id)
    if session.is_watched and any(decoded.ids()):  # the client does not know them, and would not release them
        state.command("Runtime.releaseObjectGroup", {"objectGroup": "console"}, session.id)
    elif is_own and context_id is not None:
        session.add_objects(decoded.ids())
    if name == "Runtime.executionContextDestroyed" and context_id is not None:
        session.remove_context(context_id)
    return is_own


def _is_own_request(state: ClientState, session: ClientSession, event: BrowserMessage, now: float) -> bool:
    """The engine answers requests for files of extensions. A client could answer them with scripts of its own.

    Only the URL decides: a web page chooses the body, and most of the URL and the referrer.
    """
    paused = msgspec.json.decode(event.params, type=_Paused)
    until = None if session.page_id in state.targets.opened else now + REQUEST_SECONDS
    request = PausedRequest(event.method != "Fetch.requestPaused", until)
    if is_withheld(paused.request.url):
        state.command(*request.resume(paused.requestId), session.id)
        return False
    session.add_request(paused.requestId, request)
    return True


# ------------------------------------------------------------------------------------------------------------- targets


def on_target_event(state: ClientState, session_id: str, event: BrowserMessage, now: float) -> None:
    """An event of the domain Target."""
    name = event.method
    if name in _LIFECYCLE:
        if not session_id:  # the endpoint itself discovers targets, in this session only
            _on_lifecycle(state, name, msgspec.json.decode(event.params))
        return
    session = state.sessions.get(session_id)
    if name == "Target.attachedToTarget":
        _on_attached(state, session_id, session, msgspec.json.decode(event.params), now)
    elif name == "Target.detachedFromTarget" and session is not None:
        _on_detached(state, session, msgspec.json.decode(event.params))


def _on_lifecycle(state: ClientState, name: str, params: dict[str, Any]) -> None:
    if "targetInfo" in params:
        info = params["targetInfo"]
        was_visible = state.targets.is_visible(info["targetId"])
        if state.targets.observe(info):
            was_announced = info["targetId"] in state.targets.announced
            update_visibility(state, info["targetId"])
            if was_visible != state.targets.is_visible(info["targetId"]):
                for related in state.targets.related(info["targetId"])[1:]:
                    update_visibility(state, related)
            if was_announced and state.targets.is_visible(info["targetId"]):
                state.outputs += state.activity.changed(info)
                shown = {"targetInfo": state.targets.described(info)}
                _emit_to_discoverers(state, info["targetId"], "Target.targetInfoChanged", shown)
        return
    target_id = params["targetId"]
    if target_id in state.targets.announced:
        _emit_to_discoverers(state, target_id, name, params)
    if name == "Target.targetDestroyed":
        state.targets.remove(target_id)
        state.activity.removed(target_id)
        for withheld in (state.withheld, state.tabs):
            withheld.pop(target_id, None)


def _announce(state: ClientState, target_id: str) -> None:
    for root in state.sessions.roots():
        if root.is_discovering and matches(root.discovers, state.targets.type_of(target_id)):
            state.emit(root.id, "Target.targetCreated", {"targetInfo": state.targets.announce(target_id)})


def _emit_to_discoverers(state: ClientState, target_id: str, name: str, params: dict[str, Any]) -> None:
    for root in state.sessions.roots():
        if root.is_discovering and matches(root.discovers, state.targets.type_of(target_id)):
            state.emit(root.id, name, params)


def _on_attached(
    state: ClientState, parent_id: str, parent: ClientSession | None, params: dict[str, Any], now: float
) -> None:
    session_id, info = params["sessionId"], params["targetInfo"]
    is_own = state.targets.observe(info)
    if is_own and parent is not None and parent.kind not in ("root", "tab"):
        state.targets.allow(info["targetId"])
    is_page = info["targetId"] == state.page_id and not parent_id and state.is_page(info["targetId"])
    if info["type"] == "browser" and parent is not None and state.browser_attaches:
        state.browser_attaches -= 1
        state.sessions[session_id] = ClientSession(session_id, "root", parent_id=parent.id)
        state.emit(parent.id, "Target.attachedToTarget", params)
        return
    if is_page and is_own and not state.page_session:
        _connect_page(state, session_id, info["targetId"])
        state.outputs += state.activity.attached(info)
        return
    if parent is None or not is_own or not state.targets.is_visible(info["targetId"]) or _is_full(state):
        _resume_and_detach(state, parent_id, session_id, is_waiting=params["waitingForDebugger"])
        if (
            parent is not None
            and is_own
            and parent.kind == "tab"
            and not state.targets.is_prerendered(info["targetId"])
        ):
            _withhold_tab(state, info["targetId"], parent)
        elif parent is not None and is_own:
            state.withheld[info["targetId"]] = parent.id
        return
    session = state.sessions.attach(session_id, parent, info, state.targets.page_of(info["targetId"]))
    state.outputs.append(PageDriven(session.page_id))
    if params["waitingForDebugger"]:
        session.waits_until = now + RESUME_SECONDS
    params["targetInfo"] = state.targets.announce(info["targetId"])
    state.outputs += state.activity.attached(info)
    state.emit(parent.id, "Target.attachedToTarget", params)


def _is_full(state: ClientState) -> bool:
    return len(state.sessions) >= MAX_SESSIONS


def _connect_page(state: ClientState, session_id: str, target_id: str) -> None:
    state.page_session = session_id
    state.sessions[session_id] = ClientSession(session_id, "devtools", target_id)
    state.targets.announced.add(target_id)
    state.outputs.append(PageDriven(target_id))


def _resume_and_detach(state: ClientState, parent_id: str, session_id: str, *, is_waiting: bool) -> None:
    if is_waiting:
        state.command("Runtime.runIfWaitingForDebugger", session_id=session_id)
    state.command("Target.detachFromTarget", {"sessionId": session_id}, parent_id)


def _on_detached(state: ClientState, parent: ClientSession, params: dict[str, Any]) -> None:
    session = state.sessions.get(params["sessionId"])
    if session is None:
        return
    state.emit(parent.id, "Target.detachedFromTarget", {"sessionId": session.id, "targetId": session.target_id})
    state.end_session(session.id)


def update_visibility(state: ClientState, target_id: str) -> None:
    """Withhold a target from the client, or attach the client again, after its URL or a request has changed."""
    if state.targets.is_visible(target_id):
        _show(state, target_id)
        return
    for session in state.sessions.of_target(target_id):
        _withhold(state, session)
    if target_id in state.targets.announced:
        _emit_to_discoverers(state, target_id, "Target.targetDestroyed", {"targetId": target_id})
        state.targets.announced.discard(target_id)


def _show(state: ClientState, target_id: str) -> None:
    if any(tab == target_id and not state.targets.is_visible(page) for page, tab in state.tabs.items()):
        return  # the tab of a withheld page
    if target_id not in state.targets.announced:
        _announce(state, target_id)
    parent_id = state.withheld.pop(target_id, None)
    if parent_id is not None and parent_id in state.sessions:
        state.command("Target.attachToTarget", {"targetId": target_id, "flatten": True}, parent_id)
    if (tab_id := state.tabs.pop(target_id, None)) is not None:
        update_visibility(state, tab_id)


def _withhold(state: ClientState, session: ClientSession) -> None:
    """Detach the client from a target. Chromium removes its scripts and overrides with the session."""
    if session.id == state.page_session:
        state.outputs.append(EndConnection("the page was closed, or is withheld from programs"))
        return
    if session.id not in state.sessions:
        return
    parent = state.sessions.get(session.parent_id)
    _resume_and_detach(state, session.parent_id, session.id, is_waiting=session.waits_until is not None)
    state.emit(session.parent_id, "Target.detachedFromTarget", {"sessionId": session.id, "targetId": session.target_id})
    state.end_session(session.id)
    if parent is not None and parent.kind == "tab":
        _withhold_tab(state, session.target_id, parent)
    else:
        state.withheld[session.target_id] = session.parent_id


def _withhold_tab(state: ClientState, page_id: str, tab: ClientSession) -> None:
    """Detach the client from the tab of a withheld page. Attached again, it attaches to its page."""
    state.tabs[page_id] = tab.target_id
    _withhold(state, tab)
