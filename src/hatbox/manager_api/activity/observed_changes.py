"""What the changes of one commit mean to a person. Knows topics and payloads, and no text. No value of a cookie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.bookmarks import bookmark_changes as bookmarks
from hatbox.cookies.cookie import ChangeCause
from hatbox.cookies.cookie_rows import COOKIE_CHANGED
from hatbox.cookies.cookie_sites import host_of
from hatbox.cookies.sign_in_cookies import looks_like_sign_in
from hatbox.engines.running_engines import ENGINES_CHANGED
from hatbox.extension_data import granted_permissions as grants
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data import run_records as runs
from hatbox.extension_data.extension_permissions import Permissions
from hatbox.identities.trash_rows import TRASH_CHANGED
from hatbox.identity import model as identities
from hatbox.identity.ids import cookie_store_id_of
from hatbox.site_rules.site_rule import RULES_CHANGED
from hatbox.store.profile_settings import PROFILE_SETTINGS_CHANGED
from hatbox.tabs import tab_model as tabs
from hatbox.tabs.site_data import SITE_DATA_CLEARED

__all__ = ["TOPICS", "Observation", "observe"]

_MAX_SUBJECT: Final = 200  # characters
_WHOLE_IDENTITY: Final = ("created", "removed", "restored")
"""Kinds that stand for all that the same commit says of the tabs and cookies of the identity."""


class Observation(NamedTuple):
    """One change: of which kind, of which identity, and of what."""

    kind: str
    store: str | None = None
    """The cookieStoreId."""
    subject: str = ""
    """The title of a tab, the name of an extension and so on."""
    place: str = ""
    """The host of a cookie, or the identity that a tab came from."""
    tab: int | None = None
    url: str = ""
    stores: tuple[str, ...] = ()
    """The identities of a rule."""


def observe(changes: Sequence[tuple[str, bytes]]) -> list[Observation]:
    """What a commit did. Unknown topics, and payloads of other versions, are left out."""
    found: list[Observation] = []
    for topic, payload in changes:
        try:
            if (observer := _OBSERVERS.get(topic)) is not None:
                found += observer(topic, msgspec.json.decode(payload))
        except (msgspec.MsgspecError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
            continue
    return _summarized(found)


def _summarized(found: list[Observation]) -> list[Observation]:
    """Without what another observation of the same commit says already."""
    deleted = {each.store for each in found if each.kind == "trash"}
    created = {each.store for each in found if each.kind == "created"}
    restored = deleted & created
    found = [
        each._replace(kind="restored") if each.kind == "created" and each.store in restored else each
        for each in found
        if not (each.kind == "trash" and each.store in restored)
    ]
    whole = {each.store for each in found if each.kind in _WHOLE_IDENTITY}
    found = [
        each
        for each in found
        if each.kind in _ABOUT_IDENTITIES or (each.store not in whole and not (whole and each.kind == "rules"))
    ]
    return _with_moved_tabs(_with_tab_counts(_with_refreshed_cookies(found)))


def _with_tab_counts(found: list[Observation]) -> list[Observation]:
    """Hiding an identity hides its tabs: one observation for both."""
    rest: list[Observation] = []
    for each in found:
        if each.kind in ("hidden", "shown"):
            count = sum(other.kind == f"tab {each.kind}" and other.store == each.store for other in found)
            rest.append(each._replace(subject=str(count)))
        elif not each.kind.startswith("tab ") or each.kind in ("tab opened", "tab closed"):
            rest.append(each)
    return rest


def _with_moved_tabs(found: list[Observation]) -> list[Observation]:
    """A tab that is closed, and opened with the same URL in another identity, was moved there."""
    closed = {each.url: each for each in found if each.kind == "tab closed" and each.url}
    moved: set[str] = set()
    rest: list[Observation] = []
    for each in found:
        source = closed.get(each.url) if each.kind == "tab opened" and each.url else None
        if source is not None and source.store != each.store:
            moved.add(each.url)
            rest.append(each._replace(kind="tab moved", subject=source.subject, place=source.store or ""))
        else:
            rest.append(each)
    return [each for each in rest if not (each.kind == "tab closed" and each.url in moved)]


def _with_refreshed_cookies(found: list[Observation]) -> list[Observation]:
    """A cookie that replaces one is refreshed. One that looks like a sign-in, and replaces none, is a sign-in."""
    replaced = {each[1:4] for each in found if each.kind == "cookie replaced"}
    signed_in = {
        (each.store, host_of(each.place))
        for each in found
        if each.kind == "cookie signed in" and each[1:4] not in replaced
    }
    rest: list[Observation] = []
    for each in found:
        if each.kind == "cookie replaced":
            continue
        if each.kind in ("cookie set", "cookie signed in"):
            if each[1:4] in replaced:
                rest.append(each._replace(kind="cookie refreshed"))
            elif (each.store, host_of(each.place)) not in signed_in:
                rest.append(each._replace(kind="cookie set"))
        else:
            rest.append(each)
    rest += [Observation("signed in", store, host) for store, host in sorted(signed_in, key=str)]
    return rest


# ── Topics ──


def _identity(topic: str, payload: Mapping[str, Any]) -> Iterator[Observation]:
    yield Observation(_IDENTITY_KINDS[topic], payload["cookieStoreId"])


def _settings(_: str, payload: str) -> Iterator[Observation]:
    yield Observation("settings", payload)


def _trash(_: str, payload: str) -> Iterator[Observation]:
    yield Observation("trash", payload)


def _tab_created(_: str, payload: Mapping[str, Any]) -> Iterator[Observation]:
    yield _of_tab("tab opened", payload)


def _tab_removed(_: str, payload: Mapping[str, Any]) -> Iterator[Observation]:
    yield _of_tab("tab closed", payload["tab"])


def _tab_updated(_: str, payload: Mapping[str, Any]) -> Iterator[Observation]:
    tab, changed = payload["tab"], payload["changed"]
    if "hidden" in changed:
        yield _of_tab("tab hidden" if tab["hidden"] else "tab shown", tab)
    elif "url" in changed and not tabs.is_blank(tab["url"]):
        yield _of_tab("page", tab)


def _of_tab(kind: str, tab: Mapping[str, Any]) -> Observation:
    title = tabs.display_title(tab["title"], tab["url"], tab["target"])
    return Observation(
        kind, tab["cookie_store_id"], title[:_MAX_SUBJECT], tab=tab["id"], url=tab["target"] or tab["url"]
    )


def _cookie(_: str, payload: Sequence[Any]) -> Iterator[Observation]:
    number, removed, cause, row = payload
    host, name = row[0].removeprefix("."), row[3][:_MAX_SUBJECT]
    if removed:
        kind = _CAUSES.get(cause, "cookie deleted")
    else:
        kind = "cookie signed in" if looks_like_sign_in(row[3], bool(row[7])) else "cookie set"
    yield Observation(kind, cookie_store_id_of(number), name, host)


def _site_data(_: str, payload: Mapping[str, Any]) -> Iterator[Observation]:
    store = cookie_store_id_of(payload["number"])
    for host in payload["hosts"] if payload["hosts"] is not None else [""]:
        yield Observation("site data", store, host[:_MAX_SUBJECT])


def _rules(_: str, payload: Mapping[str, Any] | None) -> Iterator[Observation]:
    if not payload:
        yield Observation("rules")
        return
    for kind in ("added", "removed"):
        for rule in payload[kind]:
            stores = tuple(rule["identities"])
            yield Observation(f"rule {kind}", stores[0], rule["pattern"][:_MAX_SUBJECT], stores=stores)


def _engine(_: str, payload: Mapping[str, str] | None) -> Iterator[Observation]:
    if payload and payload["event"] in ("started", "stopped"):
        yield Observation(f"engine {payload['event']}", None, payload["name"])


def _extension(topic: str, payload: Mapping[str, Any]) -> Iterator[Observation]:
    if payload.get("installType") != "development":  # one that runs from a folder is only started
        yield Observation(_EXTENSION_KINDS[topic], None, payload["name"][:_MAX_SUBJECT])


def _grants(topic: str, payload: Mapping[str, Any]) -> Iterator[Observation]:
    permissions = msgspec.convert(payload["permissions"], Permissions).visible()
    names = [*permissions.permissions, *permissions.origins, *permissions.data_collection]
    if names:
        kind = "granted" if topic == grants.ADDED else "revoked"
        yield Observation(kind, None, payload["extension"], ", ".join(names)[:_MAX_SUBJECT])


def _bookmark(topic: str, payload: Any) -> Iterator[Observation]:
    kind = "bookmark added" if topic == bookmarks.CREATED else "bookmark removed"
    node = next((each for each in _nodes(payload)), None)
    if node is not None:
        yield Observation(kind, None, (node.get("title") or node.get("url") or "")[:_MAX_SUBJECT])


def _nodes(payload: Any) -> Iterator[Mapping[str, Any]]:
    waiting = [payload]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, Mapping):
            if "title" in each:
                yield each
            waiting += each.values()
        elif isinstance(each, list):
            waiting += each


def _profile_settings(_: str, __: Any) -> Iterator[Observation]:
    yield Observation("profile settings")


_IDENTITY_KINDS: Final = {
    identities.CREATED: "created",
    identities.UPDATED: "changed",
    identities.MOVED: "moved",
    identities.HIDDEN: "hidden",
    identities.SHOWN: "shown",
    identities.REMOVED: "removed",
}
_EXTENSION_KINDS: Final = {
    installed.INSTALLED: "extension installed",
    installed.UNINSTALLED: "extension removed",
    installed.ENABLED: "extension enabled",
    installed.DISABLED: "extension disabled",
    runs.STARTED: "extension started",
    runs.STOPPED: "extension stopped",
}
_CAUSES: Final = {
    ChangeCause.OVERWRITE: "cookie replaced",
    ChangeCause.EXPIRED: "cookie expired",
    ChangeCause.EVICTED: "cookie evicted",
}
_ABOUT_IDENTITIES: Final = frozenset({*_IDENTITY_KINDS.values(), "restored", "trash", "rule added", "rule removed"})

_Observer = Callable[[str, Any], Iterator[Observation]]
_OBSERVERS: Final[Mapping[str, _Observer]] = {
    **dict.fromkeys(_IDENTITY_KINDS, _identity),
    **dict.fromkeys(_EXTENSION_KINDS, _extension),
    identities.SETTINGS_CHANGED: _settings,
    TRASH_CHANGED: _trash,
    tabs.CREATED: _tab_created,
    tabs.REMOVED: _tab_removed,
    tabs.UPDATED: _tab_updated,
    COOKIE_CHANGED: _cookie,
    SITE_DATA_CLEARED: _site_data,
    RULES_CHANGED: _rules,
    ENGINES_CHANGED: _engine,
    grants.ADDED: _grants,
    grants.REMOVED: _grants,
    bookmarks.CREATED: _bookmark,
    bookmarks.REMOVED: _bookmark,
    PROFILE_SETTINGS_CHANGED: _profile_settings,
}

TOPICS: Final = frozenset(_OBSERVERS)
"""The topics of which people see something."""
