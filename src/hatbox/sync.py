"""The synchronous face, for scripts without an event loop. Thread-safe: every call goes to one loop in one thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from hatbox.clients.identity_binding import IdentityBinding, SyncIdentityBinding, extra
from hatbox.errors import ProfileClosed, ProfileError
from hatbox.events import Event
from hatbox.identities.model import ContextualIdentity, IdentityLike
from hatbox.identities.service import Identities
from hatbox.profile import Profile
from hatbox.store.registry import Address
from hatbox.tabs.service import Tabs
from hatbox.tabs.tab_model import BLANK, Tab, Window

if TYPE_CHECKING:
    from urllib.request import BaseHandler, OpenerDirector

    from httpx import Client
    from requests import Session

    from hatbox.formats.base import Bundle, ImportReport

__all__ = ["SyncEvent", "SyncIdentities", "SyncProfile", "SyncTabs", "open_sync"]

T = TypeVar("T")
U = TypeVar("U")


def open_sync(address: Address | None = None, *, keep_session_cookies: bool = True) -> SyncProfile:
    """A profile for scripts without an event loop, to be used with `with`."""
    return SyncProfile(address, keep_session_cookies=keep_session_cookies)


class SyncProfile:
    """A profile whose calls return when they are done. It may be used from several threads at once."""

    def __init__(self, address: Address | None = None, *, keep_session_cookies: bool = True) -> None:
        self._profile = Profile(address, keep_session_cookies=keep_session_cookies)
        self._loop = _LoopThread(self._profile.label)
        self.identities = SyncIdentities(self._profile.identities, self._loop)
        """The identities."""
        self.tabs = SyncTabs(self._profile.tabs, self._loop)
        """The tabs and windows, of all identities."""

    @property
    def address(self) -> str:
        """The address that opens this profile: an absolute path, or a URL. May contain a password."""
        return self._profile.address

    @property
    def label(self) -> str:
        """The profile's name in messages and logs. Contains no password."""
        return self._profile.label

    def open(self) -> SyncProfile:
        """Open the profile; `with` does it for you."""
        self._loop.start()
        try:
            self._loop.run(self._profile.__aenter__)
        except BaseException:
            self._loop.stop()
            raise
        return self

    def httpx(self, identity: IdentityLike, **options: Any) -> Client:
        """An httpx.Client that wears an identity for its life; `options` are those of httpx.Client."""
        with extra("httpx"):
            from hatbox.clients.httpx import client
        return client(self._worn(identity), options)

    def requests(self, identity: IdentityLike) -> Session:
        """A requests.Session that wears an identity for its life, whatever adapters you mount."""
        with extra("requests"):
            from hatbox.clients.requests import session
        return session(self._worn(identity))

    def urllib(self, identity: IdentityLike, *handlers: BaseHandler | type[BaseHandler]) -> OpenerDirector:
        """A urllib opener that wears an identity for its life; `handlers` are those of urllib.request.build_opener."""
        from hatbox.clients.urllib import opener

        return opener(self._worn(identity), handlers)

    def import_bundle(
        self, bundle: Bundle, into: str | None = None, progress: Callable[[int], None] | None = None
    ) -> ImportReport:
        """Import what a format of hatbox.formats has read. Atomic; importing the same bundle again changes nothing.

        With `into`, a name or an id, all cookies go to that identity. `progress` is called with numbers of cookies,
        which add up to those of the bundle, in the profile's own thread.
        """
        return self._loop.run(lambda: self._profile.import_bundle(bundle, into, progress))

    def export_bundle(self, identities: Sequence[str] | None = None) -> Bundle:
        """These identities, by names or ids, with their cookies, for a format of hatbox.formats to write; or all."""
        return self._loop.run(lambda: self._profile.export_bundle(identities))

    def _worn(self, identity: IdentityLike) -> SyncIdentityBinding:
        worn = SyncIdentityBinding(
            IdentityBinding(self._profile.identities, self._profile.cookies, identity), self._loop.run
        )
        worn.open_cookie_store()
        return worn

    def close(self) -> None:
        """Finish what is under way and let go of the file. Closing twice is no error."""
        if self._loop.running:
            self._loop.run(self._profile.close)
            self._loop.stop()

    def __enter__(self) -> SyncProfile:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._profile)


