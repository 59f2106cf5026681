"""What the parts of the engine share for one launched browser."""

from __future__ import annotations

from typing import NamedTuple

from hatbox.cookies.cookie_stores import CookieStores
from hatbox.engines.base import EngineDelegate, EngineOptions
from hatbox.engines.chromium.downloads import PageDownloads
from hatbox.engines.chromium.endpoint.endpoint_pages import EndpointPages
from hatbox.engines.chromium.launch import Launched
from hatbox.engines.chromium.script_pages import ScriptPages
from hatbox.engines.chromium.sessions import Session
from hatbox.engines.extension_buttons import ExtensionButtons
from hatbox.engines.navigation_rules import NavigationRules
from hatbox.identities.service import Identities
from hatbox.store.base import Store
from hatbox.tasks import Tasks

__all__ = ["BrowserEnvironment", "ProfileServices", "WindowOptions"]


class ProfileServices(NamedTuple):
    """The services of the profile that the browser is synchronized with."""

    store: Store
    cookie_stores: CookieStores
    identities: Identities
    rules: NavigationRules
    script_pages: ScriptPages
    endpoint_pages: EndpointPages
    buttons: ExtensionButtons | None = None
    """The actions of extensions, for the start page."""


class WindowOptions(NamedTuple):
    """How the engine shows pages."""

    headless: bool
    indicator: bool
    """Whether pages show the name, color and icon of their identity."""
    downloads: PageDownloads | None

    def described(self, browser: str) -> EngineOptions:
        """The options for programs that want to use the engine, with the path of its browser."""
        folder = "" if self.downloads is None else str(self.downloads.folder.absolute())
        return EngineOptions(browser, folder, self.indicator)


class BrowserEnvironment(NamedTuple):
    """One launched browser, the profile that it shows, and the receiver of its reports."""

    launched: Launched
    services: ProfileServices
    options: WindowOptions
    delegate: EngineDelegate
    tasks: Tasks

    @property
    def session(self) -> Session:
        """The browser-level CDP session."""
        return self.launched.session

    @property
    def store(self) -> Store:
        """The store of the profile."""
        return self.services.store
