"""Site rules in the profile, as transaction functions.

A rule is stored as JSON: `{"pattern": …, "identities": [cookieStoreId, …], "ask": true, "limit": true}`. Its id is the
number of its row. Each transaction that changes rules appends one record with the topic `rules.changed`.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from typing import Final, Literal, NamedTuple

import msgspec

from hatbox.errors import InvalidIdentity, InvalidSiteRule, SiteRuleExists, SiteRuleNotFound
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, user_context_id_of
from hatbox.identity.model import ContextualIdentity, IdentityLike, find, get, resolve
from hatbox.site_rules.rule_index import MAX_REGEX_RULES
from hatbox.site_rules.site_pattern import REGEX_PREFIX, parse_site_pattern
from hatbox.site_rules.site_rule import RULES_CHANGED, SiteRule
from hatbox.store.base import Transaction

__all__ = [
    "RULES_CHANGED",
    "RuleChange",
    "RuleSet",
    "add_rule",
    "changed_rule_ids",
    "clear_rules",
    "find_rules",
    "remove_rules",
    "remove_rules_of",
    "restore_rule",
    "rules_of",
    "store_name",
    "store_of",
]

logger = logging.getLogger("hatbox.rules")

_MAX_LISTED: Final = 20  # rules in a record of the change log


class _StoredRule(msgspec.Struct, omit_defaults=True):
    pattern: str
    identities: tuple[str, ...]
    ask: bool = False
    limit: bool = False


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_StoredRule).decode


def find_rules(transaction: Transaction, numbers: Collection[int] | None = None) -> list[SiteRule]:
    """All rules, or those with these ids, in the order in which they were added.

    Rows that this version cannot read are left out.
    """
    return _decoded(transaction.rules.find(numbers))


class _ChangedRule(msgspec.Struct):
    id: int | None = None  # None in records of earlier versions


class _ChangedRules(msgspec.Struct):
    added: list[_ChangedRule] = []
    removed: list[_ChangedRule] = []


def changed_rule_ids(payload: bytes) -> list[int] | None:
    """The ids of the rules in a record of the change log; None if it does not list them."""
    changed = _decode_changed(payload)
    ids = [] if changed is None else [each.id for each in (*changed.added, *changed.removed)]
    known = [each for each in ids if each is not None]
    return known if known and len(known) == len(ids) else None


_decode_changed = msgspec.json.Decoder(_ChangedRules | None).decode


def rules_of(transaction: Transaction, cookie_store_id: str) -> list[SiteRule]:
    """The rules that name an identity, alone or with others. An archive of the identity contains them."""
    quoted = f'"{cookie_store_id}"'.encode()
    rows = [row for row in transaction.rules.find() if quoted in row[1]]  # decoding ten thousand rules takes longer
    return [rule for rule in _decoded(rows) if cookie_store_id in rule.identities]


def remove_rules_of(transaction: Transaction, cookie_store_id: str) -> list[SiteRule]:
    """Remove the rules of an identity that is removed, and its name from rules that it shares. Returns them as before.

    A rule with one identity left no longer asks.
    """
    named = rules_of(transaction, cookie_store_id)
    for rule in named:
        others = tuple(each for each in rule.identities if each != cookie_store_id)
        if others:
            _put(transaction, msgspec.structs.replace(rule, identities=others))
        else:
            transaction.rules.delete(rule.id)
    if named:
        _record_change(transaction)
    return named


class RuleChange(NamedTuple):
    """The result of adding a rule."""

    rule: SiteRule
    kind: Literal["added", "replaced", "unchanged"]


class RuleSet:
    """The rules of a profile in a transaction, for adding many. record_change() must follow."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction
        self._by_pattern: dict[str, SiteRule] = {}
        for rule in find_rules(transaction):
            self._by_pattern.setdefault(_canonical(rule.pattern), rule)
        self._changed: list[SiteRule] = []

    def add(
        self,
        pattern: str,
        stores: tuple[str, ...],
        *,
        ask: bool = False,
        limit: bool = False,
        replace: bool = False,
        number: int | None = None,
    ) -> RuleChange:
        """Add a rule. The same rule again changes nothing; another rule with this pattern only with `replace`.

        `number` is the id of a new rule, if no other rule has it. Default: the next one.
        """
        canonical = parse_site_pattern(pattern).text
        _check_choice(canonical, stores, ask=ask)
        existing = self._by_pattern.get(canonical)
        added = SiteRule(id=0, pattern=canonical, identities=stores, ask=ask, limit=limit)
        if existing is None:
            self._check_number_of_regexes(canonical)
            added = self._insert(added, number)
        else:
            added = msgspec.structs.replace(added, id=existing.id)
            if added == existing:
                return RuleChange(existing, "unchanged")
            if not replace:
                raise SiteRuleExists(canonical, [store_name(self._transaction, each) for each in existing.identities])
            _put(self._transaction, added)
        self._changed.append(added)
        self._by_pattern[canonical] = added
        return RuleChange(added, "added" if existing is None else "replaced")

    def _insert(self, rule: SiteRule, number: int | None) -> SiteRule:
        if number is None or any(each.id == number for each in self._by_pattern.values()):
            return msgspec.structs.replace(rule, id=self._transaction.rules.insert(_encoded(rule)))
        numbered = msgspec.structs.replace(rule, id=number)
        _put(self._transaction, numbered)
        return numbered

    def record_change(self) -> None:
        """Notify every process, if a rule was added or replaced."""
        if self._changed:
            _record_change(self._transaction, added=self._changed)

    def _check_number_of_regexes(self, pattern: str) -> None:
        if pattern.startswith(REGEX_PREFIX):
            count = sum(each.startswith(REGEX_PREFIX) for each in self._by_pattern)
            if count >= MAX_REGEX_RULES:
                raise InvalidSiteRule(
                    pattern,
                    f"the profile has {count} rules with a regular expression, and {MAX_REGEX_RULES} are allowed",
                )