class SyncIdentities:
    """The identities of a profile; each call returns when its change is on disk."""

    def __init__(self, identities: Identities, loop: _LoopThread) -> None:
        self._identities = identities
        self._run = loop.run
        self.on_created = SyncEvent(identities.on_created, loop)
        """Tells of each new identity. Listeners run in the profile's own thread."""
        self.on_updated = SyncEvent(identities.on_updated, loop)
        """Tells of each identity whose name, color or icon was set, also to the same."""
        self.on_removed = SyncEvent(identities.on_removed, loop)
        """Tells of each removed identity, as it was."""
        self.on_moved = SyncEvent(identities.on_moved, loop)
        """Tells of each identity that was moved to another place in the list."""
        self.on_hidden = SyncEvent(identities.on_hidden, loop)
        """Tells of each identity that was hidden."""
        self.on_shown = SyncEvent(identities.on_shown, loop)
        """Tells of each identity that was shown again."""

    def get(self, identity: IdentityLike) -> ContextualIdentity:
        """The identity with this cookieStoreId."""
        return self._run(lambda: self._identities.get(identity))

    def query(self, name: str | None = None) -> list[ContextualIdentity]:
        """All identities in the user's order, or those with exactly this name."""
        return self._run(lambda: self._identities.query(name))

    def find(self, name_or_id: str) -> ContextualIdentity:
        """The one identity with this name or id; raises IdentityNotFound or AmbiguousIdentity, which offer help."""
        return self._run(lambda: self._identities.find(name_or_id))

    def recognize(self, identity: IdentityLike) -> ContextualIdentity:
        """The identity that a name, an id or an object stands for, as it is now; raises IdentityMismatch for an object
        whose id has another name here: it was renamed since, or is one of another profile."""
        return self._run(lambda: self._identities.resolve(identity))

    def create(self, name: str, *, color: str, icon: str) -> ContextualIdentity:
        """A new identity, at the end of the list."""
        return self._run(lambda: self._identities.create(name, color=color, icon=icon))

    def update(
        self, identity: IdentityLike, *, name: str | None = None, color: str | None = None, icon: str | None = None
    ) -> ContextualIdentity:
        """Change what is given and keep the rest; returns the identity as it is now."""
        return self._run(lambda: self._identities.update(identity, name=name, color=color, icon=icon))

    def move(self, identities: IdentityLike | Sequence[IdentityLike], position: int) -> None:
        """Move one or several, in their old order, to `position` in the list of the others; -1 is the end."""
        return self._run(lambda: self._identities.move(identities, position))

    def remove(self, identity: IdentityLike) -> ContextualIdentity:
        """Drop an identity and all that belongs to it; returns it as it was."""
        return self._run(lambda: self._identities.remove(identity))

    def hide(self, identity: IdentityLike) -> None:
        """Hide all of an identity, until it is shown."""
        return self._run(lambda: self._identities.hide(identity))

    def show(self, identity: IdentityLike) -> None:
        """Show all of an identity again."""
        return self._run(lambda: self._identities.show(identity))


