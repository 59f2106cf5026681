"""An extension under test: runs code in it, plays the user, and waits for effects."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

from hatbox.api.browser import Browser
from hatbox.engines.runner import EngineRunner
from hatbox.errors import EngineError, ExtensionError, InvalidTab
from hatbox.extensions.extension import Extension
from hatbox.extensions.extension_page import ExtensionPage
from hatbox.extensions.package_repository import LoadedPackage
from hatbox.extensions.runtime import LogEntry
from hatbox.extensions.ui_triggers import ExtensionUi, TriggerResult
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.identity.model import IdentityLike
from hatbox.profile import Profile
from hatbox.tabs.tab_model import Tab
from hatbox.testing.made_extensions import ExtensionSource
from hatbox.testing.script_reports import ScriptAssertion, ScriptReports

if TYPE_CHECKING:
    from playwright.async_api import Page

    from hatbox.extensions.pages.extension_window import WindowKind

__all__ = ["ExtensionUnderTest"]

T = TypeVar("T")

_POLL_INTERVAL: Final = 0.01  # seconds
_DEFAULT_TIMEOUT: Final = 10.0


class ExtensionUnderTest:
    """An extension that runs for one test."""

    def __init__(
        self,
        extension: Extension,
        profile: Profile,
        engine: EngineRunner,
        log: list[LogEntry],
        reports: ScriptReports,
        source: ExtensionSource,
    ) -> None:
        self.extension = extension
        """The extension itself; another object after restart() and enable()."""
        self.log = log
        """Console output and uncaught errors of its scripts."""
        self._profile = profile
        self._engine = engine
        self._reports = reports
        self._source = source
        self._is_user_input = False

    @property
    def id(self) -> str:
        """The id of the extension."""
        return self.extension.id

    def url(self, path: str = "") -> str:
        """The moz-extension:// URL of a file, as runtime.getURL() returns it."""
        return self.extension.manifest.base_url + path.removeprefix("/")

    @property
    def browser(self) -> Browser:
        """`browser` as the scripts of the extension see it, with its permissions."""
        return self.extension.browser

    @property
    def errors(self) -> list[str]:
        """The uncaught errors of its scripts."""
        return [str(entry) for entry in self.log if entry.kind != "console"]

    async def evaluate(self, source: str) -> Any:
        """Run an expression or statements in the global scope of the background. Returns the result as JSON data."""
        return await self.extension.evaluate(source)

    def page(self, path: str = "", *, tab_id: int | None = None, kind: str = "TAB") -> ExtensionPage:
        """Open an extension page, such as the popup, that is scripted in Python. It sends and receives messages."""
        return self.extension.page(path, tab_id=tab_id, kind=kind)

    def content_script(self, tab_id: int, url: str) -> ExtensionPage:
        """Open a content script of the extension that is scripted in Python."""
        return self.extension.content_script(tab_id, url)

    # ── Pages in Chromium ──

    async def popup(self, *, tab_id: int | None = None) -> Page:
        """Click the action, in the active tab or another one. Returns its popup as a page of Playwright.

        Pages need the Chromium engine: `await extension(path, engine="chromium")`.
        """
        return (await self.extension.browser_pages.popup(tab_id=tab_id)).page

    async def page_action_popup(self, *, tab_id: int | None = None) -> Page:
        """Click the page action, in the active tab or another one. Returns its popup as a page of Playwright."""
        return (await self.extension.browser_pages.popup("page-action", tab_id=tab_id)).page

    async def tab_page(self, tab: Tab | int) -> Page:
        """The page of a tab, when it has loaded, as a page of Playwright: to evaluate, click, navigate and go back."""
        page_of: Callable[[int], Awaitable[Page]] | None = getattr(self._engine, "page", None)
        if page_of is None:
            raise EngineError('tabs have pages of Playwright only with engine="chromium"')
        return await page_of(tab if isinstance(tab, int) else tab.id)

    async def options(self) -> Page:
        """Open the options page. Returns a page of Playwright."""
        return (await self.extension.browser_pages.options()).page

    async def sidebar(self) -> Page:
        """Open the sidebar. Returns a page of Playwright."""
        return (await self.extension.browser_pages.sidebar()).page

    async def open_page(self, path: str, *, kind: WindowKind = "TAB") -> Page:
        """Open a page of the extension; `kind` is TAB, POPUP or SIDE_PANEL. Returns a page of Playwright."""
        return (await self.extension.open_page(path, kind=kind)).page

    # ── browser.test ──

    async def message(self, name: str, timeout: float = _DEFAULT_TIMEOUT) -> Any:
        """Wait for `browser.test.sendMessage(name, …)`. Returns its value, or a list of several; None without any.

        Messages with one name are returned in their order, also those that were sent before this call.
        """
        return await self._reports.message(name, timeout)

    def on_message(self, name: str, handler: Callable[..., object]) -> None:
        """Call a function with the values of each `browser.test.sendMessage(name, …)`, instead of message().

        It may be a coroutine function. An exception fails the test.
        """
        self._reports.on_message(name, handler)

    async def send(self, *values: Any) -> None:
        """Call the listeners of `browser.test.onMessage` in all scripts of the extension with these values."""
        await self.extension.send_test_message(values, user_input=self._is_user_input)

    @contextmanager
    def user_input(self) -> Iterator[None]:
        """Send messages as user input: their listeners may request permissions."""
        before, self._is_user_input = self._is_user_input, True
        try:
            yield
        finally:
            self._is_user_input = before

    async def finish(self, name: str | None = None, timeout: float = _DEFAULT_TIMEOUT) -> None:
        """Wait for `browser.test.notifyPass(name)`.

        Raises AssertionError after notifyFail, and for failed assertions.
        """
        await self._reports.end(name, timeout)

    @property
    def assertions(self) -> list[ScriptAssertion]:
        """The assertions of `browser.test`. A failed one also fails the test when it ends."""
        return self._reports.assertions

    # ── Life cycle ──

    async def stop(self) -> None:
        """End the extension."""
        await self._profile.extensions.stop(self.extension)

    async def start(self) -> None:
        """Run the extension again after stop(), as at the start of a browser: runtime.onStartup is dispatched."""
        self.extension = await self._source.run()

    async def restart(self) -> None:
        """End the extension and run it again, as if the browser was restarted."""
        await self.stop()
        await self.start()

    async def upgrade(
        self, *, manifest: Mapping[str, Any] | None = None, background: str = "", files: Mapping[str, Any] | None = None
    ) -> None:
        """Replace an extension that was made of texts by another version of it, which has the same data.

        runtime.onInstalled is dispatched with the reason `update`. An extension in a folder of your own is upgraded by
        reload(), after you have changed its files.
        """
        before = self.extension.loaded
        self._source.rewrite(manifest or {}, background, files or {})
        if self._source.install is None:
            await self.reload()
        else:  # the running extension is updated, or receives runtime.onUpdateAvailable
            await self._source.install()
            await _poll(self._loaded, lambda loaded: loaded is not before, "the upgraded extension", _DEFAULT_TIMEOUT)
        if self.extension.loaded is before:
            raise ExtensionError(f"{self.id} was not upgraded: its new files are not valid. The log says why.")

    async def _loaded(self) -> LoadedPackage:
        return self.extension.loaded

    async def disable(self, timeout: float = _DEFAULT_TIMEOUT) -> None:
        """Disable the extension, as in the list of extensions, and wait until it has ended."""
        await self._profile.extensions.set_enabled(self.extension.area, False)
        await _poll(self._is_stopped, bool, "the end of the disabled extension", timeout)

    async def enable(self) -> None:
        """Enable the extension after disable(), and run it. As in Firefox, runtime.onStartup is not dispatched."""
        await self._profile.extensions.set_enabled(self.extension.area, True)
        self.extension = await self._source.run(is_startup=False)

    async def _is_stopped(self) -> bool:
        return self.extension not in self._profile.extensions.running

    async def sleep(self) -> bool:
        """Suspend its event page. False if an event keeps it awake."""
        return await self.extension.suspend()

    async def wake(self) -> None:
        """Run its event page again."""
        await self.extension.wake()

    async def reload(self) -> None:
        """Restart it from its files, as runtime.reload() does. Changed files make it an update."""
        await self._profile.extensions.reload(self.id)

    # ── User actions ──

    async def open(self, url: str, identity: IdentityLike = DEFAULT_COOKIE_STORE_ID) -> Tab | None:
        """Open a tab as the user, and wait until its page has loaded. Returns None if the extension closed the tab."""
        tab = await self._profile.tabs.open(identity, url)
        try:
            return await self._engine.wait_until_loaded(tab.id)
        except InvalidTab:
            return None

    async def ui(self) -> ExtensionUi:
        """The menus, actions, commands and notifications of the extension, as in the active tab."""
        [ui] = await self._profile.extensions.ui(self.id)
        return ui

    def click_menu(
        self,
        item_id: str | int,
        *,
        tab_id: int | None = None,
        link_url: str | None = None,
        link_text: str | None = None,
        image_url: str | None = None,
        selection_text: str | None = None,
        bookmark_id: str | None = None,
    ) -> Awaitable[TriggerResult]:
        """Click a menu item, in the active tab or another one, on the page, a link, an image, a selection or a
        bookmark.

        Every user action resolves when the listeners are called, before they finish. Use wait_for() for the effect.
        """
        return self._profile.extensions.trigger(
            self.id,
            f"menu:{item_id}",
            tab_id=tab_id,
            link_url=link_url,
            link_text=link_text,
            image_url=image_url,
            selection_text=selection_text,
            bookmark_id=bookmark_id,
        )

    def run_command(self, name: str, *, tab_id: int | None = None) -> Awaitable[TriggerResult]:
        """Press the shortcut of a command."""
        return self._profile.extensions.trigger(self.id, f"command:{name}", tab_id=tab_id)

    def click_action(self, *, tab_id: int | None = None) -> Awaitable[TriggerResult]:
        """Click the action. The result has the URL of its popup, if it has one.

        With engine="chromium" the popup is shown, as by popup(), which also returns its page. Otherwise play it with
        page().
        """
        return self._profile.extensions.trigger(self.id, "action", tab_id=tab_id)

    def click_page_action(self, *, tab_id: int | None = None) -> Awaitable[TriggerResult]:
        """Click the page action."""
        return self._profile.extensions.trigger(self.id, "page-action", tab_id=tab_id)

    def click_notification(self, notification_id: str) -> Awaitable[TriggerResult]:
        """Click a notification."""
        return self._profile.extensions.trigger(self.id, f"notification:{notification_id}")

    def close_notification(self, notification_id: str) -> Awaitable[TriggerResult]:
        """Close a notification."""
        return self._profile.extensions.trigger(self.id, f"notification:{notification_id}", close=True)

    # ── Waiting for effects ──

    async def wait_for(self, expression: str, timeout: float = _DEFAULT_TIMEOUT) -> Any:
        """Wait until an expression in the background is truthy. Returns its value."""
        return await _poll(lambda: self.evaluate(expression), bool, expression, timeout)

    async def until_tabs(
        self, condition: Callable[[list[TabInTest]], object], timeout: float = _DEFAULT_TIMEOUT
    ) -> list[TabInTest]:
        """Wait until no tab is loading and the tabs of the profile meet a condition. Returns the tabs.

        A tab has the name of its identity: `await ext.until_tabs(lambda tabs: tabs[0].identity == "Work")`. An
        IndexError of the condition means that it is not met yet.
        """

        def are_loaded_and_match(tabs: list[TabInTest]) -> bool:
            try:
                return bool(not any(tab.loading for tab in tabs) and condition(tabs))
            except IndexError:
                return False

        return await _poll(lambda: _tabs_of(self._profile), are_loaded_and_match, "condition on the tabs", timeout)

    wait_for_tabs = until_tabs
    """The same as until_tabs()."""

    async def wait_for_ui(
        self, condition: Callable[[ExtensionUi], object], timeout: float = _DEFAULT_TIMEOUT
    ) -> ExtensionUi:
        """Wait until the UI of the extension meets a condition. Returns the UI."""
        return await _poll(self.ui, lambda ui: bool(condition(ui)), "condition on the UI", timeout)


async def _poll(
    read: Callable[[], Awaitable[T]], condition: Callable[[T], bool], description: str, timeout: float
) -> T:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout
    while not condition(value := await read()):
        if loop.time() >= deadline:
            raise TimeoutError(f"timed out after {timeout:g} s: {description}. Last value: {value!r}")
        await asyncio.sleep(_POLL_INTERVAL)
    return value


class TabInTest(Tab, frozen=True, kw_only=True):
    """A tab, with the name of its identity."""

    identity: str | None
    """The name of the identity; None for a tab of no identity."""


async def _tabs_of(profile: Profile) -> list[TabInTest]:
    """All tabs of a profile, by window and position."""
    names = {each.cookie_store_id: each.name for each in await profile.identities.query()}
    return [_with_identity(tab, names.get(tab.cookie_store_id)) for tab in await profile.tabs.query()]


def _with_identity(tab: Tab, identity: str | None) -> TabInTest:
    fields = {name: getattr(tab, name) for name in tab.__struct_fields__}
    return TabInTest(**fields, identity=identity)
