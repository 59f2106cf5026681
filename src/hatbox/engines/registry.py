"""The engines, found by name. A new engine is a package beside this module with a module `registration`, nothing else.

Each `registration` has DISPLAY_NAME, HAS_WINDOWS, and `create(services, selection)`. Only
`create` imports the driver.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Final, NamedTuple

from hatbox.errors import EngineError

if TYPE_CHECKING:
    from hatbox.cookies.cookie_stores import CookieStores
    from hatbox.downloads.download_list import Downloads
    from hatbox.engines.chromium.endpoint_answers import GrantAuthorizer
    from hatbox.engines.chromium.hosted_pages import HostedPages
    from hatbox.engines.chromium.scripted_browser import PageScripts
    from hatbox.engines.extension_buttons import ExtensionButtons
    from hatbox.engines.runner import EngineRunner
    from hatbox.engines.selection import EngineSelection
    from hatbox.identities.service import Identities
    from hatbox.site_rules.service import SiteRules
    from hatbox.store.base import Store
    from hatbox.tabs.service import Tabs
    from hatbox.web_requests import RequestEvents
    from hatbox.web_requests.request_model import ReadExtensionFile

__all__ = ["ENGINES", "EngineServices", "create_engine", "registration_of"]

ENGINES: Final = tuple(sorted(each.parent.name for each in Path(__file__).parent.glob("*/registration.py")))
"""The names of all engines."""


class EngineServices(NamedTuple):
    """The services of a profile that engines use."""

    store: Store
    identities: Identities
    cookies: CookieStores
    tabs: Tabs
    rules: SiteRules
    web_requests: RequestEvents
    read_extension_file: ReadExtensionFile
    buttons: ExtensionButtons
    downloads: Downloads
    create_page_scripts: Callable[[], PageScripts] | None = None
    """Creates the part that adds content scripts to the pages of an engine with a DOM."""
    hosted_pages: HostedPages | None = None
    """Shows pages of extensions in Chromium."""
    endpoint_grants: GrantAuthorizer | None = None
    """The authorization of clients with grants, for endpoints that other programs request."""


def create_engine(services: EngineServices, selection: EngineSelection) -> EngineRunner:
    """The selected engine, not started. Raises EngineError for an unknown name, MissingExtra without its driver."""
    runner: EngineRunner = registration_of(selection.name).create(services, selection)
    return runner


def registration_of(name: str) -> ModuleType:
    """The registration of an engine. Raises EngineError for an unknown name."""
    if name not in ENGINES:
        raise EngineError(f"unknown engine: {name}. Allowed values: {', '.join(ENGINES)}")
    return import_module(f"hatbox.engines.{name}.registration")
