"""Injects scripts and style sheets into a tab, for tabs.executeScript and the namespace scripting.

Error messages match Firefox.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.content_script_host import FrameResult, Injection
from hatbox.api.namespaces.tabs.tab_access import tab_access
from hatbox.api.namespaces.tabs.tab_functions import row_or_active
from hatbox.api.package_paths import package_path
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.extension_data.content_script import CssOrigin, RunAt, ScriptSource, World
from hatbox.extension_data.content_script_matching import FrameDocument, compared_url, is_restricted
from hatbox.tabs.tab_model import Tab, TabRemoval, TabUpdate, is_blank, tab_of
from hatbox.urls.match_patterns import HostPermissions, host_permissions
from hatbox.urls.url import parse_url

__all__ = ["UNEXPECTED", "InjectionAccess", "InjectionRequest", "TabInjector", "require_clonable", "sources_of"]

_OUTSIDE: Final = "Files to be injected must be within the extension"
UNEXPECTED: Final = "An unexpected error occurred"
MAX_CODE: Final = 8 << 20
"""Maximum length of the code of one injection, in characters."""

_MAIN_FRAME: Final = (0,)
_READY_TIMEOUT: Final = 30.0  # seconds for a new tab to start loading its page


class InjectionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of an injection, before the tab and the permissions are known."""

    sources: tuple[ScriptSource, ...]
    frame_ids: tuple[int, ...] | None = _MAIN_FRAME
    document_ids: tuple[str, ...] | None = None
    run_at: RunAt = "document_idle"
    world: World = "ISOLATED"
    css_origin: CssOrigin = "author"
    match_about_blank: bool = False
    match_origin_as_fallback: bool = False


class TabInjector:
    """Injects into the tabs of a profile whose pages are in an engine of this process."""

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._tabs = services.tabs
        self._scripts = services.content_scripts

    async def tab(self, tab_id: int | None) -> Tab:
        """The tab with this id; the active tab without one. Raises ApiError."""
        return await self._store.read(lambda transaction: tab_of(transaction, row_or_active(transaction, tab_id)))

    async def ready_tab(self, tab_id: int | None) -> Tab:
        """The same. Waits until the page of a new tab has started to load."""
        tab = await self.tab(tab_id)
        changed = asyncio.Event()

        def on_change(change: TabUpdate | TabRemoval) -> None:
            if change.tab.id == tab.id:
                changed.set()

        if not _is_starting(tab):
            return tab
        self._tabs.on_updated.add_listener(on_change)
        self._tabs.on_removed.add_listener(on_change)
        try:
            async with asyncio.timeout(_READY_TIMEOUT):
                while _is_starting(tab := await self.tab(tab.id)):
                    await changed.wait()
                    changed.clear()
        except TimeoutError:
            pass
        finally:
            self._tabs.on_updated.remove_listener(on_change)
            self._tabs.on_removed.remove_listener(on_change)
        return tab

    async def execute(self, caller: Caller, tab: Tab, request: InjectionRequest) -> list[FrameResult]:
        """Run scripts in frames of a tab. Raises ApiError if no frame may be accessed."""
        injection = _injection(caller, tab, request)
        results = await self._scripts.host_of(tab.id).execute(injection)
        _require_frames(len(results), request)
        return results

    async def insert_css(self, caller: Caller, tab: Tab, request: InjectionRequest) -> None:
        """Add style sheets to documents of a tab. Raises ApiError if no frame may be accessed."""
        _require_frames(await self._scripts.host_of(tab.id).insert_css(_injection(caller, tab, request)), request)

    async def remove_css(self, caller: Caller, tab: Tab, request: InjectionRequest) -> None:
        """Remove style sheets from documents of a tab. Raises ApiError if no frame may be accessed."""
        _require_frames(await self._scripts.host_of(tab.id).remove_css(_injection(caller, tab, request)), request)


def sources_of(caller: Caller, files: Iterable[str] | None, code: str | None) -> tuple[ScriptSource, ...]:
    """The files of a call, relative to the calling page, or its code. Raises ApiError."""
    if code is not None:
        if len(code) > MAX_CODE:
            raise ApiError(f"The code to inject has {len(code)} characters. The maximum is {MAX_CODE}")
        return (ScriptSource(code=code),)
    paths = [package_path(file, caller.context.url) for file in files or ()]
    if None in paths:
        raise ApiError(_OUTSIDE)
    return tuple(ScriptSource(file=path) for path in paths if path is not None)


def require_clonable(caller: Caller, request: InjectionRequest, results: Iterable[FrameResult]) -> None:
    """Raise ApiError if a result cannot be passed to another context."""
    if not all(each.is_clonable for each in results):
        file = request.sources[-1].file
        shown = f"{caller.context.origin}/{file}" if file else "<anonymous code>"
        raise ApiError(f"Script '{shown}' result is non-structured-clonable data")


def _injection(caller: Caller, tab: Tab, request: InjectionRequest) -> Injection:
    access = tab_access(caller)
    has_active_tab = access._replace(hosts=host_permissions(frozenset()), page="").has_host_access(tab)
    allowed = InjectionAccess(
        caller.hosts, tab.url if has_active_tab else "", request.match_about_blank, request.match_origin_as_fallback
    )
    return Injection(
        extension_id=caller.extension_id,
        tab_id=tab.id,
        allows=allowed.allows,
        frame_ids=request.frame_ids,
        document_ids=request.document_ids,
        sources=request.sources,
        run_at=request.run_at,
        world=request.world,
        css_origin=request.css_origin,
    )


def _require_frames(count: int, request: InjectionRequest) -> None:
    if not count:
        frames = "" if request.frame_ids == _MAIN_FRAME else " or frames"
        raise ApiError(f"Missing host permission for the tab{frames}")


def _is_starting(tab: Tab) -> bool:
    return is_blank(tab.url) and bool(tab.pending_url) and not is_blank(tab.pending_url)


class InjectionAccess(NamedTuple):
    """The access of an extension to the documents of a tab, captured when the call is made."""

    hosts: HostPermissions
    active_url: str = ""
    """The URL of the page that activeTab gives access to; empty without that permission."""
    match_about_blank: bool = False
    match_origin_as_fallback: bool = False

    def allows(self, document: FrameDocument) -> bool:
        """Whether the extension may inject scripts into a document."""
        origin_url = document.origin_url
        if not origin_url or is_restricted(origin_url):
            return False
        if self._is_active(document):
            return True
        url = compared_url(
            document, about_blank=self.match_about_blank, origin_as_fallback=self.match_origin_as_fallback
        )
        parsed = None if url is None else parse_url(url)
        return parsed is not None and self.hosts.allow_url(parsed.scheme, parsed.host)

    def _is_active(self, document: FrameDocument) -> bool:
        """Whether activeTab allows it: the page that the user chose, and its frames of the same origin.

        A sandboxed frame has an origin of its own, whatever its URL and its creator are.
        """
        if not self.active_url or _origin(document.top_url) != _origin(self.active_url):
            return False
        if document.is_top:
            return True
        return not document.has_opaque_origin and _origin(document.origin_url) == _origin(self.active_url)


def _origin(text: str) -> tuple[str, str, str] | None:
    url = parse_url(text)
    return None if url is None else (url.scheme, url.host, url.port_suffix)
