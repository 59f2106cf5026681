"""GrantCaller: a program that uses the API with a grant. Each call is checked against the grant, and recorded.

The table of what grantees may use is in `granted_functions`.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, Final

from hatbox.activity_log.activity_service import ActivityLog
from hatbox.api.caller import Caller
from hatbox.api.granted_call import GrantedCall
from hatbox.api.granted_functions import GRANTED_EVENTS, GRANTED_FUNCTIONS, GRANTED_SCHEMAS
from hatbox.errors import GrantRefused, HatboxError, InvalidTab, PermissionDenied
from hatbox.grants.grant import Grant
from hatbox.grants.grant_service import Grants
from hatbox.identity.ids import cookie_store_id_of
from hatbox.schema import NamespaceSchema, load
from hatbox.site_rules.service import SiteRules
from hatbox.store.base import Store, TabRow
from hatbox.tasks import Reply

__all__ = ["GrantCaller"]

_MAX_CALLS: Final = 1000  # at once
_MAX_LISTENERS: Final = 100
_MAX_OPENED_TABS: Final = 1000  # whose ids are in memory

_PERMISSIONS: Final = ("contextualIdentities", "cookies")  # GRANTED_FUNCTIONS decides; these are for the namespaces


class GrantCaller(Caller):
    """A grantee as a caller. Bound to the event loop of the profile. It ends with its grant."""

    def __init__(self, grant: Grant, grants: Grants, activity_log: ActivityLog, rules: SiteRules, store: Store) -> None:
        super().__init__(f"grant-{grant.id}", (*_PERMISSIONS, *grant.cookie_hosts))
        self.grant_id = grant.id
        self._grants = grants
        self._activity_log = activity_log
        self._rules = rules
        self._store = store
        self._calls = 0
        self._listeners: dict[Any, Callable[[], None]] = {}
        self._opened_tabs: dict[int, None] = {}
        self._stop_watching: Callable[[], None] | None = None
        """Set while it has listeners: a caller without any can be forgotten."""

    @property
    def guard(self) -> GrantCaller:
        """It checks its own calls."""
        return self

    def may_use(self, schema: NamespaceSchema) -> bool:
        """Whether the namespace of a schema exists for grantees."""
        return schema.file in GRANTED_SCHEMAS

    # ── Calls ──

    def start_call(self, path: str) -> GrantedCall:
        """The call of a function, if the grant is valid and allows the function. Raises PermissionDenied."""
        granted = GRANTED_FUNCTIONS.get(path)
        call = self._permitted(path, None if granted is None else granted.actions)
        if self._calls >= _MAX_CALLS:
            self._refuse(call, f"{path}: more than {_MAX_CALLS} calls at once. Wait for the results of some.")
        return call

    def run(self, call: GrantedCall, values: list[Any], method: Callable[..., asyncio.Future[Any]]) -> Any:
        """Check the arguments, call the implementation, and filter its result. Returns a future."""
        call.values = values
        GRANTED_FUNCTIONS[call.path].check_arguments(call)
        needs_read = bool(call.tab_ids) or call.opens_url
        reply = self._run_checked(call, method) if needs_read else method(*call.values)
        if isinstance(reply, asyncio.Future) and reply.done():  # most reads: a task would cost more than the checks
            return self._finished(call, reply)
        self._calls += 1
        future = asyncio.ensure_future(self._finish(call, reply))
        future.add_done_callback(partial(self._on_done, call))
        self._activity_log.await_entry(future)
        return future

    def shows_url(self, url: str) -> bool:
        """See CallGuard."""
        try:
            return self._grants.check(self.grant_id).shows_url(url)
        except GrantRefused:
            return False

    def record_failure(self, call: GrantedCall, error: BaseException) -> None:
        """Record a call that has failed, unless it has an entry."""
        self._record(call, "refused" if isinstance(error, PermissionDenied) else "failed")

    def refuse_namespace(self, name: str) -> None:
        """Raise PermissionDenied: a namespace does not exist for grantees."""
        self._permitted(name, None)

    def record_missing(self, path: str) -> None:
        """Record that a namespace or member was read which does not exist for grantees."""
        with contextlib.suppress(PermissionDenied):
            self._permitted(path, None)

    async def _run_checked(self, call: GrantedCall, method: Callable[..., asyncio.Future[Any]]) -> Any:
        if call.tab_ids:
            await self._check_tabs(call)
        if call.opens_url and call.url:  # else it reloads a blank page
            await self._check_rules(call)
        self._valid_grant(call)  # it may have ended meanwhile
        return await method(*call.values)

    def _finished(self, call: GrantedCall, reply: asyncio.Future[Any]) -> asyncio.Future[Any]:
        future: Reply[Any] = Reply()
        try:
            future.set_result(self._filtered(call, reply.result()))
        except HatboxError as error:
            self.record_failure(call, error)
            future.set_exception(error)
            future.exception()  # the program may have dropped it
        except BaseException as error:
            self.record_failure(call, error)
            raise
        return future

    async def _finish(self, call: GrantedCall, reply: Any) -> Any:
        try:
            return self._filtered(call, await reply)
        except Exception as error:
            self.record_failure(call, error)
            raise

    def _filtered(self, call: GrantedCall, result: Any) -> Any:
        self._record(call, "ok")  # it was done, also if the result is withheld
        grant = self._valid_grant(call)
        filtered = GRANTED_FUNCTIONS[call.path].filter_result(grant, result)
        if call.path == "tabs.create":
            self._add_opened_tab(filtered["id"])
        return filtered

    def _on_done(self, call: GrantedCall, future: asyncio.Future[Any]) -> None:
        self._calls -= 1
        self._record(call, "cancelled")  # unless it has an entry: the program has cancelled it, perhaps too late
        if not future.cancelled():
            future.exception()  # the program may have dropped it

    # ── Tabs ──

    async def _check_tabs(self, call: GrantedCall) -> None:
        """Raise InvalidTab for tabs of other identities, as for those that do not exist.

        The identity of a tab never changes, and no id is used twice, so a transaction of its own is enough.
        """
        tab_ids = call.tab_ids
        rows = await self._store.read(lambda transaction: [transaction.tabs.get(each) for each in tab_ids])
        identities = set()
        for tab_id, row in zip(tab_ids, rows, strict=True):
            identity = None if row is None else cookie_store_id_of(row.store)
            if row is None or identity not in call.grant.identities:
                raise InvalidTab(tab_id)
            identities.add(identity)
            if call.path != "tabs.get":
                self._check_page(call, row)
        call.identity = identities.pop() if len(identities) == 1 else None

    def _check_page(self, call: GrantedCall, row: TabRow) -> None:
        """A tab with a page outside the grant can be changed only if this caller has opened it."""
        pages = [page for page in (row.url, row.target) if page and page != "about:blank"]
        call.url = call.url or (pages[-1] if pages else "")
        is_own = row.id in self._opened_tabs and call.path != "tabs.reload"
        if not is_own and not all(map(call.grant.shows_url, pages)):
            raise PermissionDenied(
                f"{call.path}: the page of tab {row.id} is outside the hosts of the grant {self.grant_id}: "
                f"{call.grant.hosts_text}. Open another tab with tabs.create."
            )

    async def _check_rules(self, call: GrantedCall) -> None:
        """Raise PermissionDenied if a rule would open the URL in another identity."""
        index = await self._rules.index()
        decision = index.decide(call.url, call.identity)
        belongs = not decision.identities or call.identity in decision.identities
        if decision.is_blocked or not belongs:
            raise PermissionDenied(
                f"{call.path}: a rule of the profile does not open {ascii(call.url)[:200]} in {call.identity}. "
                "The user can change it with: hatbox rules"
            )

    def _add_opened_tab(self, tab_id: int) -> None:
        self._opened_tabs[tab_id] = None
        if len(self._opened_tabs) > _MAX_OPENED_TABS:
            del self._opened_tabs[next(iter(self._opened_tabs))]

    # ── Events ──

    def start_listening(self, path: str) -> None:
        """Record and permit a new listener of an event. Raises PermissionDenied."""
        granted = GRANTED_EVENTS.get(path)
        call = self._permitted(path, None if granted is None else granted.actions)
        if len(self._listeners) >= _MAX_LISTENERS:
            self._refuse(call, f"{path}: more than {_MAX_LISTENERS} listeners. Remove some.")
        self._record(call, "ok")

    def add_listener(self, key: object, remove: Callable[[], None]) -> None:
        """Call `remove` when the grant ends."""
        self._listeners[key] = remove
        if self._stop_watching is None:
            self._stop_watching = self._grants.on_revoked(self.grant_id, self._end)

    def discard_listener(self, key: object) -> None:
        """A listener was removed."""
        self._listeners.pop(key, None)
        if not self._listeners and self._stop_watching is not None:
            self._stop_watching()
            self._stop_watching = None

    def filter_event(self, path: str, payload: Any, arguments: Sequence[Any]) -> Sequence[Any] | None:
        """The arguments of a listener as the grantee may see them; None to skip it."""
        try:
            grant = self._grants.check(self.grant_id)
        except GrantRefused:
            return None
        event = GRANTED_EVENTS[path]
        shown = event.filter_arguments(grant, payload, arguments)
        if shown is not None:
            identity, host = event.concerns(payload, shown)
            self._activity_log.record(identity, path, host=host, outcome="delivered", grant=self.grant_id)
        return shown

    def _end(self) -> None:
        for remove in list(self._listeners.values()):
            remove()
        self._listeners.clear()

    # ── The grant ──

    def _permitted(self, path: str, actions: frozenset[str] | None) -> GrantedCall:
        try:
            grant = self._grants.check(self.grant_id)
        except GrantRefused as error:
            self._activity_log.record(None, _word(path), outcome="refused", grant=self.grant_id)
            raise PermissionDenied(str(error)) from None
        call = GrantedCall(grant, path)
        if actions is None:
            known = ", ".join((*GRANTED_FUNCTIONS, *GRANTED_EVENTS))
            self._refuse(call, f"{_word(path)} is not available with a grant. Available are: {known}.")
        if actions and actions.isdisjoint(grant.actions):
            needed = " or ".join(sorted(actions))
            self._refuse(call, f"{path} needs a grant with {needed}: hatbox grant create --action {min(actions)}")
        return call

    def _valid_grant(self, call: GrantedCall) -> Grant:
        """The grant as it is now."""
        try:
            call.grant = self._grants.check(self.grant_id)
        except GrantRefused as error:
            raise PermissionDenied(str(error)) from None
        if call.identity is not None and not call.grant.allows_identity(call.identity):
            raise PermissionDenied(f"{call.path}: the grant does not include {call.identity} any more.")
        return call.grant

    def _refuse(self, call: GrantedCall, message: str) -> None:
        self._record(call, "refused")
        raise PermissionDenied(message)

    def _record(self, call: GrantedCall, outcome: str) -> None:
        """Record the outcome of a call, once."""
        if not call.is_recorded:
            call.is_recorded = True
            path = _word(call.path)
            self._activity_log.record(call.identity, path, host=call.url, outcome=outcome, grant=self.grant_id)


def _word(path: str) -> str:
    """A path as the activity log and messages show it: names that do not exist are chosen by the grantee."""
    return path if path in _known_paths() else "unknown"


@cache
def _known_paths() -> frozenset[str]:
    members = (f"{each.namespace}.{name}" for each in load() for name in (*each.functions, *each.events))
    return frozenset((*(each.namespace for each in load()), *members))
