"""The targets of one identity, as one client sees them. Pure: knows no messages and no sessions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from hatbox.engines.chromium.endpoint.endpoint_urls import is_withheld

__all__ = ["PRERENDER", "ClientTargets", "TargetFilter", "matches"]

TargetFilter = list[dict[str, Any]]
"""The argument `filter` of Target.setDiscoverTargets: the first entry that matches decides."""

PRERENDER: Final = "prerender"
"""The subtype of a page that is loaded in advance. Clients see it when it is shown."""
_SHARED: Final = frozenset({"shared_worker", "service_worker"})
_TYPES: Final = frozenset({"page", "iframe", "worker", "tab"}) | _SHARED
_DEFAULT_FILTER: Final[TargetFilter] = [{"type": "browser", "exclude": True}, {"type": "tab", "exclude": True}, {}]
_PARENTS: Final = ("parentId", "parentFrameId")
_RELATED: Final = (*_PARENTS, "openerId")
_MAX_ANCESTORS: Final = 50
_WEB: Final = ("http:", "https:")
_OF_OPENER: Final = ("openerId", "openerFrameId")


class ClientTargets:
    """The targets of a browser context. A target of another context does not exist here."""

    def __init__(self, context_id: str) -> None:
        self.context_id = context_id
        self.announced: set[str] = set()
        """The ids that the client was given."""
        self.opened: set[str] = set()
        """The pages that the client has opened, and those that these have opened."""
        self._infos: dict[str, dict[str, Any]] = {}
        self._parts: dict[str, dict[str, None]] = {}  # by target: those that it contains or has opened
        self._withheld: set[str] = set()
        self._inheriting: set[str] = set()  # blank pages with the origin of a withheld frame
        self._before: set[str] = set()  # the targets that existed when the context was withheld

    @property
    def is_limited(self) -> bool:
        """Whether the context is withheld: a person uses the identity. See `withhold`."""
        return self.context_id in self._withheld

    def observe(self, info: dict[str, Any]) -> bool:
        """Store the current state of a target. False if it is not one of the identity."""
        if info.get("browserContextId") != self.context_id or info.get("type") not in _TYPES:
            return False
        before = self._infos.get(info["targetId"])
        self._infos[info["targetId"]] = info
        if before is None or _related_ids(before) != _related_ids(info):
            self._set_parents(info["targetId"], before, info)
        self._note_origin(info)
        if info.get("openerId") in self.opened:
            self.opened.add(info["targetId"])
        return True

    def remove(self, target_id: str) -> None:
        """A target is closed."""
        self._set_parents(target_id, self._infos.pop(target_id, None), None)
        for ids in (self.announced, self.opened, self._withheld, self._inheriting, self._before):
            ids.discard(target_id)

    def withhold(self, target_id: str) -> None:
        """Withhold a target and the pages that it opens, until `release`.

        With the id of the context: the pages that appear from now on, except those that pages of the client open, and
        the workers that all pages of a site share. Chromium does not report the opener of every page.
        """
        if target_id == self.context_id and not self.is_limited:
            self._before = {*self._infos}
        self._withheld.add(target_id)
        for info in self._infos.values():
            self._note_origin(info)

    def allow(self, target_id: str) -> None:
        """A frame or worker belongs to a visible page, so `withhold` with the id of the context does not apply."""
        self._before.add(target_id)

    def release(self, target_id: str) -> None:
        """End `withhold`. The target may still be withheld because of its URL."""
        self._withheld.discard(target_id)

    def is_visible(self, target_id: str) -> bool:
        """Whether clients may see and use a target now.

        A frame or worker is withheld with its page. A popup of a page that is withheld on request is too: it may be
        part of a sign-in. So are shared and service workers meanwhile, which see the requests of the page.
        """
        info = self._infos.get(target_id)
        if info is None or info.get("subtype") == PRERENDER:
            return False
        if self.is_limited and (info["type"] in _SHARED or not (target_id in self._before or target_id in self.opened)):
            return False
        if info["type"] in _SHARED and any(map(self._is_withheld_site, self._withheld)):
            return False
        return self._is_free(info)

    def ids(self) -> list[str]:
        """All targets, visible or not."""
        return [*self._infos]

    def _is_free(self, info: dict[str, Any]) -> bool:
        """Whether neither a target nor one of those that contain or have opened it is withheld."""
        seen, level = {info["targetId"]}, [info]
        for _ in range(_MAX_ANCESTORS):
            if any(self._is_withheld(each) for each in level):
                return False
            above = []
            for key, related_id in [(key, each.get(key, "")) for each in level for key in _RELATED]:
                if related_id in self._withheld:
                    return False
                related = self._infos.get(related_id)
                if related is None or related["type"] == "tab" or related_id in seen:
                    continue
                if key != "openerId" or not is_withheld(related["url"]):  # web pages of an internal page are free
                    seen.add(related_id)
                    above.append(related)
            if not above:
                return True
            level = above
        return False

    def _is_withheld(self, info: dict[str, Any]) -> bool:
        """Whether a target itself is withheld."""
        target_id = info["targetId"]
        return target_id in self._withheld or target_id in self._inheriting or is_withheld(info["url"])

    def _note_origin(self, info: dict[str, Any]) -> None:
        """A blank page has the origin of the frame that has opened it, also when that is gone."""
        if info["url"] != "" and not info["url"].startswith("about:"):
            self._inheriting.discard(info["targetId"])
        elif info["type"] == "page" and self._is_of_extension(info.get("openerFrameId", ""), info.get("openerId", "")):
            self._inheriting.add(info["targetId"])

    def _is_of_extension(self, frame_id: str, page_id: str) -> bool:
        """Whether a frame is one of an extension, or may be in one: Chromium does not report the frames in a frame."""
        if page_id in self._inheriting or is_withheld(self.url_of(page_id)):
            return True
        if frame_id in ("", page_id):
            return False
        frames = [key for key in self._withheld if self.type_of(key) == "iframe" and self.page_of(key) == page_id]
        return frame_id in self._withheld or (bool(frames) and frame_id not in self._infos)

    def _is_withheld_site(self, target_id: str) -> bool:
        """Whether a target shows a web page. The start page of Hatbox is none."""
        return str(self._infos.get(target_id, {}).get("url", "")).startswith(_WEB)

    def has_withheld_frame(self, page_id: str) -> bool:
        """Whether a page contains a frame that clients do not see, as one of an extension."""
        parts = [key for key in self.related(page_id) if self.type_of(key) == "iframe"]
        return any(not self.is_visible(key) and self.page_of(key) == page_id for key in parts)

    def page_of(self, target_id: str) -> str:
        """The page that contains a frame or dedicated worker; else the target itself."""
        for _ in range(_MAX_ANCESTORS):
            parent_id = self._infos.get(target_id, {}).get("parentId", "")
            if parent_id not in self._infos or self._infos[parent_id]["type"] == "tab":
                break
            target_id = parent_id
        return target_id

    def may_use(self, target_id: object) -> bool:
        """Whether a client may name a target: it was given the id, and the target is not withheld.

        The id of a page may be that of /json/list or of another connection: nodriver has one for each page.
        """
        if not isinstance(target_id, str) or not self.is_visible(target_id):
            return False
        return target_id in self.announced or self.type_of(target_id) == "page"

    def announce(self, target_id: str) -> dict[str, Any]:
        """The description of a visible target for the client, which may use its id from now on."""
        self.announced.add(target_id)
        return self.described(self._infos[target_id])

    def described(self, info: dict[str, Any]) -> dict[str, Any]:
        """A description without what belongs to targets that the client does not see.

        Nothing tells which page is in a tab before it is attached, so that URL and title are those of pages only.
        """
        if info.get("type") == "tab":
            info = info | {"title": "", "url": "about:blank"}
        hidden = set() if self.is_visible(info.get("openerId", "")) else set(_OF_OPENER)
        return {key: each for key, each in info.items() if key not in hidden and key != "embedderData"}

    def visible(self, wanted: TargetFilter | None) -> Iterable[str]:
        """The ids of visible targets that match the filter of a client."""
        return [each for each, info in self._infos.items() if self.is_visible(each) and matches(wanted, info["type"])]

    def related(self, target_id: str) -> list[str]:
        """A target, the frames, workers and pages that are withheld with it, and so on."""
        found = {target_id: None}
        waiting = [target_id]
        for each in waiting:
            new = [key for key in self._parts.get(each, ()) if key not in found]
            found |= dict.fromkeys(new)
            waiting += new
        shared = [key for key, info in self._infos.items() if info["type"] in _SHARED and key not in found]
        return waiting + shared

    def _set_parents(self, target_id: str, before: dict[str, Any] | None, info: dict[str, Any] | None) -> None:
        for each in _related_ids(before or {}):
            parts = self._parts.get(each, {})
            parts.pop(target_id, None)
            if not parts:
                self._parts.pop(each, None)
        for each in _related_ids(info or {}):
            self._parts.setdefault(each, {})[target_id] = None

    def is_prerendered(self, target_id: str) -> bool:
        """Whether a target is a page that is loaded in advance."""
        return self._infos.get(target_id, {}).get("subtype") == PRERENDER

    def type_of(self, target_id: str) -> str:
        """The type of a target; empty if it is unknown."""
        return str(self._infos.get(target_id, {}).get("type", ""))

    def url_of(self, target_id: str) -> str:
        """The URL of a target; empty if it is unknown."""
        return str(self._infos.get(target_id, {}).get("url", ""))


def _related_ids(info: dict[str, Any]) -> set[str]:
    return {info[name] for name in _RELATED if name in info}


def matches(wanted: TargetFilter | None, target_type: str) -> bool:
    """Whether a filter includes a type of targets."""
    for entry in _DEFAULT_FILTER if wanted is None else wanted:
        if entry.get("type") in (None, target_type):
            return not entry.get("exclude")
    return False
