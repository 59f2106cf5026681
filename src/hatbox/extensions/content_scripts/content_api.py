"""The part of the API that content scripts have, as in Firefox 153."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from hatbox.api.caller import ExtensionCaller
from hatbox.api.dispatcher import Dispatcher
from hatbox.errors import ApiError
from hatbox.extensions.runtime.api_description import Description, describe
from hatbox.extensions.runtime.api_host import ApiHost
from hatbox.extensions.runtime.host import Listener, LogEntry
from hatbox.extensions.runtime.message_parsing import split_path

__all__ = ["ContentScriptApi", "describe_for_content"]

_EVERYTHING: Final[frozenset[str]] = frozenset()
_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    "extension": frozenset({"getURL"}),
    "i18n": _EVERYTHING,
    "runtime": frozenset({"connect", "getManifest", "getURL", "onConnect", "onMessage", "sendMessage"}),
    "storage": _EVERYTHING,
    "storage.local": _EVERYTHING,
    "storage.managed": _EVERYTHING,
    "storage.sync": _EVERYTHING,
}
# Not in descriptions; members/ and ports.js call them.
_HIDDEN: Final[Mapping[str, frozenset[str]]] = {
    "ports": frozenset({"close", "onDelivery", "onSync", "open", "post"}),  # not openNative and openFilter
    "testing": _EVERYTHING,
}
_GRANT_FRAME: Final = ("frames", "grant")  # content_resources.js calls it
_ABSENT_CONSTANTS: Final = frozenset(
    {"ContextType", "OnPerformanceWarningCategory", "OnPerformanceWarningSeverity", "ViewType"}
)


def describe_for_content(caller: ExtensionCaller) -> Description:
    """The namespaces of `browser` in content scripts."""
    return {
        namespace: {
            **described,
            "functions": _allowed(namespace, described["functions"]),
            "events": _allowed(namespace, described["events"]),
            "constants": {
                name: value for name, value in described["constants"].items() if name not in _ABSENT_CONSTANTS
            },
        }
        for namespace, described in describe(caller).items()
        if namespace in _MEMBERS
    }


class ContentScriptApi(ApiHost):
    """Serves the content scripts of one extension in one document. They have no more than _MEMBERS, whatever they send:
    a page may have taken over its process."""

    def __init__(
        self,
        dispatcher: Dispatcher,
        caller: ExtensionCaller,
        read_file: Callable[[str], bytes | None],
        on_log: Callable[[LogEntry], None] | None,
        grant_frame: Callable[[str], Awaitable[str]],
    ) -> None:
        super().__init__(dispatcher, caller, read_file)
        self._grant_frame = grant_frame
        self._on_log = on_log

    def call(self, namespace: str, member: str, arguments: list[Any]) -> Awaitable[Any] | None:
        """Call an API function that content scripts have."""
        if (namespace, member) == _GRANT_FRAME:
            url = arguments[0] if arguments else ""
            return self._grant_frame(url if isinstance(url, str) else "")
        _require(namespace, member)
        return super().call(namespace, member, arguments)

    def add_listener(self, listener: Listener, extra: list[Any]) -> None:
        """Add a listener of an event that content scripts have."""
        _require(*split_path(listener.path))
        super().add_listener(listener, extra)

    def log(self, entry: LogEntry) -> None:
        """Log as the background does."""
        if self._on_log is not None:
            self._on_log(entry)
        else:
            super().log(entry)


def _allowed(namespace: str, members: Mapping[str, Any]) -> dict[str, Any]:
    wanted = _MEMBERS[namespace]
    return {name: each for name, each in members.items() if not wanted or name in wanted}


def _require(namespace: str, member: str) -> None:
    members = _MEMBERS.get(namespace, _HIDDEN.get(namespace))
    if members is None or (members and member not in members):
        raise ApiError(f"{namespace}.{member} is not available in content scripts")
