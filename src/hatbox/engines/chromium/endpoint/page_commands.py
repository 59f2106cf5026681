"""Checks commands of a client to pages, frames and workers. Pure."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from hatbox.engines.chromium.clipboard_keys import is_paste
from hatbox.engines.chromium.endpoint.client_sessions import ClientSession
from hatbox.engines.chromium.endpoint.client_state import ClientState
from hatbox.engines.chromium.endpoint.command_params import decode_params
from hatbox.engines.chromium.endpoint.endpoint_urls import is_withheld, loadable_url
from hatbox.engines.chromium.endpoint.id_commands import ID_COMMANDS, check_nodes, expect_no_withheld_frame
from hatbox.engines.chromium.endpoint.messages import ClientMessage, CookiesChanged, MethodRefused
from hatbox.engines.chromium.endpoint.target_commands import (
    TARGET_COMMANDS,
    activate,
    without_protected_cookies,
)
from hatbox.urls.protected_pages import PROTECTED_HOST, PROTECTED_PATH

__all__ = ["NO_CONTEXT", "PAGE_COMMANDS", "guarded_script"]

NO_CONTEXT: Final = "Cannot find context with specified id"
"""Chromium's error for a script world that does not exist. Clients know it."""
_UNIQUE: Final = {"Runtime.callFunctionOn": "executionContextId", "Runtime.evaluate": "contextId"}
_RESERVED: Final = "hatbox"
_OF_ALL_OBJECTS: Final = re.compile(r"__(proto__|(define|lookup)[GS]etter__)|[^_]*|\$_")
_NAME_LENGTH: Final = 200
_MAX_WORLDS: Final = 1000
_MAX_BINDINGS: Final = 1000
_CTRL_OR_META: Final = 2 | 4  # bits of `modifiers`
_SHIFT: Final = 8
_INT: Final = 2**31 - 1
_METRICS: Final = frozenset({"displayFeature", "devicePosture"})
_LOCATION: Final = re.compile(r"^Content-Location: (?!cid:)(\S+)", re.MULTILINE)
_MAX_VIEWPORT: Final = 16384
_CLIPBOARD: Final = (
    "The clipboard is that of all identities, so it cannot be pasted in this endpoint. Use Input.insertText."
)
_WEB_PROTOCOLS: Final = ("http:", "https:", "about:", "data:", "blob:")
_IS_WEB: Final = " || ".join(f'location.protocol === "{each}"' for each in _WEB_PROTOCOLS)
_IS_EXTENSION: Final = "location.host.length === 36" + "".join(
    f' && location.host[{at}] === "-"' for at in (8, 13, 18, 23)
)
_HAS_EXTENSION_ORIGIN: Final = "origin?.length === 44" + "".join(f' && origin[{at}] === "-"' for at in (16, 21, 26, 31))
_IS_MANAGER: Final = f'location.hostname === "{PROTECTED_HOST}"' + "".join(
    f' && location.pathname[{at}] === "{each}"' for at, each in enumerate(PROTECTED_PATH)
)
_SCRIPT_GUARD: Final = f"if (({_IS_WEB}) && !({_IS_EXTENSION}) && !({_HAS_EXTENSION_ORIGIN}) && !({_IS_MANAGER}))"
"""The condition. `location` and its members cannot be redefined. A blank document has the origin of the one that has
opened it."""

_RESTORE_GLOBALS: Final = """ else { for (const name of Object.getOwnPropertyNames(globalThis)) {
  const own = Object.getOwnPropertyDescriptor(globalThis, name), above = Object.getPrototypeOf(globalThis);
  if ("value" in own && own.value === undefined && name in above)
    globalThis[name] = Reflect.get(above, name, globalThis);
} void 0; }"""
"""The names that a script declares with `var` or `function` exist also if the block does not run. Those of inherited
properties, such as `addEventListener`, get their values back. Those that did not exist stay undefined."""

_USE_STRICT: Final = re.compile(r"""(?:\s|//[^\n]*\n|/\*.*?\*/)*+(?:"use strict"|'use strict')\s*(?:;|\n)""", re.DOTALL)


def _integer(params: dict[str, Any], name: str) -> int:
    """An argument that Chromium reads as an integer; 0 without one. It takes 2.0 for 2."""
    given = params.get(name, 0)
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not -_INT <= given <= _INT or given % 1:
        raise MethodRefused(f"{name} must be an integer: {str(given)[:80]}")
    params |= {name: int(given)} if name in params else {}
    return int(given)


