"""Checks commands of a client to the browser: its targets, windows, permissions and browser context. Pure."""

from __future__ import annotations

from typing import Any, Final

from hatbox.engines.chromium.endpoint.client_sessions import MAX_SESSIONS, ClientSession
from hatbox.engines.chromium.endpoint.client_state import ClientState
from hatbox.engines.chromium.endpoint.command_params import decode_params
from hatbox.engines.chromium.endpoint.endpoint_urls import loadable_url
from hatbox.engines.chromium.endpoint.messages import (
    ClientMessage,
    EndConnection,
    MethodRefused,
    PageCreation,
    PageDriven,
)
from hatbox.engines.chromium.endpoint.target_commands import (
    AUTO_ATTACH,
    TARGET_COMMANDS,
    ignore,
    in_context,
    not_found,
    only,
    target_of,
)

__all__ = ["MAX_PAGES", "ROOT_COMMANDS"]

MAX_PAGES: Final = 200
"""The open pages that a client and its pages have opened, until it can open no more."""
_CREATE: Final = frozenset({"url", "left", "top", "width", "height", "windowState", "newWindow", "background", "focus"})
_IGNORED: Final = frozenset({"enableBeginFrameControl"})  # Chromium ignores it too; nodriver sends it
_IN_FRONT: Final = _CREATE - {"url", "background"}
_WINDOW: Final = frozenset({"windowId", "bounds", "width", "height"})
_PERMISSION: Final = frozenset({"permissions", "permission", "setting", "origin", "embeddedOrigin"})
_PERMISSIONS: Final = frozenset(
    {
        "backgroundSync",
        "durableStorage",
        "geolocation",
        "idleDetection",
        "midi",
        "notifications",
        "sensors",
        "storageAccess",
        "topLevelStorageAccess",
        "wakeLockScreen",
        "wakeLockSystem",
    }
)
_DESCRIPTORS: Final = _PERMISSIONS | {
    "accelerometer",
    "ambient-light-sensor",
    "background-sync",
    "gyroscope",
    "idle-detection",
    "magnetometer",
    "persistent-storage",
    "screen-wake-lock",
    "storage-access",
    "top-level-storage-access",
}


