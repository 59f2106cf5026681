"""The types of `browser` for type checkers. Nothing here runs; a test holds it against the schemas."""

from hatbox.api.typed.browsing_data import BrowsingDataNamespace
from hatbox.api.typed.cookies import CookieDict, CookiesNamespace
from hatbox.api.typed.identities import ContextualIdentitiesNamespace, ContextualIdentityDict
from hatbox.api.typed.navigation import WebNavigationNamespace
from hatbox.api.typed.requests import ProxyNamespace, RequestDetails, WebRequestNamespace
from hatbox.api.typed.tabs import TabDict, TabsNamespace
from hatbox.api.typed.windows import WindowDict, WindowsNamespace

__all__ = [
    "BrowsingDataNamespace",
    "ContextualIdentitiesNamespace",
    "ContextualIdentityDict",
    "CookieDict",
    "CookiesNamespace",
    "ProxyNamespace",
    "RequestDetails",
    "TabDict",
    "TabsNamespace",
    "WebNavigationNamespace",
    "WebRequestNamespace",
    "WindowDict",
    "WindowsNamespace",
]