def _text(params: dict[str, Any], name: str) -> str:
    given = params.get(name, "")
    if not isinstance(given, str):
        raise MethodRefused(f"{name} must be a text: {str(given)[:80]}")
    return given


def _world_name(state: ClientState, name: object) -> None:
    """Add a name to the worlds of the client. The worlds of Hatbox and of extensions have other names."""
    if not isinstance(name, str) or name.lower().startswith(_RESERVED) or len(name) > _NAME_LENGTH:
        raise MethodRefused(f"worldName must be a text that does not start with {_RESERVED}: {str(name)[:80]}")
    if name and name not in state.own_worlds and len(state.own_worlds) >= _MAX_WORLDS:
        raise MethodRefused(f"This client has {_MAX_WORLDS} names of worlds. Use one of them.")
    state.own_worlds.add(name)


def _check_contexts(session: ClientSession, command: ClientMessage, params: dict[str, Any]) -> None:
    """The number of a context is that of another one after a navigation, so Chromium gets its unique id."""
    for key in ("contextId", "executionContextId"):
        if params.get(key) is not None and not session.has_context(params[key]):
            raise MethodRefused(NO_CONTEXT)
    if params.get("uniqueContextId") is not None and not session.has_unique_context(params["uniqueContextId"]):
        raise MethodRefused("uniqueContextId not found")
    number = params.pop(_UNIQUE.get(command.method, ""), None)
    if number is not None:
        params["uniqueContextId"] = session.unique_context(number)


def _watch_contexts(state: ClientState, session: ClientSession) -> None:
    """The next result may give the client the number of a context, also in the id of an object.

    Patchright never enables Runtime. Chromium reports the contexts to the endpoint before it sends the result.
    """
    if not session.reports_contexts:
        session.report_contexts(is_enabled=True)
        session.is_watched = True
        state.command("Runtime.enable", session_id=session.id)