def _create_target(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    given = decode_params(command.params)
    params = in_context(state, given, _CREATE)
    url = loadable_url(str(params.get("url") or "about:blank"))
    if url is None:
        raise MethodRefused(f"Cannot open {str(params['url'])[:200]}: only http, https, data, blob and about:blank.")
    if state.targets.is_limited:
        raise MethodRefused("A person is using this identity, to sign in for example. Try again later.")
    if len(state.targets.opened) >= MAX_PAGES:
        raise MethodRefused(f"This client has opened {MAX_PAGES} pages. Close one first.")
    if unknown := [name for name in given if given[name] and name not in params and name not in _IGNORED]:
        raise MethodRefused(f"Target.createTarget does not support {unknown[0][:80]} in this endpoint.")

    def opened(result: dict[str, Any]) -> dict[str, Any]:
        target_id = result["targetId"]
        state.targets.opened.add(target_id)
        state.targets.announced.add(target_id)
        state.outputs.append(PageDriven(target_id, is_opened=True))
        state.outputs += state.activity.loads(target_id, url)
        return result

    if state.has_windows:  # a person may be typing: the page gets neither the focus nor a window of its own
        params = {name: params[name] for name in params if name not in _IN_FRONT} | {"background": True}
    state.forward(command, params | {"url": url}, opened, (PageCreation(False),))
    state.outputs.insert(len(state.outputs) - 1, PageCreation(True))


def _get_targets(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    wanted = _filter_of(params)

    def check(result: dict[str, Any]) -> dict[str, Any]:
        for info in result["targetInfos"]:
            state.targets.observe(info)
        return {"targetInfos": [state.targets.announce(each) for each in state.targets.visible(wanted)]}

    state.forward(command, only(params, {"filter"}), check)


def _discover(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    """The endpoint itself discovers targets from the start."""
    params = decode_params(command.params)
    session.discovers, session.is_discovering = _filter_of(params), bool(params.get("discover"))
    if session.is_discovering:
        for target_id in state.targets.visible(session.discovers):
            state.emit(session.id, "Target.targetCreated", {"targetInfo": state.targets.announce(target_id)})
    state.answer(command, {})


def _filter_of(params: dict[str, Any]) -> list[dict[str, Any]] | None:
    given = params.get("filter")
    if given is None:
        return None
    if not isinstance(given, list) or len(given) > MAX_SESSIONS or not all(isinstance(each, dict) for each in given):
        raise MethodRefused("filter must be a list of objects")
    return given


def _attach(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    if len(state.sessions) >= MAX_SESSIONS:
        raise MethodRefused(f"{MAX_SESSIONS} sessions are open. Detach from a target first.")
    target_id = target_of(state, decode_params(command.params), is_tab_allowed=True)

    def check(result: dict[str, Any]) -> dict[str, Any]:
        if result["sessionId"] not in state.sessions:  # withheld meanwhile
            raise not_found("target", target_id)
        return result

    state.forward(command, {"targetId": target_id, "flatten": True}, check)


def _attach_to_browser(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    if len(state.sessions) + state.browser_attaches >= MAX_SESSIONS:
        raise MethodRefused(f"{MAX_SESSIONS} sessions are open. Detach from a target first.")
    state.browser_attaches += 1
    state.forward(command, {})


def _with_target(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    target = {"targetId": target_of(state, params)}
    others = AUTO_ATTACH if command.method == "Target.autoAttachRelated" else frozenset[str]()
    state.forward(command, only(params, others - {"autoAttach"}) | target)


def _with_window(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    if not isinstance(params.get("windowId"), int) or params["windowId"] not in state.windows:
        raise not_found("window", params.get("windowId"))
    state.forward(command, only(params, _WINDOW))


def _permissions(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    """Camera, clipboard, screen and local network are of the user and of other identities too."""
    params = in_context(state, decode_params(command.params), _PERMISSION)
    names = params.get("permissions", [])
    allowed = _PERMISSIONS
    if command.method == "Browser.setPermission" and params.get("setting") == "granted":
        permission = params.get("permission")
        names, allowed = [permission.get("name") if isinstance(permission, dict) else permission], _DESCRIPTORS
    refused = [each for each in names if each not in allowed] if isinstance(names, list) else [names]
    if refused:
        listed = ", ".join(sorted(allowed))
        raise MethodRefused(f"Permission cannot be granted here: {str(refused[0])[:80]}. Allowed: {listed}")
    state.forward(command, params)


def _contexts(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    state.answer(command, {"browserContextIds": [], "defaultBrowserContextId": state.targets.context_id})


def _histograms(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    """They count what all identities do. DrissionPage does not connect without them."""
    state.answer(command, {"histograms": []})


def _close(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    """The browser is that of all identities. What the client sees of it ends."""
    state.answer(command, {})
    state.outputs.append(EndConnection("closed by the client", is_failure=False))


ROOT_COMMANDS: Final = TARGET_COMMANDS | {
    "Browser.cancelDownload": ignore,
    "Browser.close": _close,
    "Browser.getHistograms": _histograms,
    "Browser.getWindowBounds": _with_window,
    "Browser.grantPermissions": _permissions,
    "Browser.resetPermissions": _permissions,
    "Browser.setContentsSize": _with_window,
    "Browser.setPermission": _permissions,
    "Browser.setWindowBounds": _with_window,
    "Target.attachToBrowserTarget": _attach_to_browser,
    "Target.attachToTarget": _attach,
    "Target.autoAttachRelated": _with_target,
    "Target.createTarget": _create_target,
    "Target.getBrowserContexts": _contexts,
    "Target.getTargets": _get_targets,
    "Target.setDiscoverTargets": _discover,
}
"""The checks of commands for sessions of the browser."""
