"""What the start page shows of one identity, as a transaction function that reads it. Contains nothing of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from hatbox.errors import HatboxError
from hatbox.identity.glyphs import Glyph, glyph, identity_glyph
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID, user_context_id_of
from hatbox.identity.model import ContextualIdentity, get
from hatbox.identity.settings import read_settings
from hatbox.site_rules.rule_rows import rules_of
from hatbox.site_rules.site_rule import SiteRule
from hatbox.store.base import Transaction
from hatbox.tabs.first_tab import FIRST_TAB, first_tab
from hatbox.tabs.tab_model import NEW_TAB, Tab, is_blank, tabs_of

__all__ = ["Face", "PageContent", "face_of", "one_line", "read_content"]

_MAX_TABS: Final = 100
_MAX_RULES: Final = 50
_MAX_TEXT: Final = 300  # characters of a name, title or URL
_NO_IDENTITY: Final = "No identity"
_INK, _LIGHT_INK = "#111113", "#ffffff"
_LIGHT_INK_COLORS: Final = frozenset({"violet"})  # the only color on which white is easier to read


class Face(msgspec.Struct, frozen=True):
    """How an identity looks. `color` and `ink` are CSS; None for no identity, which has neutral ones."""

    color: str | None
    ink: str | None
    glyph: Glyph


class PageContent(msgspec.Struct, frozen=True):
    """The parts of the page, as page.js draws them. Names, titles and patterns are text."""

    identity: dict[str, Any]
    tabs: dict[str, Any]
    rules: dict[str, Any]
    settings: list[tuple[str, str]]


def read_content(transaction: Transaction, cookie_store_id: str, tab_id: int) -> PageContent:
    """Read what the start page of a tab shows. Raises InvalidIdentity if the identity was removed."""
    number = user_context_id_of(cookie_store_id) or 0
    transaction.load(identities=[number] if number else (), stores=[number], values=[FIRST_TAB])
    identity = None if cookie_store_id == DEFAULT_COOKIE_STORE_ID else get(transaction, cookie_store_id)
    unused = first_tab(transaction)
    tabs = tabs_of(transaction, transaction.tabs.find(store=number))
    others = [tab for tab in tabs if tab.id not in (tab_id, unused)]
    return PageContent(
        _identity(identity),
        _limited([_tab(tab) for tab in others[:_MAX_TABS]], len(others)),
        _rules(rules_of(transaction, cookie_store_id)),
        _settings(transaction, number) if identity is not None else [],
    )


def face_of(identity: ContextualIdentity | None) -> Face:
    """The face of an identity, or that of no identity."""
    if identity is None:
        return Face(None, None, glyph("ui-brand"))
    ink = _LIGHT_INK if identity.color in _LIGHT_INK_COLORS else _INK
    return Face(identity.color_code, ink, identity_glyph(identity.icon))


def one_line(text: str, limit: int = _MAX_TEXT) -> str:
    """A text without control characters and marks of direction, cut at the limit."""
    printable = " ".join("".join(each if each.isprintable() else " " for each in text[: limit * 4]).split())
    return printable if len(printable) <= limit else f"{printable[: limit - 1]}…"


def _identity(identity: ContextualIdentity | None) -> dict[str, Any]:
    face: dict[str, Any] = msgspec.to_builtins(face_of(identity))
    if identity is None:
        line = "This window belongs to no identity. It has cookies of its own."
        title = f"{_NO_IDENTITY} · {NEW_TAB}"
        return face | {"name": _NO_IDENTITY, "title": title, "line": line, "tabsOf": "Tabs", "goTo": "Go to an address"}
    name = one_line(identity.name)
    return face | {
        "name": name,
        "title": f"{name} · {NEW_TAB}",
        "line": f"Everything in this window is {name}.",
        "tabsOf": f"Tabs of {name}",
        "goTo": f"Go to an address as {name}",
    }


def _tab(tab: Tab) -> dict[str, Any]:
    url = tab.pending_url or tab.url
    parts = urlsplit(url) if url.startswith(("http://", "https://")) else None
    place = url if parts is None else f"{parts.netloc.rpartition('@')[2]}{parts.path}"
    is_new = is_blank(url)
    return {
        "key": tab.id,
        "title": NEW_TAB if is_new else one_line(tab.display_title),
        "place": "" if is_new else one_line(place.removesuffix("/")),
        "pinned": tab.pinned,
        "note": "Hidden" if tab.hidden else "Not loaded" if tab.error else "",
    }


def _rules(rules: Sequence[SiteRule]) -> dict[str, Any]:
    return _limited([{"text": rule.pattern, "note": _note(rule)} for rule in rules[:_MAX_RULES]], len(rules))


def _note(rule: SiteRule) -> str:
    if len(rule.identities) > 1:
        return "From other windows, it asks."
    return "Opens nothing else" if rule.limit else ""


def _limited(shown: list[dict[str, Any]], count: int) -> dict[str, Any]:
    return {"shown": shown, "more": count - len(shown)}


def _settings(transaction: Transaction, number: int) -> list[tuple[str, str]]:
    try:
        settings = read_settings(transaction, number)
        proxy = settings.proxy_url
    except HatboxError:  # stored by another version: the engine reports it
        return []
    address = proxy.server if proxy is not None else settings.proxy or "none"
    shown = [("Proxy", address), ("Locale", settings.locale or "system"), ("Time zone", settings.timezone or "system")]
    return [*shown, ("User agent", one_line(settings.user_agent))] if settings.user_agent else shown
