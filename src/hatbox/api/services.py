"""The services of one profile that namespaces use."""

from __future__ import annotations

from typing import NamedTuple

from hatbox.api.content_script_registry import ContentScriptRegistry
from hatbox.clock import Clock
from hatbox.cookies.cookie_stores import CookieStores
from hatbox.downloads.download_list import Downloads
from hatbox.identities.service import Identities
from hatbox.messaging.message_router import MessageRouter
from hatbox.store.base import Store
from hatbox.tabs.service import Tabs
from hatbox.web_requests import RequestEvents

__all__ = ["Services"]


class Services(NamedTuple):
    """The services of one profile."""

    store: Store
    identities: Identities
    cookies: CookieStores
    tabs: Tabs
    requests: RequestEvents
    clock: Clock
    messages: MessageRouter
    """Messages between the extensions that run here."""
    content_scripts: ContentScriptRegistry
    """The content scripts of those extensions, and the engines that inject them."""
    downloads: Downloads
    """The downloads of extensions that run here."""
