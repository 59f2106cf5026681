"""The filter between one client and Chromium: every message of both sides goes through it. Pure: performs no I/O.

A client sees the targets of one browser context. Methods that methods.json does not list are refused, and so are ids of
targets, sessions, windows and execution contexts that the client was not given.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from hatbox.engines.chromium.endpoint.browser_events import (
    WITH_COOKIES,
    is_delivered,
    on_target_event,
    update_visibility,
)
from hatbox.engines.chromium.endpoint.client_files import ClientFiles
from hatbox.engines.chromium.endpoint.client_sessions import ClientSession
from hatbox.engines.chromium.endpoint.client_state import ClientState, PendingCommand
from hatbox.engines.chromium.endpoint.command_params import decode_params, expect_decodable
from hatbox.engines.chromium.endpoint.download_reports import DownloadReport
from hatbox.engines.chromium.endpoint.manager_page_secrets import without_manager_cookie
from hatbox.engines.chromium.endpoint.messages import (
    BrowserMessage,
    ClientMessage,
    EndConnection,
    MethodRefused,
    Output,
    encode_message,
    error_message,
    session_not_found,
)
from hatbox.engines.chromium.endpoint.method_rules import action_of
from hatbox.engines.chromium.endpoint.page_commands import NO_CONTEXT, PAGE_COMMANDS
from hatbox.engines.chromium.endpoint.remote_objects import may_name_objects, named_objects, objects_in
from hatbox.engines.chromium.endpoint.root_commands import ROOT_COMMANDS
from hatbox.javascript.text import well_formed
from hatbox.urls.protected_pages import PROTECTED_COOKIE

__all__ = ["MAX_MESSAGE", "ClientFilter", "decodable", "leading_id"]

MAX_MESSAGE: Final = 64 * 2**20
"""The longest result or event that a client receives."""
_MAX_QUEUED: Final = 1000
_INVALID: Final = -32602
_NO_UNIQUE_CONTEXT: Final = b"uniqueContextId not found"
_MESSAGES: Final = {
    "Target.createBrowserContext": (
        "This endpoint has one browser context, that of its identity. "
        "Use the default one: browser.contexts[0] in Playwright."
    ),
}

_decode_client: Final = msgspec.json.Decoder(ClientMessage).decode
_decode_browser: Final = msgspec.json.Decoder(BrowserMessage).decode
_LEADING_ID: Final = re.compile(r'(\s*\{\s*"id"\s*:\s*)(\d{1,15})(?=\s*[,}])')
_MAX_ESCAPES: Final = 1_000_000  # of surrogates, paired ones included
_HIGH: Final = r"\\u[dD][89abAB][0-9a-fA-F]{2}"
_LOW: Final = r"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
# Both alternatives start with the same characters, so that the search for them is fast.
_LONE: Final = re.compile(rf"\\u[dD](?:[89abAB][0-9a-fA-F]{{2}}(?!{_LOW})|(?<!{_HIGH}\\u[dD])[c-fC-F][0-9a-fA-F]{{2}})")
_BACKSLASH, _PLACEHOLDER = r"\\", "\0\0"  # escaped, so that it is no start of an escape; JSON never contains \0


def _decoded_command(text: str) -> ClientMessage:
    """Half a surrogate pair becomes U+FFFD, also for Chromium: it receives what was checked."""
    try:
        return _decode_client(text)
    except (msgspec.DecodeError, UnicodeError):
        return _decode_client(decodable(text))


def _with_own_objects(session: ClientSession, command: ClientMessage) -> ClientMessage:
    """The command with its arguments as they were checked: an argument that is given twice has one value then."""
    params = decode_params(command.params)
    if not all(map(session.has_object, named_objects(params))):
        raise MethodRefused(NO_CONTEXT)
    return msgspec.structs.replace(command, params=msgspec.Raw(msgspec.json.encode(params)))


class ClientFilter:
    """The filter of one client. Each call returns what to do, in this order.

    With `page_id`, the connection is a session of this page. Otherwise it is one of the browser.
    """

    def __init__(
        self, context_id: str, page_id: str = "", *, has_windows: bool = False, files: ClientFiles | None = None
    ) -> None:
        self._state = ClientState(context_id, page_id, has_windows=has_windows, files=files)
        self._is_ready = False
        self._queued: list[str] = []  # messages of the client until then

    def start(self) -> list[Output]:
        """The first commands of the endpoint."""
        state = self._state
        state.command("Target.setDiscoverTargets", {"discover": True, "filter": [{}]}, on_response=self._on_discovered)
        return state.take_outputs()

    def from_client(self, text: str) -> list[Output]:
        """A message of the client: it is sent to Chromium, answered or refused."""
        state = self._state
        if not self._is_ready or state.on_compiled is not None:
            self._queued.append(text)
            is_flood = len(self._queued) > _MAX_QUEUED
            return [EndConnection("too many commands before the first response")] if is_flood else []
        try:
            command = _decoded_command(text)
        except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
            refused = MethodRefused(f"Message must be a command of CDP: {error}", -32600)
            return [error_message(leading_id(text), "", refused)]
        try:
            self._on_command(command)
        except MethodRefused as refused:
            state.outputs.append(error_message(command.id, command.sessionId, refused))
        except (AttributeError, TypeError, ValueError):  # an argument of another type than the check expects
            invalid = MethodRefused("Invalid parameters: a value has the wrong type", _INVALID)
            state.outputs = [error_message(command.id, command.sessionId, invalid)]
        return state.take_outputs()

    def from_browser(self, text: str, now: float) -> list[Output]:
        """A message of Chromium: it is delivered or dropped, and the endpoint may send commands. `now` in seconds."""
        state = self._state
        try:
            message = _decode_browser(text)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            text = well_formed(text)
            try:
                message = _decode_browser(decodable(text))
            except (msgspec.DecodeError, RecursionError):
                return self._on_undecodable(text)
        if message.id is not None:
            self._on_response(message.id, message, text)
        elif message.method.startswith("Target."):
            on_target_event(state, message.sessionId, message, now)
        else:
            session = state.sessions.get(message.sessionId)
            if (
                session is not None
                and session.kind not in ("root", "tab")
                and is_delivered(state, session, message, now)
            ):
                self._deliver(session, message, text)
        return state.take_outputs()

    def compiled(self, failure: dict[str, Any] | None) -> list[Output]:
        """The script of CompileScript is compiled. `failure` are the exceptionDetails of a syntax error."""
        state = self._state
        on_compiled, state.on_compiled = state.on_compiled, None
        if on_compiled is not None:
            on_compiled(failure)
        self._send_queued()
        return state.take_outputs()

    def is_page(self, target_id: str) -> bool:
        """Whether a target is a page that the client may use."""
        return self._state.is_page(target_id)

    def downloaded(self, report: DownloadReport) -> list[Output]:
        """A download of a page that the client may use has started, or ended. Clients with `eventsEnabled` learn it.

        Chromium itself would report those of all identities.
        """
        for root in self._state.sessions.roots():
            if root.reports_downloads:
                self._state.emit(root.id, report.method, report.params)
        return self._state.take_outputs()

    def withhold(self, target_id: str) -> list[Output]:
        """Withhold a page, and the pages that it opens, from the client until `release`. See ClientTargets."""
        self._state.targets.withhold(target_id)
        return self._update(target_id)

    def release(self, target_id: str) -> list[Output]:
        """Show a withheld page to the client again, unless its URL is one that clients do not see."""
        self._state.targets.release(target_id)
        return self._update(target_id)

    def _update(self, target_id: str) -> list[Output]:
        targets = self._state.targets
        for each in targets.ids() if target_id == targets.context_id else targets.related(target_id):
            update_visibility(self._state, each)
        return self._state.take_outputs()

    def resume_overdue(self, now: float) -> list[Output]:
        """Resume the new pages, and the requests of pages of the user, that the client has stopped for too long."""
        for session in [*self._state.sessions.values()]:
            if session.waits_until is not None and session.waits_until <= now:
                session.waits_until = None
                self._state.command("Runtime.runIfWaitingForDebugger", session_id=session.id)
            for method, params in session.take_overdue(now):
                self._state.command(method, params, session.id)
        return self._state.take_outputs()

    @property
    def next_resume(self) -> float | None:
        """When to call `resume_overdue`; None if no page waits."""
        sessions = self._state.sessions.values()
        return min((until for each in sessions if (until := each.next_resume) is not None), default=None)

    # ----------------------------------------------------------------------------------------------------- commands

    def _on_command(self, command: ClientMessage) -> None:
        state = self._state
        state.expect_capacity()
        session = state.sessions.get(command.sessionId or state.page_session)
        if session is None or (command.sessionId and command.sessionId == state.page_session):
            raise session_not_found()
        action = action_of(session.kind, command.method)
        if action == "refuse":
            shown = command.method[:80]
            message = f"'{shown}' is not available in this endpoint, which is limited to one identity."
            raise MethodRefused(_MESSAGES.get(command.method, message))
        expect_decodable(command)
        state.outputs += state.activity.command(command.method, session.page_id, state.targets)
        if may_name_objects(command):
            command = _with_own_objects(session, command)
        if action == "pass":
            state.forward(command)
        else:
            commands = ROOT_COMMANDS if session.kind == "root" else PAGE_COMMANDS
            commands[command.method](state, session, command)

    # ------------------------------------------------------------------------------------------- messages of Chromium

    def _on_response(self, number: int, message: BrowserMessage, text: str) -> None:
        state = self._state
        if (own := state.own_pending.pop(number, None)) is not None:
            own.on_response(None if message.is_error else msgspec.json.decode(message.result))
        pending = state.pending.pop(number, None)
        if pending is None:
            return
        try:
            state.deliver(self._response(pending, message, text))
        except MethodRefused as refused:
            state.outputs.append(error_message(pending.id, pending.session_id, refused))
        except (LookupError, RecursionError, TypeError):  # what cannot be checked is not delivered
            unknown = MethodRefused("The result has a form that this version of Hatbox does not know.")
            state.outputs.append(error_message(pending.id, pending.session_id, unknown))
        state.outputs.extend(pending.outputs)

    def _on_undecodable(self, text: str) -> list[Output]:
        """Chromium has answered: without a response, the client would wait for ever. Events are dropped."""
        state = self._state
        number = leading_id(text)
        if number is None:
            raise msgspec.DecodeError("an event is not valid JSON")
        if number in state.own_pending:
            self._on_response(number, BrowserMessage(error=msgspec.Raw(b"{}")), text)
        elif (pending := state.pending.pop(number, None)) is not None:
            unreadable = MethodRefused("The result cannot be decoded, so it was not checked and is not delivered.")
            state.outputs += [error_message(pending.id, pending.session_id, unreadable), *pending.outputs]
        return state.take_outputs()

    def _response(self, pending: PendingCommand, message: BrowserMessage, text: str) -> str:
        if len(text) > MAX_MESSAGE:
            raise MethodRefused(f"The result has {len(text)} characters. At most {MAX_MESSAGE} are allowed.")
        if pending.gives_objects and not message.is_error:
            session = self._state.sessions[pending.session_id or self._state.page_session]
            session.add_objects(objects_in(message.result))
        if message.is_error and _NO_UNIQUE_CONTEXT in bytes(message.error):
            raise MethodRefused(NO_CONTEXT)
        outcome: dict[str, Any] = {"error": message.error} if message.is_error else {"result": message.result}
        if not message.is_error and pending.on_result is not None:
            outcome = {"result": pending.on_result(msgspec.json.decode(message.result))}
        elif not self._state.page_session and (renumbered := _with_leading_id(text, pending.id)) is not None:
            return renumbered
        return encode_message(id=pending.id, sessionId=pending.session_id, **outcome)

    def _deliver(self, session: ClientSession, message: BrowserMessage, text: str) -> None:
        if len(text) > MAX_MESSAGE:
            return
        if message.method in WITH_COOKIES and PROTECTED_COOKIE in text:
            params = without_manager_cookie(msgspec.json.decode(message.params))
            self._state.emit(session.id, message.method, params)
        elif session.id == self._state.page_session:
            self._state.emit(session.id, message.method, message.params)
        else:
            self._state.deliver(text)

    def _on_discovered(self, _: dict[str, Any] | None) -> None:
        """All targets of the identity are known now."""
        state = self._state
        if state.page_id and not state.is_page(state.page_id):
            self._on_page_attached(None)
        elif state.page_id:
            params = {"targetId": state.page_id, "flatten": True}
            state.command("Target.attachToTarget", params, on_response=self._on_page_attached)
        else:
            self._send_queued()

    def _on_page_attached(self, result: dict[str, Any] | None) -> None:
        if result is None or not self._state.page_session:
            self._state.outputs.append(EndConnection("no such page, or it is withheld from programs"))
        else:
            self._send_queued()

    def _send_queued(self) -> None:
        state = self._state
        self._is_ready = True
        queued, self._queued = self._queued, []
        outputs = state.take_outputs()
        for text in queued:
            outputs.extend(self.from_client(text))  # is queued again while a script is compiled
        state.outputs = outputs


def leading_id(text: str) -> int | None:
    """The id of a message; None if the message does not begin with one, as those of Chromium do."""
    found = _LEADING_ID.match(text)
    return None if found is None else int(found[2])


def _with_leading_id(text: str, message_id: int) -> str | None:
    """The message with another id; None if it does not begin with one."""
    found = _LEADING_ID.match(text)
    return None if found is None else f"{found[1]}{message_id}{text[found.end() :]}"


def decodable(text: str) -> str:
    r"""The JSON text with \ufffd for each escape of half a surrogate pair. With too many, the text as it is.

    JavaScript has such strings, such as half an emoji; decoders refuse them. Only for messages that could not be
    decoded: the others are not searched.
    """
    if "\0" in text or not 0 < text.count(r"\ud") + text.count(r"\uD") <= _MAX_ESCAPES:
        return text
    return _LONE.sub(r"\\ufffd", text.replace(_BACKSLASH, _PLACEHOLDER)).replace(_PLACEHOLDER, _BACKSLASH)