def _evaluate(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    """Without a context, the script runs in the document that the page shows then."""
    params = decode_params(command.params)
    params.pop("replMode", None)  # it is compiled without: what is a text then may be a script with it
    _check_contexts(session, command, params)
    if not isinstance(params.get("expression"), str):
        raise MethodRefused("expression must be a text")
    if command.method != "Runtime.compileScript" and params.get("uniqueContextId") is not None:
        state.forward(command, params)
        return

    def compiled(failure: dict[str, Any] | None) -> None:
        if failure is None:
            if command.method != "Runtime.compileScript" and params.get("returnByValue") is not True:
                _watch_contexts(state, session)
            state.forward(command, params | {"expression": guarded_script(params["expression"])})
        else:
            result = {} if command.method == "Runtime.compileScript" else {"result": _thrown(failure)}
            state.answer(command, result | {"exceptionDetails": failure})

    state.compile(params["expression"], compiled)


def _thrown(failure: dict[str, Any]) -> dict[str, Any]:
    thrown: dict[str, Any] = failure.get("exception", {"type": "undefined"})
    return thrown


def _in_context(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    _check_contexts(session, command, params)
    if command.method == "DOM.resolveNode":
        _watch_contexts(state, session)
    state.forward(command, params)


def _expect_new_name(session: ClientSession, name: str) -> None:
    """Chromium sets it in all worlds of a page. Those of extensions must not lose a function by that."""
    if session.kind != "worker" and _OF_ALL_OBJECTS.fullmatch(name):
        raise MethodRefused(
            f"A binding without executionContextName must have a name with _, which no object of a page has: {name}"
        )


def _binding(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    name = params.get("name")
    if not isinstance(name, str) or name.lower().startswith(_RESERVED) or len(name) > _NAME_LENGTH:
        raise MethodRefused(f"name must be a text that does not start with {_RESERVED}: {str(name)[:80]}")
    _check_contexts(session, command, params)
    if params.get("executionContextName"):
        _world_name(state, params["executionContextName"])
    elif command.method == "Runtime.addBinding" and params.get("executionContextId") is None:
        _expect_new_name(session, name)
    if command.method == "Runtime.removeBinding":
        session.bindings.pop(name, None)
    elif params.get("executionContextId") is None:
        if len(session.bindings) >= _MAX_BINDINGS:
            raise MethodRefused(f"This session has {_MAX_BINDINGS} bindings. Remove one of them.")
        session.bindings[name] = params
    state.forward(command, params)


def _create_world(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    """As Runtime is enabled, the event of the new context comes before the result."""
    params = decode_params(command.params)
    _world_name(state, params.get("worldName", ""))
    _watch_contexts(state, session)
    state.forward(command, params)


def _run_script(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    if params.get("executionContextId") is not None:
        raise MethodRefused("executionContextId is not available here: use Runtime.evaluate.")
    state.forward(command, params)


def _enable_runtime(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    """Chromium reports the contexts when Runtime is enabled, so it is disabled before. That ends bindings."""
    was_watched, is_enabled = session.is_watched, command.method == "Runtime.enable"
    session.report_contexts(is_enabled=is_enabled)
    if was_watched and is_enabled:
        state.command("Runtime.disable", session_id=session.id)
        for binding in session.bindings.values():
            state.command("Runtime.addBinding", binding, session.id)
    elif not is_enabled:
        session.bindings.clear()
    state.forward(command)


def _add_script(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    if not isinstance(params.get("source"), str):
        raise MethodRefused("source must be a text")
    _world_name(state, params.get("worldName", ""))
    _forward_guarded(state, command, params, "source")


def _reload(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    if isinstance(params.get("scriptToEvaluateOnLoad"), str):
        _forward_guarded(state, command, params, "scriptToEvaluateOnLoad")
    else:
        state.forward(command, params)


def _forward_guarded(state: ClientState, command: ClientMessage, params: dict[str, Any], name: str) -> None:
    """Forward a command with a script for new documents. As in Chromium, they report a syntax error."""

    def compiled(failure: dict[str, Any] | None) -> None:
        script = guarded_script(params[name]) if failure is None else _failing_script(failure)
        state.forward(command, params | {name: script})

    state.compile(params[name], compiled)


def _navigate(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    url = loadable_url(str(params.get("url", "")))
    if url is None:
        shown = str(params.get("url"))[:200]
        raise MethodRefused(f"Cannot navigate to {shown}: only http, https, data, blob and about:blank.")
    state.outputs += state.activity.loads(session.page_id, url)
    state.forward(command, params | {"url": url})


def _history(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    def check(result: dict[str, Any]) -> dict[str, Any]:
        blank = {"url": "about:blank", "userTypedURL": "about:blank", "title": ""}
        shown = [each | blank if is_withheld(each["url"]) else each for each in result["entries"]]
        session.entries = {each["id"] for each in result["entries"] if not is_withheld(each["url"])}
        return result | {"entries": shown}

    state.forward(command, {}, check)


def _go_to_entry(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    if params.get("entryId") not in session.entries:
        raise MethodRefused("No entry with passed id")
    state.forward(command, params)


def _handle_dialog(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    if session.page_id not in state.targets.opened:
        raise MethodRefused("No dialog is showing in a page that this client has opened.")
    state.forward(command)


def _intercept_file_chooser(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    """In a page of the user, the file dialog must open."""
    if session.page_id in state.targets.opened:
        state.forward(command)
    else:
        state.answer(command, {})


def _drag(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    data = params.get("data")
    if not isinstance(data, dict):
        raise MethodRefused("data must be an object")
    state.forward(command, params | {"data": data | {"files": state.files.uploaded(data.get("files", []))}})


def _set_files(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    checked = params | {"files": state.files.uploaded(params.get("files"))}
    check_nodes(state, session, msgspec.structs.replace(command, params=msgspec.Raw(msgspec.json.encode(checked))))


def _key(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    modifiers = _integer(params, "modifiers")
    codes = [_integer(params, name) for name in ("windowsVirtualKeyCode", "nativeVirtualKeyCode")]
    keys = [*codes, *(_text(params, name) for name in ("code", "key"))]
    pastes = is_paste(keys, has_control=bool(modifiers & _CTRL_OR_META), has_shift=bool(modifiers & _SHIFT))
    commands = params.get("commands", [])
    if not isinstance(commands, list) or not all(isinstance(each, str) for each in commands):
        raise MethodRefused("commands must be a list of texts")
    if pastes or any(text in each.lower() for each in commands for text in ("paste", "yank")):
        raise MethodRefused(_CLIPBOARD)
    state.forward(command, params)


def _mouse(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    """On Linux, the middle button pastes what the user has selected anywhere."""
    params = decode_params(command.params)
    if _text(params, "button") == "middle":
        raise MethodRefused(f"The middle button is off. {_CLIPBOARD}")
    state.forward(command, params)


def _screenshot(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    if params.get("fromSurface", True) is not True:
        raise MethodRefused("fromSurface must be true: other windows may cover the page.")
    state.forward(command, params)


def _snapshot(state: ClientState, session: ClientSession, command: ClientMessage) -> None:
    """Chromium writes the documents of all frames into it. A frame may come and go meanwhile, so its URL counts too."""

    def check(result: dict[str, Any]) -> dict[str, Any]:
        expect_no_withheld_frame(state, session, command)
        if any(map(is_withheld, _LOCATION.findall(result["data"]))):
            raise MethodRefused("The page contains a frame that is withheld.")
        return result

    expect_no_withheld_frame(state, session, command)
    state.forward(command, None, check)


def _device_metrics(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    params = decode_params(command.params)
    sizes = [params.get(name) or 0 for name in ("width", "height", "screenWidth", "screenHeight")]
    if any(not isinstance(each, int) or not 0 <= each <= _MAX_VIEWPORT for each in sizes):
        raise MethodRefused(f"width and height must be integers from 0 to {_MAX_VIEWPORT}")
    state.forward(command, {key: given for key, given in params.items() if key not in _METRICS})


def _read_cookies(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    state.forward(command, on_result=without_protected_cookies)


def _change_cookies(state: ClientState, _: ClientSession, command: ClientMessage) -> None:
    state.forward(command, then=(CookiesChanged(),))


PAGE_COMMANDS: Final = (
    TARGET_COMMANDS
    | ID_COMMANDS
    | {
        "DOM.resolveNode": _in_context,
        "DOM.setFileInputFiles": _set_files,
        "Emulation.setDeviceMetricsOverride": _device_metrics,
        "Input.dispatchDragEvent": _drag,
        "Input.dispatchKeyEvent": _key,
        "Input.dispatchMouseEvent": _mouse,
        "Network.clearBrowserCookies": _change_cookies,
        "Network.deleteCookies": _change_cookies,
        "Network.getAllCookies": _read_cookies,
        "Network.getCookies": _read_cookies,
        "Network.setCookie": _change_cookies,
        "Network.setCookies": _change_cookies,
        "Page.addScriptToEvaluateOnNewDocument": _add_script,
        "Page.bringToFront": activate,
        "Page.captureScreenshot": _screenshot,
        "Page.captureSnapshot": _snapshot,
        "Page.createIsolatedWorld": _create_world,
        "Page.getNavigationHistory": _history,
        "Page.handleJavaScriptDialog": _handle_dialog,
        "Page.navigate": _navigate,
        "Page.navigateToHistoryEntry": _go_to_entry,
        "Page.reload": _reload,
        "Page.setInterceptFileChooserDialog": _intercept_file_chooser,
        "Runtime.addBinding": _binding,
        "Runtime.callFunctionOn": _in_context,
        "Runtime.compileScript": _evaluate,
        "Runtime.disable": _enable_runtime,
        "Runtime.enable": _enable_runtime,
        "Runtime.evaluate": _evaluate,
        "Runtime.globalLexicalScopeNames": _in_context,
        "Runtime.removeBinding": _binding,
        "Runtime.runScript": _run_script,
    }
)
"""The checks of commands for sessions of pages, frames, workers and tabs."""


def guarded_script(source: str) -> str:
    """The script with its guard. The source must have been compiled alone.

    In documents that clients do not see, it must not even be instantiated: a function declaration would replace a
    function that the document calls. So the script is a block that a condition decides, and a text that is no
    script could end the block.
    """
    directive = '"use strict"; ' if _USE_STRICT.match(source) else ""
    return f"{directive}{_SCRIPT_GUARD} {{{source}\n}}{_RESTORE_GLOBALS}"


def _failing_script(failure: dict[str, Any]) -> str:
    """A script that throws the syntax error of another one. `failure` are its exceptionDetails."""
    description = str(failure.get("exception", {}).get("description", ""))
    message = description.partition("\n")[0].removeprefix("SyntaxError: ")
    return f"{_SCRIPT_GUARD} throw new SyntaxError({json.dumps(message)});"
