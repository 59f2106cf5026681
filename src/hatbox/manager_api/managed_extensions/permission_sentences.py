"""What a permission lets an extension do, in a sentence, as Firefox says it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from hatbox.extension_data.extension_permissions import ExtensionPermissions, Permissions, subsumes
from hatbox.urls.match_patterns import ALL_URLS, parse_match_pattern

__all__ = ["ShownPermission", "as_permissions", "listed_permissions", "sentence_of"]

_SENTENCES: Final = {
    "activeTab": "Access the active tab when you use the extension",
    "alarms": "Run code at times that it chooses",
    "bookmarks": "Read and change bookmarks",
    "browserSettings": "Read and change browser settings",
    "browsingData": "Clear cookies, history and other browsing data",
    "clipboardRead": "Get data from the clipboard",
    "clipboardWrite": "Put data on the clipboard",
    "contextMenus": "Add items to menus",
    "contextualIdentities": "Read and change identities",
    "contextualidentities": "Read and change identities",
    "cookies": "Read and change cookies",
    "declarativeNetRequest": "Block content on any page",
    "declarativeNetRequestWithHostAccess": "Block content on sites that it may access",
    "downloads": "Download files, and read and change the download history",
    "downloads.open": "Open files downloaded to this machine",
    "geolocation": "Access your location",
    "history": "Access the browsing history",
    "idle": "See whether you are using the machine",
    "management": "See and disable other extensions",
    "menus": "Add items to menus",
    "nativeMessaging": "Exchange messages with other programs",
    "notifications": "Display notifications to you",
    "privacy": "Read and change privacy settings",
    "proxy": "Control proxy settings",
    "scripting": "Run scripts on sites that it may access",
    "search": "Use the search engines",
    "sessions": "Access recently closed tabs",
    "storage": "Store data in this profile",
    "tabGroups": "Read and change tab groups",
    "tabHide": "Hide and show tabs",
    "tabs": "See addresses and titles of tabs",
    "theme": "Change the theme",
    "topSites": "Access the sites that you visit most",
    "unlimitedStorage": "Store any amount of data in this profile",
    "userScripts": "Run scripts of others, which may be unsafe, on sites that it may access",
    "webNavigation": "See navigation in all tabs",
    "webRequest": "See requests of sites that it may access",
    "webRequestAuthProvider": "Answer requests for passwords",
    "webRequestBlocking": "Block and change requests of sites that it may access",
    "webRequestFilterResponse": "Change responses of sites that it may access",
}
_DATA_COLLECTION: Final = {
    "authenticationInfo": "Collect passwords and other sign-in data",
    "bookmarksInfo": "Collect bookmarks",
    "browsingActivity": "Collect which sites you visit",
    "financialAndPaymentInfo": "Collect payment data",
    "healthInfo": "Collect health data",
    "locationInfo": "Collect your location",
    "personalCommunications": "Collect personal messages",
    "personallyIdentifyingInfo": "Collect your name, address and the like",
    "searchTerms": "Collect search terms",
    "technicalAndInteraction": "Collect technical data and how you use it",
    "websiteActivity": "Collect what you do on sites",
    "websiteContent": "Collect contents of sites",
}


class ShownPermission(msgspec.Struct, frozen=True):
    """A permission of an extension."""

    name: str
    """A name, a match pattern of hosts, or a type of collected data."""
    sentence: str
    required: bool
    """Whether it cannot be revoked: the extension would not run without."""
    granted: bool


def listed_permissions(grants: ExtensionPermissions) -> list[ShownPermission]:
    """All permissions of an extension: the required ones first, then those that can be granted and revoked."""
    required, granted = grants.required.visible(), grants.granted.visible()
    known = set(_names(required))
    shown = [ShownPermission(name, sentence_of(name), required=True, granted=True) for name in _names(required)]
    for name in _names(grants.optional.visible() | granted):
        if name not in known:
            is_granted = name in _names(granted) or (":" in name and subsumes(granted.origins, name))
            shown.append(ShownPermission(name, sentence_of(name), required=False, granted=is_granted))
    return shown


def as_permissions(name: str) -> Permissions:
    """A single permission, by its name."""
    if name == ALL_URLS or parse_match_pattern(name) is not None:
        return Permissions(origins=(name,))
    return Permissions(data_collection=(name,)) if name in _DATA_COLLECTION else Permissions((name,))


def sentence_of(name: str) -> str:
    """What a permission allows."""
    if name in _SENTENCES:
        return _SENTENCES[name]
    if name in _DATA_COLLECTION:
        return _DATA_COLLECTION[name]
    if name == ALL_URLS or (parse_match_pattern(name) is not None and _host_of(name) in ("", "*")):
        return "Access your data for all sites"
    if parse_match_pattern(name) is not None:
        return f"Access your data for {_host_of(name)}"
    return f"Use {name}"


def _names(permissions: Permissions) -> Iterator[str]:
    yield from permissions.permissions
    yield from permissions.origins
    yield from permissions.data_collection


def _host_of(pattern: str) -> str:
    return pattern.partition("://")[2].partition("/")[0]