class SyncTabs:
    """The tabs of a profile; each call returns when its change is on disk. An engine, in any process, makes them so."""

    def __init__(self, tabs: Tabs, loop: _LoopThread) -> None:
        self._tabs = tabs
        self._run = loop.run
        self.on_created = SyncEvent(tabs.on_created, loop)
        """Tells of each new tab. Listeners run in the profile's own thread."""
        self.on_updated = SyncEvent(tabs.on_updated, loop)
        """Tells of each tab of which something has changed that can be seen."""
        self.on_activated = SyncEvent(tabs.on_activated, loop)
        """Tells of each tab that becomes the active one of its window."""
        self.on_hidden = SyncEvent(tabs.on_hidden, loop)
        """Called when an engine has hidden the page of a tab, with what is lost of what was typed into it."""
        self.on_moved = SyncEvent(tabs.on_moved, loop)
        """Tells of each tab that was moved within its window."""
        self.on_attached = SyncEvent(tabs.on_attached, loop)
        """Tells of each tab that came from another window."""
        self.on_detached = SyncEvent(tabs.on_detached, loop)
        """Tells of each tab that leaves for another window."""
        self.on_removed = SyncEvent(tabs.on_removed, loop)
        """Tells of each tab that was closed, as it was."""
        self.on_window_created = SyncEvent(tabs.on_window_created, loop)
        """Tells of each new window."""
        self.on_window_updated = SyncEvent(tabs.on_window_updated, loop)
        """Tells of each window whose place, size or state was set."""
        self.on_window_focused = SyncEvent(tabs.on_window_focused, loop)
        """Tells the id of each window that gets the focus; -1 for none."""
        self.on_window_removed = SyncEvent(tabs.on_window_removed, loop)
        """Tells the id of each window that was closed."""

    def open(
        self, identity: IdentityLike, url: str = BLANK, *, active: bool = True, window_id: int | None = None
    ) -> Tab:
        """A new tab in an identity, named by its name, its id or itself; `firefox-default` is that of none."""
        return self._run(lambda: self._tabs.open(identity, url, active=active, window_id=window_id))

    def get(self, tab_id: int) -> Tab:
        """The tab with this id."""
        return self._run(lambda: self._tabs.get(tab_id))

    def query(self, identity: IdentityLike | None = None) -> list[Tab]:
        """All tabs, window by window, hidden ones too; or those of an identity."""
        return self._run(lambda: self._tabs.query(identity))

    def windows(self) -> list[Window]:
        """All windows, in the order in which they were opened."""
        return self._run(self._tabs.windows)

    def navigate(self, tab_id: int, url: str) -> Tab:
        """Ask for another page in a tab. An engine that runs loads it."""
        return self._run(lambda: self._tabs.navigate(tab_id, url))

    def reload(self, tab_id: int) -> Tab:
        """Ask for a tab's page again."""
        return self._run(lambda: self._tabs.reload(tab_id))

    def activate(self, tab_id: int) -> None:
        """Make a tab the active one of its window; a hidden one is shown by that, and so is its identity."""
        return self._run(lambda: self._tabs.activate(tab_id))

    def move(self, tab_ids: int | Sequence[int], index: int) -> list[Tab]:
        """Bring tabs to a place in their windows; -1 is the end. Returns those that moved."""
        return self._run(lambda: self._tabs.move(tab_ids, index))

    def close(self, tab_ids: int | Sequence[int]) -> None:
        """Close tabs."""
        return self._run(lambda: self._tabs.close(tab_ids))


class SyncEvent(Generic[T]):
    """An event whose listeners are called in the profile's own thread."""

    def __init__(self, event: Event[T], loop: _LoopThread) -> None:
        self._event = event
        self._loop = loop

    def add_listener(self, listener: Callable[[T], Any]) -> None:
        """Call `listener` for whatever happens from now on."""
        self._loop.run_function(self._event.add_listener, listener)

    def remove_listener(self, listener: Callable[[T], Any]) -> None:
        """Stop calling `listener`; one that was never added is no error."""
        self._loop.run_function(self._event.remove_listener, listener)

    def has_listener(self, listener: Callable[[T], Any]) -> bool:
        """Whether `listener` is registered."""
        return self._loop.run_function(self._event.has_listener, listener)


class _LoopThread:
    """An event loop in a thread of its own, and a way for other threads to have something awaited there."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = 0
        self._lock = threading.Lock()

    @property
    def running(self) -> bool:
        return self._loop is not None and not self.running_elsewhere

    @property
    def running_elsewhere(self) -> bool:
        """Whether the thread has stayed behind in the process that this one was forked from."""
        return self._loop is not None and self._process != os.getpid()

    def start(self) -> None:
        if self._loop is not None:
            raise ProfileError(
                self._label, "it is already open here", "Use it as it is, or make another profile object."
            )
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=_run_until_stopped, args=[self._loop], name="hatbox-loop", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        with self._lock:
            loop, thread, self._loop = self._loop, self._thread, None
        if loop and thread:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    def run_function(self, function: Callable[[U], T], argument: U) -> T:
        """Call a function that needs no waiting in the loop's thread."""

        async def called() -> T:
            return function(argument)

        return self.run(called)

    def run(self, begin: Callable[[], Awaitable[T]]) -> T:
        """Begin something in the loop's thread, and return or raise what becomes of it."""
        if self.running_elsewhere:
            raise ProfileClosed(self._label, "another process has opened it", "Close it before the fork.")
        if threading.current_thread() is self._thread:
            raise RuntimeError("a listener runs in the profile's own thread and cannot wait there; use another thread")

        async def awaited() -> T:
            return await begin()

        with self._lock:
            if self._loop is None:
                raise ProfileClosed(self._label, "it is not open", "Open it with hatbox.open_sync() first.")
            future: concurrent.futures.Future[T] = asyncio.run_coroutine_threadsafe(awaited(), self._loop)
        return future.result()


def _run_until_stopped(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.run_until_complete(_finish_late_calls())
    loop.close()


async def _finish_late_calls() -> None:
    """Let calls end that other threads made while the profile was being closed: each is told that it is."""
    late = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*late, return_exceptions=True)
