"""Checks commands of a client that any session has: its targets and sessions, and the cookies of the identity. Pure."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, Final

from hatbox.engines.chromium.endpoint.client_sessions import ClientSession
from hatbox.engines.chromium.endpoint.client_state import ClientState
from hatbox.engines.chromium.endpoint.command_params import decode_params
from hatbox.engines.chromium.endpoint.endpoint_urls import is_protected_cookie
from hatbox.engines.chromium.endpoint.messages import (
    ClientMessage,
    CookiesChanged,
    MethodRefused,
    error_message,
)

__all__ = [
    "AUTO_ATTACH",
    "TARGET_COMMANDS",
    "activate",
    "ignore",
    "in_context",
    "not_found",
    "only",
    "target_of",
    "without_protected_cookies",
]

AUTO_ATTACH: Final = frozenset({"autoAttach", "waitForDebuggerOnStart", "filter"})
"""The arguments of Target.setAutoAttach. The endpoint adds `flatten`."""
_COOKIES: Final = {"Storage.setCookies", "Storage.clearCookies"}


def not_found(what: str, value: object) -> MethodRefused:
    """The error for an id that the client was not given."""
    shown = repr(value)[:80]
    return MethodRefused(f"No {what} with given id found: {shown}. It is not one of this endpoint's identity.")


def only(params: dict[str, Any], names: Set[str]) -> dict[str, Any]:
    """The arguments with these names."""
    return {name: given for name, given in params.items() if name in names}


def in_context(state: ClientState, params: dict[str, Any], names: Set[str]) -> dict[str, Any]:
    """These arguments, and the browser context of the identity."""
    given = params.get("browserContextId", state.targets.context_id)
    if given != state.targets.context_id:
        raise not_found("browser context", given)
    return only(params, names) | {"browserContextId": state.targets.context_id}


def target_of(state: ClientState, params: dict[str, Any], *, is_tab_allowed: bool = False) -> str:
    """The target that the arguments name. Raises MethodRefused if the client must not use it.

    A tab may contain a withheld page, so it can only be attached and described.
    """
    target_id = params.get("targetId")
    if not state.targets.may_use(target_id):
        raise not_found("target", target_id)
    if state.targets.type_of(str(target_id)) == "tab" and not is_tab_allowed:
        raise MethodRefused("A tab cannot be used here. Name its page.")
    return str(target_id)


# --------------------------------------------------------------------------------------------------------- any session


def _get_target_info(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    params = {"targetId": target_of(state, params, is_tab_allowed=True)} if "targetId" in params else {}

    def check(result: dict[str, Any]) -> dict[str, Any]:
        info = result["targetInfo"]
        is_browser = session.kind == "root" and not params and info["type"] == "browser"
        is_shown = state.targets.observe(info) and state.targets.is_visible(info["targetId"])
        if not is_browser and not is_shown:
            raise not_found("target", params.get("targetId", ""))
        return {"targetInfo": state.targets.described(info)}

    state.forward(command, params, check)


def _set_auto_attach(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    state.forward(command, only(decode_params(command.params), AUTO_ATTACH) | {"flatten": True})


def _detach(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    detached = state.sessions.get(str(params.get("sessionId") or ""))
    if detached is None or not detached.id or detached.parent_id != session.id:
        raise not_found("session", params.get("sessionId"))
    if detached.waits_until is not None:  # otherwise the target would stay stopped
        state.command("Runtime.runIfWaitingForDebugger", session_id=detached.id)
    state.forward(command, {"sessionId": detached.id})


def _window_of(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    is_named = session.kind == "root" or "targetId" in params
    params = {"targetId": target_of(state, params)} if is_named else {}

    def remember(result: dict[str, Any]) -> dict[str, Any]:
        state.windows.add(result["windowId"])
        return result

    state.forward(command, params, remember)


def _resume(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    session.waits_until = None
    state.forward(command, {})


def _set_download_behavior(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    """Chromium would cancel later downloads of the identity when the client leaves, so the engine saves them."""
    params = decode_params(command.params)
    in_context(state, params, frozenset())
    state.files.set_download_behavior(params)
    session.reports_downloads = params.get("eventsEnabled") is True
    state.answer(command, {})


def ignore(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    """A DevTools window has no debugger, which would reach all script worlds."""
    state.answer(command, {"debuggerId": "0.0"} if command.method == "Debugger.enable" else {})


def activate(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    """A page that comes to the front gets the keys of a person who is typing: with windows, it stays where it is."""
    params = decode_params(command.params)
    if command.method == "Target.activateTarget":
        params = {"targetId": target_of(state, params)}
    if state.has_windows:
        state.answer(command, {})
    else:
        state.forward(command, params)


def _close_target(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    """DrissionPage and nodriver close a page in a session of the page."""
    state.forward(command, {"targetId": target_of(state, decode_params(command.params))})


def _cookies(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    """A page session would use the cookies of the default context, so the command goes to the browser."""
    params = in_context(state, decode_params(command.params), {"cookies"})

    def respond(result: dict[str, Any] | None) -> None:
        if result is None:
            refused = MethodRefused(f"{command.method} failed. Are the fields of each cookie valid?")
            state.outputs.append(error_message(command.id, command.sessionId, refused))
            return
        state.answer(command, without_protected_cookies(result))
        if command.method in _COOKIES:
            state.outputs.append(CookiesChanged())

    state.command(command.method, params, on_response=respond)


def without_protected_cookies(result: dict[str, Any]) -> dict[str, Any]:
    """The result of a command that lists cookies, without that of the manager page."""
    if "cookies" not in result:
        return result
    shown = [each for each in result["cookies"] if not is_protected_cookie(each["name"], each["domain"].lstrip("."))]
    return result | {"cookies": shown}


TARGET_COMMANDS: Final = {
    "Browser.getWindowForTarget": _window_of,
    "Browser.setDownloadBehavior": _set_download_behavior,
    "Debugger.disable": ignore,
    "Debugger.enable": ignore,
    "Debugger.setAsyncCallStackDepth": ignore,
    "Debugger.setBlackboxExecutionContexts": ignore,
    "Debugger.setBlackboxPatterns": ignore,
    "Debugger.setBreakpointsActive": ignore,
    "Debugger.setPauseOnExceptions": ignore,
    "Debugger.setSkipAllPauses": ignore,
    "Page.setDownloadBehavior": _set_download_behavior,
    "Runtime.runIfWaitingForDebugger": _resume,
    "Storage.clearCookies": _cookies,
    "Storage.getCookies": _cookies,
    "Storage.setCookies": _cookies,
    "Target.activateTarget": activate,
    "Target.closeTarget": _close_target,
    "Target.detachFromTarget": _detach,
    "Target.getTargetInfo": _get_target_info,
    "Target.setAutoAttach": _set_auto_attach,
}
"""The checks of commands for any session."""
