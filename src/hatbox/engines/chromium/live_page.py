"""One page of the browser: what it loads, what becomes of it, and what is needed to show it again.

Knows neither identities nor the profile. It has a session of its own with the page, beside Playwright's.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Sequence
from typing import Any, Final, Protocol

import msgspec
from playwright.async_api import Download, Frame
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page as PlaywrightPage

from hatbox.engines.base import PageState
from hatbox.engines.chromium import page_snapshot as history
from hatbox.engines.chromium.addresses import refusal
from hatbox.engines.chromium.closing import close_page
from hatbox.engines.chromium.debounce import Debouncer, log_exceptions
from hatbox.engines.chromium.identity_indicator import IdentityIndicator
from hatbox.engines.chromium.isolated_world import IsolatedWorld
from hatbox.engines.chromium.net_errors import ABORTED, UNAUTHORIZED, load_error_message
from hatbox.engines.chromium.sessions import Session, within
from hatbox.engines.chromium.tab_reporter import TabReporter
from hatbox.engines.chromium.typed_input import OTHER_SITE, Form, TypedInput, merged
from hatbox.engines.chromium.typed_input import read as read_typed
from hatbox.tabs.tab_model import BLANK

__all__ = ["LivePage", "NavigationResponse", "PageDelegate"]

logger = logging.getLogger("hatbox.engines.chromium")

_PAGE_TIMEOUT: Final = 5.0  # seconds that a page has to answer us
_SNAPSHOT_DELAY: Final = 0.5
_COOKIE_READ_DELAY: Final = 0.05
_IN_WINDOW: Final = ": enter them in its window"
_IN_URL: Final = (
    ": there is no window to enter them in. Put them into the URL of page(), or handle webRequest.onAuthRequired"
)
_MOMENT: Final = 0.5
_FILLING: Final = 20.0  # seconds to wait for the fields to fill in
_MOST_FRAMES: Final = 20
_TEXT: Final = """() => [...document.querySelectorAll("input, textarea")].slice(0, 1000).some(
    (field) => !["hidden", "checkbox", "radio"].includes(field.type) && field.value !== field.defaultValue)"""
_NEW_TAB: Final = ("newTab", "newWindow")
_SAME_DOCUMENT: Final = ("sameDocument", "historySameDocument")
_BLANK_ANSWER: Final = [
    {"name": "Content-Type", "value": "text/html"},
    {"name": "Cache-Control", "value": "no-store"},  # who goes back to it gets the real page
]


class NavigationResponse(msgspec.Struct, frozen=True):
    """What a server said when it was asked for a page; or why it could not be asked."""

    status: int | None = None
    content_type: str = ""
    failure: str = ""


class PageDelegate(Protocol):
    """Who has the page: the context of an identity."""

    browser_session: Session
    """The session of the browser itself."""

    def answer(self, url: str) -> NavigationResponse:
        """What came of the latest request for this page."""

    def cookies_changed(self) -> None:
        """A script has changed a cookie, or may do so unseen from now on."""

    def site_changed(self, origin: str) -> None:
        """An origin has changed what it keeps."""

    def document_unloading(self) -> None:
        """A document of a page is about to go."""

    def focused(self, page: LivePage) -> None:
        """The user looks at this page now."""

    def tab_requested(self, page: LivePage, url: str, disposition: str) -> None:
        """A page requests a navigation in a new tab or window."""


class LivePage:
    """A page of the browser. It is attached first, then it gets a tab, then it loads."""

    def __init__(
        self, page: PlaywrightPage, session: Session, owner: PageDelegate, mark: IdentityIndicator | None
    ) -> None:
        self.page = page
        """The page for Playwright."""
        self.target_id = ""
        self.opener_id: str | None = None
        """The target of the page that opened it."""
        self.tab_id: int | None = None
        self.is_crashed = False
        self.is_closing = False
        """Whether it is the engine that closes it."""
        self.is_closed_alone = False
        """Whether it was closed while its context stayed open."""
        self.needs_cookie_polling = False
        """Whether scripts in it can change cookies and nobody tells of it."""
        self._session = session
        self._owner = owner
        self._watch = IsolatedWorld(session, mark, self._hear)
        self._teller: TabReporter | None = None
        self._state = PageState(BLANK)
        self._title_and_icon = ("", "")  # title and icon, as the document says
        self._old_title = ""  # of a restored page, until the page has a title
        self._instead = ""
        self._has_document = (
            False  # of the tab; before that it is blank, or the document on which site data is restored
        )
        self._idle = asyncio.Event()
        self._idle.set()
        self._is_committed = True
        self._navigation_pending = False  # a load was asked for, and has not begun
        self._unanswered: object = None  # the pending Page.navigate: its result says whether a page follows
        self._is_download = False
        self._events_suppressed = False  # blank pages pass by, of which nobody is to hear
        self._starts = 0  # how many loads have started
        self._has_stopped = False  # loading, since the latest visit
        self._forget_past = True  # the first page has nothing before it
        self._is_forgetting = False
        self._has_window = False
        self._state_changed = asyncio.Event()
        self._tracked: set[str] = set()
        self._scroll = (0.0, 0.0)
        self._scroll_to: tuple[float, float] | None = None
        self._kept = b""
        self._forms: list[Form] = []  # typed text that is not filled in yet
        self._is_filling = False
        self._has_foreign_frames = False
        self._snapshot_debouncer = Debouncer(self._save_snapshot, _SNAPSHOT_DELAY)
        self._load: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    @classmethod
    async def attach(
        cls, page: PlaywrightPage, owner: PageDelegate, mark: IdentityIndicator | None, *, headless: bool
    ) -> LivePage:
        """Begin to watch a page."""
        session = Session(await within(page.context.new_cdp_session(page), "Target.attachToTarget"))
        live = cls(page, session, owner, mark)
        live._listen()
        live._has_window = not headless
        if not headless:
            page.on("dialog", lambda _: None)  # the user answers it: without this, Playwright would
        info, *_ = await asyncio.gather(
            session.send("Target.getTargetInfo"),
            session.send("Page.enable"),
            live._watch.begin(),
            session.send("DOMStorage.enable"),
            live._use_real_focus(),
        )
        live.target_id = info["targetInfo"]["targetId"]
        live.opener_id = info["targetInfo"].get("openerId")
        return live

    def assign(self, tab_id: int, teller: TabReporter) -> None:
        """From now on it is the page of this tab."""
        self.tab_id = tab_id
        self._teller = teller

    @property
    def url(self) -> str:
        """Where it is."""
        return self._state.url

    @property
    def is_internal(self) -> bool:
        """Whether what it loads is only for us."""
        return self._events_suppressed

    async def loaded(self) -> None:
        """Wait until nothing is loading any more."""
        await self._idle.wait()

    # ------------------------------------------------------------------------------------------------------ loading

    def load(
        self,
        url: str,
        navigation: int,
        kept: history.PageSnapshot | None = None,
        *,
        old_title: str = "",
        instead: str = "",
    ) -> None:
        """Start loading a page, with the saved history. Replaces a load in progress.

        `old_title` is the title of a restored page: it stays until the page has one. `instead` is the URL that the tab
        shows if the load ends as a download or with an empty response: the previous one.
        """
        self._old_title, self._instead = old_title, instead
        if self._load is not None:
            self._load.cancel()
        if self._teller is not None:
            self._teller.asked(navigation)
        self._forms, self._is_filling = [*kept.forms] if kept else [], False
        if url == self.page.url == self._state.url == BLANK and self._idle.is_set():
            self._tell()  # it is there already
            return
        self._navigation_pending = True
        self._idle.clear()
        self._load = self._begin(self._load_after(url, kept))

    def adopt(self) -> None:
        """Tell of a page that has opened by itself, as it is by now."""
        self._forget_past = False
        self._has_document = True
        self._state = msgspec.structs.replace(self._state, url=self.page.url or BLANK)
        if self._state.url != BLANK and self._teller is not None:
            self._teller.began(self._state.url)
            self._idle.clear()
            self._on_committed(self._state.url)
            self._begin(self._done_when_loaded())

    def on_late_response(self, url: str, answer: NavigationResponse) -> None:
        """A server has answered; if it was for this page, after it was shown, what it said is told now."""
        if url == _without_fragment(self._state.url) and self._state.http_status is None and not self._state.error:
            self._state = msgspec.structs.replace(
                self._state, http_status=answer.status, content_type=answer.content_type
            )
            self._tell()

    async def _load_after(self, url: str, kept: history.PageSnapshot | None) -> None:
        if kept is None or len(kept.entries) == 1:
            self._scroll_to = kept.scroll if kept else None
            await self._go(url)
            return
        self._scroll_to = kept.scroll
        self._forget_past = False
        is_last = kept.index == len(kept.entries) - 1
        try:
            entries = await self._rebuild(kept.entries[: kept.index] if is_last else kept.entries)
            if not is_last:
                await self._session.send("Page.navigateToHistoryEntry", {"entryId": entries[kept.index]["id"]})
                return
        except (PlaywrightError, TimeoutError, IndexError) as error:
            logger.warning("the history of tab %s is lost: %s", self.tab_id, error)
        await self._go(url)

    async def _rebuild(self, urls: list[str]) -> list[dict[str, Any]]:
        """Make a history of these; returns its entries. Whoever goes back to one gets the real page."""
        async with self.blank_responses():
            for place, url in enumerate(urls):
                await self.navigate_to_blank(url)
                if place == 0:
                    await self.reset_history()
            entries: list[dict[str, Any]] = (await self._session.send("Page.getNavigationHistory"))["entries"]
            return entries

    async def _go(self, url: str) -> None:
        if why := refusal(url):
            self.refuse(url, why)
            return
        try:
            before, answer = self._starts, await self._navigate(url)
            if answer.get("errorText") and self._navigation_pending:  # it has not even begun: a program is to open it
                self._navigation_pending = False
                self._done()
            elif answer.get("errorText") == ABORTED and self._starts == before + 1:  # nothing else has started since
                self._is_download = answer.get("isDownload", False)
                self._done()
        except PlaywrightError as error:
            if self.page.is_closed() or self.is_crashed:
                return
            logger.debug("the page of tab %s cannot be loaded: %s", self.tab_id, error)  # a URL can have a password
            self.refuse(url, load_error_message("net::ERR_INVALID_URL", url))

    def refuse(self, url: str, why: str) -> None:
        """End the load of a URL with an error, without a request."""
        self._navigation_pending = False
        self._is_committed = True
        self._idle.set()
        self._state = PageState(url, error=why)
        self._tell()

    async def _navigate(self, url: str) -> dict[str, Any]:
        unanswered = self._unanswered = object()
        try:
            answer: dict[str, Any] = await self._session.navigate(url)
            return answer
        finally:
            if self._unanswered is unanswered:
                self._unanswered = None

    @contextlib.asynccontextmanager
    async def blank_responses(self) -> AsyncIterator[None]:
        """Inside of this every address gives an empty document, no server is asked, and nothing is told."""
        self._events_suppressed = True
        try:
            await self._session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
            yield
        finally:
            self._events_suppressed = False
            with contextlib.suppress(PlaywrightError):
                await asyncio.shield(self._session.send("Fetch.disable"))

    async def navigate_to_blank(self, url: str) -> None:
        """Go to an empty document at this address."""
        self._state = PageState("")
        self._watch.reset()
        self._has_stopped = False
        await self._session.send("Page.navigate", {"url": url})
        async with asyncio.timeout(_PAGE_TIMEOUT):
            # Until it has stopped loading, or that would be taken for the end of the next load.
            while not (self._state.url == url and self._watch.is_connected and self._has_stopped):
                await self._state_changed.wait()
                self._state_changed.clear()

    async def clear(self) -> None:
        """Navigate from the empty document on which site data was restored to a blank one: its URL is a site's."""
        if self.page.url != BLANK:
            try:
                async with self.blank_responses():
                    await self.navigate_to_blank(BLANK)
                    await self.reset_history()
            except (PlaywrightError, TimeoutError) as error:
                logger.debug("the page of tab %s is not blank: %s", self.tab_id, error)
        self._state = PageState(BLANK)

    async def reset_history(self) -> None:
        """Forget all pages but this one."""
        await self._session.send("Page.resetNavigationHistory")

    # ---------------------------------------------------------------------------------------- what becomes of it

    def _listen(self) -> None:
        def on(name: str, listener: Callable[[dict[str, Any]], object]) -> None:
            self._session.on(name, log_exceptions(listener))

        on("Page.frameRequestedNavigation", self._on_requested)
        on("Page.frameStartedNavigating", self._on_started)
        on("Page.frameNavigated", self._on_navigated)
        on("Page.navigatedWithinDocument", self._on_same_document_navigation)
        on("Page.frameStoppedLoading", self._on_stopped)
        on("Page.loadEventFired", lambda _: self._done() if self._is_committed else None)
        on("Page.frameDetached", self._on_detached)
        on("DOMStorage.domStorageItemAdded", self._on_local_storage)
        on("DOMStorage.domStorageItemUpdated", self._on_local_storage)
        on("DOMStorage.domStorageItemRemoved", self._on_local_storage)
        on("DOMStorage.domStorageItemsCleared", self._on_local_storage)
        on("Storage.indexedDBContentUpdated", lambda event: self._on_storage(event["storageKey"]))
        on("Storage.indexedDBListUpdated", lambda event: self._on_storage(event["storageKey"]))
        on("Fetch.requestPaused", self._on_paused)
        self.page.on("crash", log_exceptions(self._on_crash))
        self.page.on("download", log_exceptions(self._on_download))

    def _on_requested(self, event: dict[str, Any]) -> None:
        if event["disposition"] in _NEW_TAB and not self._events_suppressed:
            self._owner.tab_requested(self, event["url"], event["disposition"])

    def _on_started(self, event: dict[str, Any]) -> None:
        if event["frameId"] != self.target_id or event["navigationType"] in _SAME_DOCUMENT:
            return
        self._watch.is_connected = self._is_committed = False
        if self._events_suppressed:
            return
        self._starts += 1
        self._is_download = False
        if self._is_filling:  # the page is left, and with it typed text for which no field exists
            self._end_filling()
        self._idle.clear()
        self._owner.document_unloading()
        if self._navigation_pending:
            self._navigation_pending = False
        elif self._teller is not None:
            self._old_title = ""
            self._teller.began(event["url"])

    def _on_navigated(self, event: dict[str, Any]) -> None:
        frame = event["frame"]
        if frame.get("parentId"):
            return
        self._has_foreign_frames = False
        if not self._watch.is_connected:
            self._title_and_icon = ("", "")
            self.needs_cookie_polling = False
            self._watch.reset()
        self._is_committed = True
        self._scroll = (0, 0)
        self._state_changed.set()
        url = frame["url"] + frame.get("urlFragment", "")
        if self._events_suppressed:
            self._state = PageState(url)
            return
        self._has_document = True
        self._begin(self._use_real_focus())
        self._on_committed(frame.get("unreachableUrl") or url, frame)

    def _on_committed(self, url: str, frame: dict[str, Any] | None = None) -> None:
        """A new document is there."""
        answer = self._owner.answer(_without_fragment(url))
        if frame is not None and frame.get("unreachableUrl"):
            self._state = self._failed(url, answer.failure)
        else:
            title, icon = self._title_and_icon
            self._state = PageState(url, title or self._old_title, icon, answer.status, answer.content_type)
        self._tell()
        origin = _origin_of(url)
        if origin and origin not in self._tracked:
            self._tracked.add(origin)
            self._begin(self._session.send("Storage.trackIndexedDBForStorageKey", {"storageKey": f"{origin}/"}))

    def _failed(self, url: str, failure: str) -> PageState:
        why = load_error_message(failure, url) if failure else "it could not be loaded"
        if failure != UNAUTHORIZED:
            return PageState(url, error=why)
        # Chromium shows an empty page below its dialog, and loads the page when the user has answered.
        return PageState(url, http_status=401, error=f"{why}{_IN_WINDOW if self._has_window else _IN_URL}")

    def _on_same_document_navigation(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self.target_id:
            self._navigation_pending = False
            self._state = msgspec.structs.replace(self._state, url=event["url"])
            self._tell()
            self._snapshot_debouncer.schedule()

    def _on_stopped(self, event: dict[str, Any]) -> None:
        if event["frameId"] == self.target_id:
            self._has_stopped = True
            self._state_changed.set()
            self._done()

    def _done(self) -> None:
        """Nothing is loading any more: the page is there, or nothing came in its place."""
        if self._events_suppressed or self._navigation_pending or self._is_forgetting or self._idle.is_set():
            return  # what is over is not what was asked for
        if not self._is_committed and self._unanswered is not None:
            return  # the previous page has stopped loading
        if not self._is_committed and not self._has_document and self._instead:
            instead, self._instead, self._navigation_pending = self._instead, "", True
            self._load = self._begin(self._go(instead))
            return
        if not self._is_committed and not self._has_document and self._state.url != BLANK:
            self._load = self._begin(self._blank_then_done())
            return
        if self._forget_past and self._is_committed:  # a download and a 204 leave the blank page, and no entry after it
            self._forget_past, self._is_forgetting = False, True
            self._begin(self._forget_then_done())
            return
        self._idle.set()
        self._tell()
        self._is_committed = True
        if origin := _origin_of(self._state.url):
            self._owner.site_changed(origin)
        self._snapshot_debouncer.schedule()
        if not self._watch.is_connected and not self._state.error:
            self._begin(self._watch.inject(self.target_id))
        elif self._scroll_to is not None:
            self._begin(self._scroll_there(*self._scroll_to))
        self._scroll_to = None

    async def _forget_then_done(self) -> None:
        """Before the first page of a tab there was a blank one, to which nobody wants to go back."""
        try:
            if (await self._session.send("Page.getNavigationHistory"))["currentIndex"] == 1 and self._is_committed:
                await self.reset_history()
        finally:
            self._is_forgetting = False
            if self._is_committed:  # else the next page is on its way, and says itself when it is there
                self._done()

    async def _blank_then_done(self) -> None:
        """The load ended without a page, so the tab is blank."""
        await self.clear()
        self._is_committed = False
        self._done()

    async def _done_when_loaded(self) -> None:
        await self.page.wait_for_load_state(timeout=0)  # the limit is that of the load: the task ends with the page
        self._done()

    async def _use_real_focus(self) -> None:
        """Playwright lets every page think that it has the focus, in each process anew. In windows one has it."""
        if self._has_window:
            await self._session.send("Emulation.setFocusEmulationEnabled", {"enabled": False})

    async def _scroll_there(self, x: float, y: float) -> None:
        if (x, y) != (0, 0):
            await self._watch.evaluate_in_main_frame(f"hatboxScroll({x}, {y})")

    def _on_detached(self, event: dict[str, Any]) -> None:
        if event.get("reason") == "swap":  # a frame of another site, which another process shows
            self._has_foreign_frames = True
            self.needs_cookie_polling = True
            self._owner.cookies_changed()

    def _hear(self, word: str, rest: list[Any]) -> None:
        """What our script in the page says."""
        if word == "document":
            _, origin, is_secure = rest
            self._title_and_icon = ("", "")
            self.needs_cookie_polling = origin.startswith("http") and not is_secure
            self._state_changed.set()
        if self._events_suppressed:
            return
        if self._forms and word == "document":
            self._begin(self._fill(rest[1]))
        elif self._forms and word == "frame":
            self._begin(self._fill(*rest))
        elif word == "filled":
            self._filled(*rest)
        if word == "unheard":
            self.needs_cookie_polling = True
        if word == "cookies":
            # It stands for more that may be to come: see page_observer.js.
            asyncio.get_running_loop().call_later(_COOKIE_READ_DELAY, self._owner.cookies_changed)
        elif self.needs_cookie_polling:
            self._owner.cookies_changed()
        if word == "look":
            self._title_and_icon = (rest[0], rest[1])
            if self._is_committed and not self._state.error:
                if rest[0]:
                    self._old_title = ""
                self._state = msgspec.structs.replace(self._state, title=rest[0] or self._old_title, icon=rest[1])
                self._tell()
        elif word == "scroll":
            self._scroll = (rest[0], rest[1])
            self._snapshot_debouncer.schedule()
        elif word == "focus":
            self._owner.focused(self)

    def _on_local_storage(self, event: dict[str, Any]) -> None:
        if event["storageId"]["isLocalStorage"]:
            self._on_storage(event["storageId"]["storageKey"])

    def _on_storage(self, key: str) -> None:
        if "^" not in key and not self._events_suppressed:  # else it is partitioned
            self._owner.site_changed(key.removesuffix("/"))

    def _on_paused(self, event: dict[str, Any]) -> None:
        given: dict[str, Any] = {"requestId": event["requestId"]}
        if self._events_suppressed:
            given |= {"responseCode": 200, "responseHeaders": _BLANK_ANSWER, "body": ""}
            self._begin(self._session.send("Fetch.fulfillRequest", given))
        else:  # it was on its way when we had enough
            self._begin(self._session.send("Fetch.continueRequest", given))

    def _on_download(self, _: Download) -> None:
        self._is_download = True
        if not self._has_document and self._idle.is_set():
            self._tell()

    def _on_crash(self, _: PlaywrightPage) -> None:
        self.is_crashed = True
        self._navigation_pending = False
        self._is_committed = True
        self._idle.set()
        self._state = PageState(self._state.url, error="the page has crashed")
        self._tell()

    def _tell(self) -> None:
        if self._teller is None or self._events_suppressed or self._navigation_pending:
            return
        done = self._idle.is_set()
        if done or self._is_committed:  # else the page is still the one before, and that is not what is loading
            # Nothing came in its place. A tab without a page that becomes a download is blank, also one that is shown
            # again: the next start must not download it again.
            stopped = not self._is_committed and not (self._is_download and not self._has_document)
            self._teller.state(msgspec.structs.replace(self._state, stopped=stopped), done=done)

    # ------------------------------------------------------------------------------------- to show it again, and else

    @property
    def is_typed_into(self) -> bool:
        """Whether the user may have typed into the page."""
        return self._watch.is_typed_into or self._has_foreign_frames

    async def typed_input(self) -> TypedInput:
        """The typed text of the page."""
        typed = read_typed(await self._watch.typed()) if self._watch.is_typed_into else TypedInput()
        if self._has_foreign_frames and (count := await self._foreign_text()):
            typed = TypedInput(typed.forms, {**typed.lost, OTHER_SITE: count})
        return typed

    async def _foreign_text(self) -> int:
        """The number of cross-site frames that seem to have typed text. The isolated world does not reach them."""
        if await self._watch.evaluate_in_main_frame("navigator.userActivation.hasBeenActive") is not True:
            return 0
        known = {_origin_of(self._state.url), *self._watch.origins}
        frames = [each for each in self.page.frames if (origin := _origin_of(each.url)) and origin not in known]
        answers = await asyncio.gather(*map(_has_text, frames[:_MOST_FRAMES]))
        return sum(answers)

    async def _fill(self, origin: str, world: str | None = None) -> None:
        """Fill in saved typed text, in a document that has loaded."""
        forms = [form for form in self._forms if origin == "null" or form.url.startswith(f"{origin}/")]
        if not forms or not await self._watch.fill(forms, world) or self._is_filling or not self._forms:
            return
        self._is_filling = True
        await asyncio.sleep(_FILLING)
        if self._is_filling:
            self._end_filling()

    def _filled(self, url: str, place: list[int]) -> None:
        self._forms = [form for form in self._forms if (form.url, form.place) != (url, place)]
        if not self._forms:
            self._is_filling = False
            self._snapshot_debouncer.schedule()  # this deletes the typed text from the profile

    def _end_filling(self) -> None:
        count = sum(len(form.fields) for form in self._forms)
        logger.warning(
            "tab %s: typed text could not be filled in: no such field for up to %d fields", self.tab_id, count
        )
        self._forms, self._is_filling = [], False
        self._snapshot_debouncer.schedule()

    async def snapshot(self, forms: Sequence[Form] = ()) -> bytes | None:
        """A snapshot of the page, with typed text; None if the saved snapshot is still valid."""
        if not self._has_document:
            return None
        scroll = await self._watch.evaluate_in_main_frame("[scrollX, scrollY]")
        if isinstance(scroll, list):
            self._scroll = (scroll[0], scroll[1])
        answer = await self._session.send("Page.getNavigationHistory")
        kept = history.from_navigation_history(answer, self._scroll, merged(forms, self._forms))
        return history.encode_snapshot(kept) if kept else None

    async def _save_snapshot(self) -> None:
        if not self._idle.is_set() or self._events_suppressed or self._state.error:
            return
        answer = await self._session.send("Page.getNavigationHistory")
        kept = history.from_navigation_history(answer, self._scroll, self._forms)
        if kept and self._teller is not None and (data := history.encode_snapshot(kept)) != self._kept:
            self._kept = data
            self._teller.keep(data)

    def park(self) -> None:
        """Leave the page as it is while its tab is hidden. No changes are reported meanwhile."""
        if self._teller is not None:
            self._teller.stop()

    def resume(self) -> None:
        """Its tab is shown again: report the current state of the page."""
        self._kept = b""  # the snapshot in the profile contains typed text: write a new one
        self._tell()
        self._snapshot_debouncer.schedule()

    @property
    def origins(self) -> list[str]:
        """The origins of its documents that can be asked what they keep."""
        return self._watch.origins

    async def run_in(self, origin: str, script: str) -> object:
        """Run a script in a document of this origin; raises LookupError if it has none."""
        return await self._watch.evaluate_in_origin(origin, script)

    async def forget_site_data(self, origin: str, kinds: Iterable[str]) -> None:
        """Remove what an origin keeps in the context of this page, documents that are open too; `*` is all origins."""
        given = {"origin": origin, "storageTypes": ",".join(kinds)}
        await self._session.send("Storage.clearDataForOrigin", given)

    async def forget_cache(self) -> None:
        """Remove the cache of the context of this page."""
        await self._session.send("Network.clearBrowserCache")

    async def set_mark(self, mark: IdentityIndicator | None) -> None:
        """Mark it otherwise."""
        await self._watch.set_mark(mark)

    async def close(self) -> None:
        """Close the page, with a timeout. No changes are reported any more."""
        self.is_closing = True
        self.let_go()
        try:
            await close_page(self.page, self.target_id, self._owner.browser_session)
        except PlaywrightError as error:
            logger.warning("the page of tab %s stays open until its context is closed: %s", self.tab_id, error)

    def let_go(self) -> None:
        """It is gone: stop all that is under way."""
        self._idle.set()
        if self._teller is not None:
            self._teller.stop()
        self._snapshot_debouncer.cancel()
        for task in self._tasks:
            task.cancel()

    def _begin(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            level = logging.DEBUG if isinstance(error, PlaywrightError) else logging.ERROR
            logger.log(level, "a page of tab %s failed", self.tab_id, exc_info=error)


async def _has_text(frame: Frame) -> bool:
    with contextlib.suppress(PlaywrightError, TimeoutError):
        async with asyncio.timeout(_MOMENT):
            return await frame.evaluate(_TEXT) is True
    return False


def _without_fragment(url: str) -> str:
    return url.partition("#")[0]


def _origin_of(url: str) -> str:
    scheme, _, rest = url.partition("://")
    authority = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    return f"{scheme}://{authority.rpartition('@')[2]}" if scheme in ("http", "https") else ""
