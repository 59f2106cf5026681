"""The CDP sessions of one client, and the script worlds it may use in each. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from hatbox.engines.chromium.endpoint.client_targets import TargetFilter
from hatbox.engines.chromium.endpoint.endpoint_urls import is_withheld
from hatbox.engines.chromium.endpoint.method_rules import SessionKind
from hatbox.engines.chromium.endpoint.remote_objects import context_of
from hatbox.engines.chromium.extension_resources import is_resource_url

__all__ = ["MAX_SESSIONS", "ClientSession", "ClientSessions", "PausedRequest"]

MAX_SESSIONS: Final = 1000
_MAX_REQUESTS: Final = 10_000
_MAX_CONTEXTS: Final = 10_000
_KINDS: Final[dict[str, SessionKind]] = {"page": "page", "iframe": "page", "tab": "tab"}
_ISOLATED: Final = "isolated"


class PausedRequest(NamedTuple):
    """A request that Chromium has paused for the client."""

    is_challenge: bool
    """Whether it needs credentials."""
    until: float | None = None
    """When it is continued if the client does not do it."""

    def resume(self, request_id: str) -> tuple[str, dict[str, Any]]:
        """The command that continues it as if it was not paused."""
        if self.is_challenge:
            answer = {"authChallengeResponse": {"response": "Default"}}
            return "Fetch.continueWithAuth", {"requestId": request_id, **answer}
        return "Fetch.continueRequest", {"requestId": request_id}


class ClientSession:
    """One session. `parent_id` is that of the session in which it was attached."""

    def __init__(self, session_id: str, kind: SessionKind, target_id: str = "", parent_id: str = "") -> None:
        self.id = session_id
        self.kind: SessionKind = kind
        self.target_id = target_id
        self.parent_id = parent_id
        self.page_id = target_id
        """The page that contains the frame or worker."""
        self.waits_until: float | None = None
        """When the target is resumed if the client does not resume it."""
        self.reports_downloads = False
        self.is_discovering = False
        self.discovers: TargetFilter | None = None
        self.requests: dict[str, None] = {}
        """The ids of requests that the client was given, in their order."""
        self.paused: dict[str, PausedRequest] = {}
        """Those that it has not continued."""
        self.entries: set[int] = set()
        """The entries of the session history that the client was given."""
        self.is_watched = False
        """Whether Runtime is enabled by the endpoint, and not by the client, which receives no events of it."""
        self.bindings: dict[str, dict[str, Any]] = {}
        """The arguments of Runtime.addBinding by name, of bindings that new documents have too."""
        self.reports_contexts = False
        """Whether Runtime is enabled, as far as the commands to Chromium say."""
        self._contexts: dict[int, str] = {}  # the unique id by the number, which another process uses again
        self._hidden: set[int] = set()
        self._with_objects: dict[str, None] = {}  # the contexts from which the client has objects, in their order

    @property
    def next_resume(self) -> float | None:
        """When the target or a request is to be resumed; None if none waits for it."""
        paused = (each.until for each in self.paused.values())
        return min((each for each in (self.waits_until, *paused) if each is not None), default=None)

    def add_request(self, request_id: str, paused: PausedRequest) -> None:
        """Add a paused request that the client may use. Of too many, the oldest is removed."""
        self.requests.pop(request_id, None)
        self.requests[request_id] = None
        self.paused[request_id] = paused
        if len(self.requests) > _MAX_REQUESTS:
            oldest = next(iter(self.requests))
            del self.requests[oldest]
            self.paused.pop(oldest, None)

    def take_overdue(self, now: float) -> list[tuple[str, dict[str, Any]]]:
        """The commands that continue overdue requests."""
        overdue = [key for key, each in self.paused.items() if each.until is not None and each.until <= now]
        return [self.paused.pop(key).resume(key) for key in overdue]

    def add_context(self, context: dict[str, Any], own_worlds: set[str]) -> bool:
        """Add an execution context that the client may use. False for worlds of Hatbox and of extensions."""
        kind = (context.get("auxData") or {}).get("type", "default")
        is_own = kind != _ISOLATED or (context.get("name") in own_worlds and context["name"] != "")
        origin = context.get("origin", "")
        is_hidden = is_resource_url(f"{origin}/") or (not origin.startswith("://") and is_withheld(f"{origin}/"))
        if not is_own or ("://" in origin and is_hidden):
            self._contexts.pop(context["id"], None)
            self._hidden.add(context["id"])
            return False
        self._hidden.discard(context["id"])
        if self.reports_contexts:
            self._contexts[context["id"]] = context.get("uniqueId", "")
        return True

    def report_contexts(self, *, is_enabled: bool) -> None:
        """Runtime is enabled or disabled. Without it, nothing tells when the numbers of contexts change."""
        self.reports_contexts, self.is_watched = is_enabled, False
        if not is_enabled:
            self._contexts.clear()
            self._with_objects.clear()

    def has_context(self, context_id: object) -> bool:
        """Whether the client may use an execution context."""
        return isinstance(context_id, int) and context_id in self._contexts

    def unique_context(self, context_id: int) -> str:
        """The unique id of a context that the client may use."""
        return self._contexts[context_id]

    def has_unique_context(self, unique_id: object) -> bool:
        """Whether the client may use an execution context with this unique id."""
        return isinstance(unique_id, str) and unique_id in self._contexts.values()

    def remove_context(self, context_id: int) -> None:
        """An execution context was destroyed."""
        self._contexts.pop(context_id, None)
        self._hidden.discard(context_id)

    def clear_contexts(self) -> None:
        """All execution contexts were destroyed."""
        self._contexts.clear()
        self._hidden.clear()

    def add_objects(self, object_ids: Iterable[str]) -> None:
        """The client is given these objects. It may use those of their contexts, unless the context is hidden."""
        for each in object_ids:
            if (context := context_of(each)) is not None and context[1] not in self._hidden:
                self._with_objects.pop(context[0], None)
                self._with_objects[context[0]] = None
        while len(self._with_objects) > _MAX_CONTEXTS:
            del self._with_objects[next(iter(self._with_objects))]

    def has_object(self, object_id: object) -> bool:
        """Whether the client was given an object of the same context."""
        return (context := context_of(object_id)) is not None and context[0] in self._with_objects


class ClientSessions(dict[str, ClientSession]):
    """The sessions by id. The id of the connection itself is empty."""

    def attach(self, session_id: str, parent: ClientSession, info: dict[str, Any], page_id: str) -> ClientSession:
        """Add the session of a target in a page."""
        kind = _KINDS.get(info["type"], "worker")
        session = self[session_id] = ClientSession(session_id, kind, info["targetId"], parent.id)
        is_part = info["type"] not in ("page", "tab") and page_id == info["targetId"]  # a shared or service worker
        session.page_id = parent.page_id if is_part and parent.page_id else page_id
        return session

    def remove(self, session_id: str) -> set[str]:
        """Remove a session with those that were attached in it. Returns their ids."""
        removed: set[str] = set()
        if self.pop(session_id, None) is not None:
            removed.add(session_id)
            for child in [each.id for each in self.values() if each.parent_id == session_id and each.id]:
                removed |= self.remove(child)
        return removed

    def of_target(self, target_id: str) -> list[ClientSession]:
        """The sessions of a target."""
        return [each for each in self.values() if each.target_id == target_id]

    def roots(self) -> Iterator[ClientSession]:
        """The sessions of the browser."""
        return (each for each in [*self.values()] if each.kind == "root")
