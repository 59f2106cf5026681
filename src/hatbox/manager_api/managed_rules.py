"""The namespace hatbox.rules: the rules of the profile, which rule decides about an address, and imports."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import ApiError, InvalidIdentity, InvalidSiteRule
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, cookie_store_id_of
from hatbox.identity.model import get
from hatbox.manager_api.address_argument import parse_address
from hatbox.manager_api.coalesced_changes import MAX_IDS, StoreEvent
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.manager_api.rule_import import import_text, programs_with_data
from hatbox.schema import NamespaceSchema
from hatbox.site_rules.rule_index import RuleIndex
from hatbox.site_rules.rule_reasons import AddressVerdict, address_verdict, identity_names
from hatbox.site_rules.rule_rows import add_rule, changed_rule_ids, find_rules, remove_rules, restore_rule
from hatbox.site_rules.site_pattern import REGEX_PREFIX, parse_site_pattern
from hatbox.site_rules.site_rule import RULES_CHANGED, Decision, SiteRule
from hatbox.store.base import Store, Transaction

__all__ = ["implement"]

Details: TypeAlias = Mapping[str, Any]

_MAX_PAGES: Final = 2000  # visited pages in which the last use of rules is searched


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:
    """Implement the namespace."""
    return _ManagedRules(schema, services, profile)


class _ListedRule(msgspec.Struct, frozen=True):
    id: int
    pattern: str
    identities: tuple[str, ...]
    limit: bool
    is_valid: bool


class _RuleUse(NamedTuple):
    rule: int
    time: float


class _TestedAddress(AddressVerdict, frozen=True):
    is_limited: bool


class _RulesChanged(msgspec.Struct, frozen=True):
    ids: tuple[int, ...] = ()
    all: bool = False

    def merged(self, other: _RulesChanged) -> _RulesChanged:
        ids = tuple(dict.fromkeys((*self.ids, *other.ids)))
        return _ALL_RULES if self.all or other.all or len(ids) > MAX_IDS else _RulesChanged(ids)


_ALL_RULES: Final = _RulesChanged(all=True)


class _ManagedRules(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> None:
        changed = _changed_event(services.store)
        super().__init__(schema, services.store, {"onChanged": EventBinding(changed, _changed_args)})
        self._profile = profile

    def list(self, ids: Sequence[int] | None) -> asyncio.Future[Any]:
        return self._read("list", _listed, ids)

    def add(self, pattern: str, cookie_store_ids: Sequence[str], options: Details | None) -> asyncio.Future[Any]:
        given = options or {}
        limit, replace = bool(given.get("limit")), bool(given.get("replace"))
        return self._write("add", _add, pattern.strip(), cookie_store_ids, limit, replace)

    def remove(self, rules: str | int | Sequence[int]) -> asyncio.Future[Any]:
        several = [rules] if isinstance(rules, (str, int)) else list(rules)
        return self._write("remove", _remove, several)

    def restore(self, rule: Details) -> asyncio.Future[Any]:
        return self._write("restore", _restore, rule)

    def test(self, address: str, cookie_store_id: str | None) -> asyncio.Future[Any]:
        return self._run("test", self._test(address, cookie_store_id))

    def get_import_sources(self) -> asyncio.Future[Any]:
        return self._read("getImportSources", programs_with_data)

    def import_from(self, program: str, text: str | None, options: Details | None) -> asyncio.Future[Any]:
        given = options or {}
        create, replace = bool(given.get("create")), bool(given.get("replace"))
        return self._write(
            "importFrom", import_text(program, text, given.get("containers"), create=create, replace=replace)
        )

    def get_last_uses(self) -> asyncio.Future[Any]:
        return self._run("getLastUses", self._last_uses())

    async def _last_uses(self) -> Sequence[_RuleUse]:
        index, pages = await self._profile.rules.index(), await self._store.read(_latest_pages)
        used: dict[int, float] = {}
        for store, url, time in pages:
            rule = index.decide(url).rule
            if rule is not None and cookie_store_id_of(store) in rule.identities:
                used[rule.id] = max(time, used.get(rule.id, 0.0))
        return [_RuleUse(rule, time * 1000) for rule, time in used.items()]

    async def _test(self, address: str, cookie_store_id: str | None) -> _TestedAddress:
        url = parse_address(address)
        explanation = (await self._profile.rules.index()).explain(url, cookie_store_id)
        named = {each for match in explanation.matches for each in match.rule.identities}
        if cookie_store_id is not None:
            named.add(cookie_store_id)
        names = await self._store.read(lambda transaction: _names(transaction, named))
        is_limited = explanation.decision.is_blocked
        if explanation.decision.rule is not None:
            # The page opens the tab in the identity of the rule, so a limit of the other one blocks nothing.
            explanation = msgspec.structs.replace(explanation, decision=Decision(explanation.decision.rule))
        verdict = address_verdict(explanation, urlsplit(url).hostname or "", names, cookie_store_id)
        return _TestedAddress(**msgspec.structs.asdict(verdict), is_limited=is_limited)


def _changed_event(store: Store) -> StoreEvent[_RulesChanged]:
    decoders = {RULES_CHANGED: _change_of}
    return StoreEvent(store, "hatbox.rules.onChanged", decoders, _RulesChanged.merged, _ALL_RULES)


def _change_of(payload: bytes) -> _RulesChanged:
    ids = changed_rule_ids(payload)
    return _ALL_RULES if ids is None else _RulesChanged(tuple(ids))


def _changed_args(_: Caller, changed: _RulesChanged) -> tuple[_RulesChanged]:
    return (changed,)


def _latest_pages(transaction: Transaction) -> list[tuple[int, str, float]]:
    """The cookie store, the URL and the last use of each open tab, and of the pages that were visited last."""
    tabs = [(row.store, row.target or row.url, row.last_accessed) for row in transaction.tabs.find()]
    return tabs + [(row.store, row.url, row.last_visit) for row in transaction.history.latest(_MAX_PAGES, since=0.0)]


def _listed(transaction: Transaction, ids: Sequence[int] | None) -> list[_ListedRule]:
    rules = indexed = find_rules(transaction, ids)
    if ids is not None and any(each.pattern.startswith(REGEX_PREFIX) for each in rules):
        indexed = find_rules(transaction)  # which of them are too many depends on all
    invalid = {each.id for each in RuleIndex(indexed).invalid}
    return [_shown(each, is_valid=each.id not in invalid) for each in rules]


def _shown(rule: SiteRule, *, is_valid: bool = True) -> _ListedRule:
    return _ListedRule(rule.id, rule.pattern, rule.identities, rule.limit, is_valid)


def _add(
    transaction: Transaction, pattern: str, cookie_store_ids: Sequence[str], limit: bool, replace: bool
) -> _ListedRule:
    if not pattern:
        raise ApiError("Type a pattern, for example *.site.example.")
    canonical = _canonical(pattern)
    if not cookie_store_ids:
        raise ApiError("Choose an identity for this rule.")
    _names(transaction, cookie_store_ids, required=True)
    existing = next((each for each in find_rules(transaction) if each.pattern == canonical), None)
    if existing is not None and not replace:
        raise _exists(transaction, existing)
    try:
        several = list(dict.fromkeys(cookie_store_ids))
        added = add_rule(transaction, pattern, several, ask=len(several) > 1, limit=limit, replace=replace)
    except InvalidSiteRule as error:  # too many regular expressions
        raise ApiError(f"This rule was not added: {error.problem}.") from None
    return _shown(added)


def _canonical(pattern: str) -> str:
    try:
        return parse_site_pattern(pattern).text
    except InvalidSiteRule as error:
        problem = error.problem.rstrip(".")
        raise ApiError(f"This is not a pattern: {error.pattern}. {problem[0].upper()}{problem[1:]}.") from None


def _exists(transaction: Transaction, rule: SiteRule) -> ApiError:
    names = identity_names(_names(transaction, rule.identities), rule.identities)
    return ApiError(f"There is already a rule for {rule.pattern}: it opens in {names}. Remove that one first.")


def _remove(transaction: Transaction, wanted: Sequence[int | str]) -> list[_ListedRule]:
    return [_shown(each) for each in remove_rules(transaction, wanted)]


def _restore(transaction: Transaction, given: Details) -> _ListedRule:
    rule = SiteRule(
        id=given["id"],
        pattern=_canonical(given["pattern"]),
        identities=tuple(dict.fromkeys(given["identities"])),
        limit=bool(given.get("limit")),
    )
    existing = next((each for each in find_rules(transaction) if each.pattern == rule.pattern), None)
    if existing is not None:
        raise _exists(transaction, existing)
    try:
        return _shown(restore_rule(transaction, rule))
    except InvalidIdentity:
        raise ApiError(
            f"The rule {rule.pattern} cannot come back: its identity is gone. It may be in the trash."
        ) from None
    except InvalidSiteRule as error:
        raise ApiError(f"The rule {rule.pattern} cannot come back: {error.problem}.") from None


def _names(transaction: Transaction, cookie_store_ids: Iterable[str], *, required: bool = False) -> dict[str, str]:
    """The names of these identities by id. One that is gone is left out, or if `required` raises InvalidIdentity."""
    names: dict[str, str] = {}
    for each in cookie_store_ids:
        if each != DEFAULT_COOKIE_STORE_ID:
            try:
                names[each] = get(transaction, each).name
            except InvalidIdentity:
                if required:
                    raise
    return names
