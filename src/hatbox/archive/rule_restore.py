"""Restores site rules. Adds those that are missing; others stay, because a rule may concern several identities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from hatbox.archive.identity_archive import ArchivedRule
from hatbox.errors import ArchiveDamaged
from hatbox.identity.ids import container_user_context_id, cookie_store_id_of
from hatbox.site_rules.site_rule import RULES_CHANGED
from hatbox.store.base import Transaction

__all__ = ["restore_rules"]


class _Rule(msgspec.Struct):
    """What is checked. Fields of later versions are restored as they are."""

    pattern: str
    identities: list[str]


def restore_rules(
    transaction: Transaction, rules: Sequence[ArchivedRule], ids: Mapping[int, int], *, same_profile: bool = False
) -> int:
    """Add the rules that are missing. `ids`: the ids of restored identities here, by archived id.

    A pattern that has a rule already keeps it: the user may have assigned the site to another identity since. But a
    restored identity is added again to a rule from which it was removed. With `same_profile`, ids and numbers in the
    rules are those of this profile, so a rule gets its old number if that is free. Returns the number of rules that
    were added or changed.
    """
    if not rules:
        return 0
    rows = transaction.rules.find()
    numbers = {number for number, _ in rows}
    present = {rule["pattern"]: (number, rule) for number, data in rows if (rule := _decode_present(data)) is not None}
    changed = 0
    for number, data in rules:
        rule = _decode(data)
        rule["identities"] = named = [
            here
            for each in rule.get("identities", ())
            if (here := _here(transaction, each, ids, same_profile=same_profile)) is not None
        ]
        pattern = rule.get("pattern")
        if not named:
            continue
        if pattern not in present:
            changed += 1
            numbers.add(_insert(transaction, number if same_profile and number not in numbers else None, rule))
        elif _is_part(present[pattern][1], rule):
            changed += 1
            _put(transaction, present[pattern][0], rule)
    if changed:
        transaction.changes.append(RULES_CHANGED, b"null")
    return changed


def _insert(transaction: Transaction, number: int | None, rule: dict[str, Any]) -> int:
    if number is None:
        number = transaction.rules.insert(msgspec.json.encode(rule))
        if "id" not in rule:
            return number
    _put(transaction, number, rule)
    return number


def _put(transaction: Transaction, number: int, rule: dict[str, Any]) -> None:
    if "id" in rule:
        rule["id"] = number
    transaction.rules.put(number, msgspec.json.encode(rule))


def _is_part(rule: dict[str, Any], whole: dict[str, Any]) -> bool:
    """Whether a rule is another one from which identities were removed. All else is equal, or the user replaced it."""
    less, more = rule["identities"], whole["identities"]
    return _rest(rule) == _rest(whole) and len(more) > len(less) and set(less) < set(more)


def _rest(rule: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in rule.items() if name not in ("id", "identities") and value is not False}


def _decode_present(data: bytes) -> dict[str, Any] | None:
    """A rule of this profile. None if this version cannot read it: it stays as it is."""
    try:
        return _decode(data)
    except ArchiveDamaged:
        return None


def _decode(data: bytes) -> dict[str, Any]:
    try:
        rule: dict[str, Any] = msgspec.json.decode(data, type=dict[str, Any])
        msgspec.convert(rule, _Rule)
        return rule
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ArchiveDamaged("the archive", f"a site rule is invalid: {error}") from error


def _here(transaction: Transaction, cookie_store_id: str, ids: Mapping[int, int], *, same_profile: bool) -> str | None:
    """The id here of an identity that a rule names; None if it does not exist."""
    number = container_user_context_id(cookie_store_id)
    if number is None:
        return cookie_store_id  # the default store
    if number in ids:
        return cookie_store_id_of(ids[number])
    return cookie_store_id if same_profile and transaction.identities.get(number) is not None else None
