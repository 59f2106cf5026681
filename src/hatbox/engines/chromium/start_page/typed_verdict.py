"""Where a typed address opens, for the start page: the rules decide, as they do for the navigation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from hatbox.engines.chromium.start_page.page_content import face_of, one_line
from hatbox.engines.navigation_rules import NavigationRules
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, container_user_context_id
from hatbox.identity.model import ContextualIdentity, identity_of
from hatbox.site_rules.rule_reasons import address_verdict
from hatbox.store.base import Store, Transaction
from hatbox.urls.typed_address import parse_typed_address

__all__ = ["address_error", "typed_verdict"]

_MAX_MATCHES: Final = 5
_MAX_SHOWN: Final = 100  # characters of an address in a message


def address_error(text: str) -> str:
    """What is wrong with a typed address; empty if it is one."""
    try:
        parse_typed_address(text)
    except ValueError:
        return f"This is not an address: {one_line(text, _MAX_SHOWN)}. Try forge.example or https://forge.example/"
    return ""


async def typed_verdict(store: Store, rules: NavigationRules, here: str, text: str) -> dict[str, Any]:
    """The verdict that address.js draws. `here` is the cookieStoreId of the window.

    It names other identities only where the rules for this address name them: those that Enter would show.
    """
    if error := address_error(text):
        return {"error": error}
    url = parse_typed_address(text)
    explanation = await rules.explain(url, here)
    shown = explanation.matches[:_MAX_MATCHES]
    wanted = {here, *explanation.decision.identities, *(each for match in shown for each in match.rule.identities)}
    identities = await store.read(lambda each: _read(each, wanted))
    names = {each: one_line(identity.name) for each, identity in identities.items()}
    verdict = address_verdict(explanation, urlsplit(url).hostname or "", names, here)
    target = verdict.identities[0] if verdict.identities else here
    return {
        "title": verdict.title,
        "face": msgspec.to_builtins(face_of(identities.get(target))),
        "note": " ".join(verdict.notes),
        "matches": [
            {"text": each.pattern, "decides": each.decides, "why": each.reason}
            for each in verdict.matches[:_MAX_MATCHES]
        ],
    }


def _read(transaction: Transaction, cookie_store_ids: Iterable[str]) -> dict[str, ContextualIdentity]:
    numbers = {each: container_user_context_id(each) for each in cookie_store_ids if each != DEFAULT_COOKIE_STORE_ID}
    transaction.load(identities=[number for number in numbers.values() if number])
    rows = {each: transaction.identities.get(number) for each, number in numbers.items() if number}
    return {each: identity_of(row) for each, row in rows.items() if row is not None}
