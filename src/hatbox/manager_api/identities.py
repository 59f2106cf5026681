"""The namespace hatbox.identities: identities with what belongs to them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple

from hatbox.activity_log.activity_rows import is_recorded, set_recorded
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import InputWouldBeLost, InvalidSetting, TrashSwitchedOff
from hatbox.identities import changes, trash_rows
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, container_user_context_id, cookie_store_id_of
from hatbox.identity.model import row_of
from hatbox.identity.settings import NO_SETTINGS, IdentitySettings, checked_settings, read_settings
from hatbox.manager_api.cookie_domains import valid_domains
from hatbox.manager_api.identity_changes import IdentityEvent
from hatbox.manager_api.identity_summaries import IdentitySummary, read_basis, summaries_of, summary_of
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.manager_api.partial_reads import read_parts
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Store, TabText, Transaction
from hatbox.store.profile_settings import read_profile_settings
from hatbox.store.tables.identity_tables import creation_time
from hatbox.tabs.identity_removal import temporary_key
from hatbox.tabs.program_records import get_record

__all__ = ["implement"]

_ARGUMENTS: Final = {"proxy": "proxy", "userAgent": "user_agent", "locale": "locale", "timezone": "timezone"}
_MASK: Final = ":***@"
_MASKED_ADVICE: Final = "Write the password of the proxy again: it is not shown here."


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:
    """Implement the namespace."""
    return _Identities(schema, services, profile)


class _Details(NamedTuple):
    summary: IdentitySummary
    settings: IdentitySettings
    settings_error: str | None
    position: int
    created: float | None
    temporary: bool
    recorded: bool


class _InputAtRisk(NamedTuple):
    tab_id: int
    fields: Sequence[str]


class _SettingsResult(NamedTuple):
    saved: bool
    settings: IdentitySettings
    input_at_risk: Sequence[_InputAtRisk] = ()


class _RemovalResult(NamedTuple):
    name: str
    trash_id: str | None


class _Identities(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> None:
        changed = EventBinding(
            IdentityEvent(services.store, services.cookies.expiry.on_expired), lambda _, payload: (payload,)
        )
        super().__init__(schema, services.store, {"onChanged": changed})
        self._identities = services.identities
        self._profile = profile

    def list(self) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._list())

    async def _list(self) -> Any:
        return await self._summaries("list", await self._store.read(_order, single_statement=True))

    def summaries(self, cookie_store_ids: Sequence[str]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._summaries("summaries", [*dict.fromkeys(cookie_store_ids)]))

    async def _summaries(self, member: str, cookie_store_ids: Sequence[str]) -> Any:
        now, convert = self._store.time(), self._result_converters[member]
        basis = await self._store.read(lambda transaction: read_basis(transaction, now))
        parts = await read_parts(
            self._store, cookie_store_ids, lambda transaction, part: convert(summaries_of(transaction, part, basis))
        )
        return [*chain.from_iterable(parts)]

    def order(self) -> asyncio.Future[Any]:
        return self._read_single_statement("order", _order)

    def search(self, text: str) -> asyncio.Future[Any]:
        return asyncio.ensure_future(_search_content(self._store, text))

    def details(self, cookie_store_id: str) -> asyncio.Future[Any]:
        return self._read("details", _details, cookie_store_id, self._store.time())

    def create_temporary(self, details: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._run("createTemporary", self._create_temporary(details))

    async def _create_temporary(self, details: Mapping[str, Any]) -> IdentitySummary:
        created = await self._profile.create_temporary(
            details.get("name"), color=details["color"], icon=details["icon"]
        )
        now = self._store.time()
        return await self._store.read(lambda transaction: summary_of(transaction, created.cookie_store_id, now))

    def clone(self, cookie_store_id: str, name: str | None) -> asyncio.Future[Any]:
        return self._write("clone", _clone, cookie_store_id, name, self._store.time())

    def check_settings(self, settings: Mapping[str, str | None]) -> asyncio.Future[Any]:
        checked: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        checked.set_result(_problems(settings))
        return checked

    def set_settings(
        self, cookie_store_id: str, settings: Mapping[str, str | None], force: bool
    ) -> asyncio.Future[Any]:
        return self._run("setSettings", self._set_settings(cookie_store_id, settings, force))

    async def _set_settings(
        self, cookie_store_id: str, settings: Mapping[str, str | None], force: bool
    ) -> _SettingsResult:
        if _has_masked_password(settings.get("proxy")):
            raise InvalidSetting("proxy", settings["proxy"] or "", _MASKED_ADVICE)
        changed = {_ARGUMENTS[name]: value for name, value in settings.items()}
        identity = await self._identities.get(cookie_store_id)
        try:
            saved = await self._profile.change_identity_settings(identity, force=force, **changed)
            return _SettingsResult(True, saved.masked)
        except InputWouldBeLost as error:
            current = await self._store.read(lambda each: _details(each, cookie_store_id, self._store.time()))
            at_risk = [_InputAtRisk(tab, fields) for tab, fields in error.fields.items()]
            return _SettingsResult(False, current.settings, at_risk)

    def set_recorded(self, cookie_store_id: str, recorded: bool) -> asyncio.Future[Any]:
        return self._write("setRecorded", _set_recorded, cookie_store_id, recorded)

    def remove(self, cookie_store_id: str, options: Mapping[str, bool]) -> asyncio.Future[Any]:
        return self._identities.log_scrubs.after(self._write("remove", _remove, cookie_store_id, options["forever"]))


def _order(transaction: Transaction) -> list[str]:
    return [*map(cookie_store_id_of, transaction.identities.ids())]


def _details(transaction: Transaction, cookie_store_id: str, now: float) -> _Details:
    summary = summary_of(transaction, cookie_store_id, now)
    user_context_id = container_user_context_id(cookie_store_id) or 0
    settings, problem = NO_SETTINGS, None
    try:
        settings = read_settings(transaction, user_context_id).masked
    except InvalidSetting as error:  # the user can replace what this version cannot use
        problem = str(error)
    created = creation_time(transaction.identities.uuid(user_context_id) or "")
    return _Details(
        summary=summary,
        settings=settings,
        settings_error=problem,
        position=transaction.identities.index(user_context_id),
        created=None if created is None else created * 1000,
        temporary=_is_temporary(transaction, user_context_id),
        recorded=is_recorded(transaction, user_context_id),
    )


def _set_recorded(transaction: Transaction, cookie_store_id: str, recorded: bool) -> None:
    set_recorded(transaction, row_of(transaction, cookie_store_id)[0], recorded=recorded)


def _clone(transaction: Transaction, cookie_store_id: str, name: str | None, now: float) -> IdentitySummary:
    return summary_of(transaction, changes.clone(transaction, cookie_store_id, name).cookie_store_id, now)


def _remove(transaction: Transaction, cookie_store_id: str, forever: bool) -> _RemovalResult:
    """Remove an identity. Without `forever`, one that could not be restored stays: a page offers an Undo."""
    number, name, *_ = row_of(transaction, cookie_store_id)
    if not forever and not read_profile_settings(transaction).has_trash and not _is_temporary(transaction, number):
        raise TrashSwitchedOff(name)
    trash_rows.remove(transaction, cookie_store_id, forever=forever)
    is_in_trash = transaction.trash.size(number) is not None
    return _RemovalResult(name, cookie_store_id if is_in_trash else None)


def _is_temporary(transaction: Transaction, user_context_id: int) -> bool:
    return get_record(transaction, temporary_key(user_context_id)) is not None


def _problems(settings: Mapping[str, str | None]) -> dict[str, str]:
    """The settings that cannot be used, each with what to write instead."""
    problems: dict[str, str] = {}
    for name, value in settings.items():
        if name == "proxy" and _has_masked_password(value):
            problems[name] = _MASKED_ADVICE
            continue
        try:
            checked_settings(**{_ARGUMENTS[name]: value})
        except InvalidSetting as error:
            problems[name] = error.advice
    return problems


def _has_masked_password(proxy: str | None) -> bool:
    """Whether a proxy has the text that replaces a password in `details`: saving it would lose the password."""
    return proxy is not None and _MASK in proxy


async def _search_content(store: Store, text: str) -> list[str]:
    """The cookieStoreIds, in no order. Upper and lower case are the same."""
    searched = text.strip().casefold()
    if not searched:
        return []
    domains = await valid_domains(store)
    tabs = await store.read(lambda transaction: transaction.tabs.texts(), single_statement=True)
    stores = sorted(await asyncio.to_thread(_matching, domains, tabs, searched))
    return [each for each in map(cookie_store_id_of, stores) if each != DEFAULT_COOKIE_STORE_ID]


def _matching(domains: Iterable[tuple[int, str]], tabs: Iterable[TabText], text: str) -> set[int]:
    """The stores. The name of a site is the end of the domain of its cookies."""
    found = {store for store, domain in domains if text in domain}
    return found.union(
        store for store, title, url, target in tabs if text in title.casefold() or text in (target or url).casefold()
    )