def add_rule(
    transaction: Transaction,
    pattern: str,
    identities: Sequence[IdentityLike],
    *,
    ask: bool = False,
    limit: bool = False,
    replace: bool = False,
) -> SiteRule:
    """Add a rule. See RuleSet.add."""
    parse_site_pattern(pattern)  # an invalid pattern is reported before an unknown identity
    stores = tuple(dict.fromkeys(store_of(transaction, each) for each in identities))
    rules = RuleSet(transaction)
    added = rules.add(pattern, stores, ask=ask, limit=limit, replace=replace).rule
    rules.record_change()
    return added


def restore_rule(transaction: Transaction, rule: SiteRule) -> SiteRule:
    """Add a removed rule again, with its id: regular expressions are tried in the order of their ids.

    Identities that were removed meanwhile are left out. Raises SiteRuleExists, or InvalidIdentity if none is left.
    """
    stores = tuple(each for each in rule.identities if _exists(transaction, each))
    if not stores:
        raise InvalidIdentity(", ".join(rule.identities))
    rules = RuleSet(transaction)
    restored = rules.add(rule.pattern, stores, ask=len(stores) > 1, limit=rule.limit, number=rule.id).rule
    rules.record_change()
    return restored


def _exists(transaction: Transaction, cookie_store_id: str) -> bool:
    number = user_context_id_of(cookie_store_id)
    return number is not None and (number == 0 or transaction.identities.get(number) is not None)


def remove_rules(transaction: Transaction, wanted: Iterable[int | str]) -> list[SiteRule]:
    """Remove the rules with these ids or patterns: all, or none if one is not found. Returns them, each once."""
    rules = find_rules(transaction)
    found = {rule.id: rule for rule in (_find_rule(rules, each) for each in wanted)}
    for number in found:
        transaction.rules.delete(number)
    if found:
        _record_change(transaction, removed=[*found.values()])
    return list(found.values())


