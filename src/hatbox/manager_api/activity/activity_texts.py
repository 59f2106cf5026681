"""The words of the activity, for one change or for several that are shown as one. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.manager_api.activity.observed_changes import Observation

__all__ = ["text_of"]

NO_IDENTITY: Final = "no identity"

_TEXTS: Final[Mapping[str, tuple[str, str]]] = {
    "created": ("Created", "Created"),
    "restored": ("Restored from the trash", "Restored from the trash"),
    "changed": ("Name, color or icon changed", "Name, color or icon changed"),
    "moved": ("Moved in the list", "Moved in the list"),
    "removed": ("Moved to the trash", "Moved to the trash"),
    "deleted": ("An identity was deleted forever", "{count} identities were deleted forever"),
    "settings": ("Settings changed", "Settings changed"),
    "tab opened": ("Tab opened: “{subject}”", "{count} tabs opened"),
    "tab closed": ("Tab closed: “{subject}”", "{count} tabs closed"),
    "page": ("Page opened: “{subject}”", "{count} pages opened"),
    "signed in": ("Signed in on {subject}", "Signed in on {count} sites"),
    "site data": ("Site data of {subject} deleted", "Site data of {count} sites deleted"),
    "rules": ("Rules changed", "Rules changed"),
    "engine started": ("{subject} started", "{subject} started"),
    "engine stopped": ("{subject} stopped", "{subject} stopped"),
    "extension installed": ("Extension {subject} installed", "{count} extensions installed"),
    "extension removed": ("Extension {subject} removed", "{count} extensions removed"),
    "extension enabled": ("Extension {subject} enabled", "{count} extensions enabled"),
    "extension disabled": ("Extension {subject} disabled", "{count} extensions disabled"),
    "extension started": ("Extension {subject} started", "{count} extensions started"),
    "extension stopped": ("Extension {subject} stopped", "{count} extensions stopped"),
    "granted": ("Extension {subject} may now use {place}", "Permissions of {subject} granted"),
    "revoked": ("Extension {subject} may no longer use {place}", "Permissions of {subject} revoked"),
    "bookmark added": ("Bookmark added: “{subject}”", "{count} bookmarks added"),
    "bookmark removed": ("Bookmark removed: “{subject}”", "{count} bookmarks removed"),
    "profile settings": ("Settings of the profile changed", "Settings of the profile changed"),
}
_COOKIE_VERBS: Final = {
    "cookie set": "set",
    "cookie refreshed": "refreshed",
    "cookie deleted": "deleted",
    "cookie expired": "expired",
    "cookie evicted": "deleted to make room",
}


def text_of(found: Sequence[Observation], names: Mapping[str, str]) -> str:
    """The sentence for observations of one kind and one identity. `names` are those of identities and extensions."""
    kind, unique = found[0].kind, list(dict.fromkeys(each[2:4] for each in found))
    if kind in _COOKIE_VERBS:
        return _cookie_text(unique, _COOKIE_VERBS[kind])
    if kind in ("hidden", "shown"):
        return _hiding_text(kind, int(found[0].subject or 0))
    if kind == "tab moved":
        return _moving_text(found, names)
    if kind in ("rule added", "rule removed"):
        return _rule_text(found, names)
    one, many = _TEXTS[kind]
    subject, place = unique[0]
    if kind == "site data" and not subject:
        return "Site data of all sites deleted"
    text = one if len(unique) == 1 else many
    count = len(found) if kind == "deleted" else len(unique)
    if kind == "deleted" and count > 1:
        text = many
    return text.format(subject=names.get(subject, subject), place=place, count=count)


def _cookie_text(cookies: Sequence[tuple[str, str]], verb: str) -> str:
    name, host = cookies[0]
    if len(cookies) == 1:
        return f"Cookie {name} on {host} {verb}"
    hosts = {host for _, host in cookies}
    where = host if len(hosts) == 1 else f"{len(hosts)} sites"
    return f"{len(cookies)} cookies on {where} {verb}"


def _hiding_text(kind: str, tabs: int) -> str:
    said = "Hidden" if kind == "hidden" else "Shown again"
    if not tabs:
        return said
    count = "Its tab" if tabs == 1 else f"Its {tabs} tabs"
    return f"{said}. {count} closed" if kind == "hidden" else f"{said}. {count} reopened"


def _moving_text(found: Sequence[Observation], names: Mapping[str, str]) -> str:
    if len(found) > 1:
        return f"{len(found)} tabs moved here"
    source = _name(found[0].place, names)
    return f"Tab moved here from {source}: “{found[0].subject}”"


def _rule_text(found: Sequence[Observation], names: Mapping[str, str]) -> str:
    rule, verb = found[0], found[0].kind.removeprefix("rule ")
    if len(found) > 1:
        return f"{len(found)} rules {verb}"
    if verb == "removed":
        return f"Rule removed: {rule.subject}"
    stores = [_name(each, names) for each in rule.stores]
    if len(stores) > 1:
        return f"Rule added: {rule.subject} asks: {', '.join(stores[:-1])} or {stores[-1]}"
    return f"Rule added: {rule.subject} opens in {stores[0]}"


def _name(store: str, names: Mapping[str, str]) -> str:
    return NO_IDENTITY if store == DEFAULT_COOKIE_STORE_ID else names.get(store, "another identity")
