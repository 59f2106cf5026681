"""Restores site rules. Adds those that are missing; changes and removes none, because rules concern several identities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from hatbox.archive.identity_archive import ArchivedRule
from hatbox.errors import ArchiveDamaged
from hatbox.identities.ids import container_user_context_id, cookie_store_id_of
from hatbox.store.base import Transaction

__all__ = ["restore_rules"]

RULES_CHANGED: Final = "rules.changed"
"""Topic of the change log."""


def restore_rules(transaction: Transaction, rules: Sequence[ArchivedRule], ids: Mapping[int, int]) -> int:
    """Add the rules that are missing. `ids`: the ids of restored identities here, by archived id.

    A rule whose pattern has a rule already is not added: the user may have assigned the site to another identity since.
    Identities that are neither restored nor exist here are left out of a rule. Returns the number of added rules.
    """
    if not rules:
        return 0
    patterns = {_decode(data).get("pattern") for _, data in transaction.rules.find()}
    added = 0
    for _, data in rules:
        rule = _decode(data)
        named = [_here(transaction, each, ids) for each in rule.get("identities", ())]
        present = [each for each in named if each is not None]
        if rule.get("pattern") in patterns or not present:
            continue
        rule["identities"] = present
        patterns.add(rule.get("pattern"))
        transaction.rules.insert(msgspec.json.encode(rule))
        added += 1
    if added:
        transaction.changes.append(RULES_CHANGED, b"null")
    return added


def _decode(data: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ArchiveDamaged("the archived identity", f"a site rule is invalid: {error}") from error


def _here(transaction: Transaction, cookie_store_id: str, ids: Mapping[int, int]) -> str | None:
    """The id here of an identity that a rule names."""
    number = container_user_context_id(cookie_store_id)
    if number is None:
        return cookie_store_id  # the default store
    if number in ids:
        return cookie_store_id_of(ids[number])
    return cookie_store_id if transaction.identities.get(number) is not None else None
