"""The permissions that there are, those of Firefox 153 and `contextualidentities`, and which can be optional. Data."""

from __future__ import annotations

from typing import Final

__all__ = [
    "ALONE",
    "DATA_COLLECTION",
    "ONLY_VERSION_3",
    "OPTIONAL",
    "OPTIONAL_DATA_COLLECTION",
    "PRIVILEGED",
    "REQUIRED",
]

ALONE: Final = frozenset({"trialML", "userScripts"})
"""Optional only, and to be asked for with nothing beside it."""

OPTIONAL: Final = ALONE | {
    "activeTab",
    "bookmarks",
    "browserSettings",
    "browsingData",
    "clipboardRead",
    "clipboardWrite",
    "cookies",
    "declarativeNetRequestFeedback",
    "devtools",
    "downloads",
    "downloads.open",
    "find",
    "geolocation",
    "history",
    "idle",
    "management",
    "menus.overrideContext",
    "nativeMessaging",
    "notifications",
    "pkcs11",
    "privacy",
    "proxy",
    "publicSuffix",
    "scripting",
    "search",
    "sessions",
    "tabGroups",
    "tabHide",
    "tabs",
    "topSites",
    "webNavigation",
    "webRequest",
    "webRequestAuthProvider",
    "webRequestBlocking",
    "webRequestFilterResponse",
    "webRequestFilterResponse.serviceWorkerScript",
}

PRIVILEGED: Final = frozenset(
    {"activityLog", "geckoProfiler", "mozillaAddons", "networkStatus", "normandyAddonStudy", "telemetry"}
)
"""For Mozilla's own extensions: known, and given to nobody."""

REQUIRED: Final = (OPTIONAL - ALONE) | {
    "alarms",
    "captivePortal",
    "contextMenus",
    "contextualIdentities",
    "contextualidentities",  # the specification's own, which is not the one above: it gives another surface
    "declarativeNetRequest",
    "declarativeNetRequestWithHostAccess",
    "dns",
    "identity",
    "menus",
    "storage",
    "theme",
    "unlimitedStorage",
}
"""What `permissions` in a manifest can name, besides hosts."""

ONLY_VERSION_3: Final = frozenset({"userScripts"})

DATA_COLLECTION: Final = frozenset(
    {
        "authenticationInfo",
        "bookmarksInfo",
        "browsingActivity",
        "financialAndPaymentInfo",
        "healthInfo",
        "locationInfo",
        "personalCommunications",
        "personallyIdentifyingInfo",
        "searchTerms",
        "websiteActivity",
        "websiteContent",
    }
)
OPTIONAL_DATA_COLLECTION: Final = DATA_COLLECTION | {"technicalAndInteraction"}