def clear_rules(transaction: Transaction, identity: IdentityLike | None = None) -> list[SiteRule]:
    """Remove all rules, or those of an identity; a rule of several identities loses only this one. Returns them."""
    if identity is not None:
        return remove_rules_of(transaction, store_of(transaction, identity))
    rules = find_rules(transaction)
    for number, _ in transaction.rules.find():
        transaction.rules.delete(number)
    if rules:
        _record_change(transaction)
    return rules


def store_of(transaction: Transaction, identity: IdentityLike) -> str:
    """The cookieStoreId of an identity that exists, or `firefox-default`."""
    if isinstance(identity, ContextualIdentity):
        return resolve(transaction, identity).cookie_store_id
    return identity if identity == DEFAULT_COOKIE_STORE_ID else find(transaction, identity).cookie_store_id


def store_name(transaction: Transaction, cookie_store_id: str) -> str:
    """The name of an identity, for messages."""
    return cookie_store_id if cookie_store_id == DEFAULT_COOKIE_STORE_ID else get(transaction, cookie_store_id).name


def _decoded(rows: Iterable[tuple[int, bytes]]) -> list[SiteRule]:
    rules = []
    for number, data in rows:
        try:
            stored = _decode(data)
        except msgspec.MsgspecError as error:  # written by a newer version: it stays in the profile
            logger.warning("rule %d cannot be read and is ignored: %s", number, error)
            continue
        rules.append(
            SiteRule(
                id=number, pattern=stored.pattern, identities=stored.identities, ask=stored.ask, limit=stored.limit
            )
        )
    return rules


def _encoded(rule: SiteRule) -> bytes:
    return _encode(_StoredRule(rule.pattern, rule.identities, rule.ask, rule.limit))


def _put(transaction: Transaction, rule: SiteRule) -> None:
    transaction.rules.put(rule.id, _encoded(rule))


def _record_change(
    transaction: Transaction, *, added: Sequence[SiteRule] = (), removed: Sequence[SiteRule] = ()
) -> None:
    """Append the record of a change. It lists the rules, unless they are many: then it is `null`."""
    payload = None
    if 0 < len(added) + len(removed) <= _MAX_LISTED:
        payload = {"added": [*map(_listed, added)], "removed": [*map(_listed, removed)]}
    transaction.changes.append(RULES_CHANGED, _encode(payload))


def _listed(rule: SiteRule) -> dict[str, object]:
    return {"id": rule.id, "pattern": rule.pattern, "identities": rule.identities}


def _check_choice(pattern: str, stores: Sequence[str], *, ask: bool) -> None:
    if not stores:
        raise InvalidSiteRule(pattern, "it names no identity")
    if ask and len(stores) < 2:
        raise InvalidSiteRule(pattern, "a rule that asks needs two identities or more")
    if not ask and len(stores) > 1:
        raise InvalidSiteRule(
            pattern, "it names several identities. To choose one when a URL is opened, pass --ask (ask=True)"
        )


def _find_rule(rules: Sequence[SiteRule], wanted: int | str) -> SiteRule:
    if isinstance(wanted, str) and wanted.isascii() and wanted.isdigit():
        # A number is an id, unless a pattern is spelled so: no host is a plain number after normalization.
        wanted = int(wanted) if len(wanted) < 19 else wanted
    canonical = "" if isinstance(wanted, int) else _canonical(wanted)
    for rule in rules:
        if rule.id == wanted or (canonical and canonical == _canonical(rule.pattern)):
            return rule
    raise SiteRuleNotFound(wanted)


def _canonical(pattern: str) -> str:
    """The canonical spelling of a pattern; a pattern that this version cannot read is returned as it is."""
    try:
        return parse_site_pattern(pattern).text
    except InvalidSiteRule:
        return pattern
