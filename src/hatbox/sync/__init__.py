"""The synchronous API. One thread runs the event loop; calls from any thread are run there."""

from hatbox.sync.activity_log import SyncActivityLog
from hatbox.sync.chromium import SyncChromium
from hatbox.sync.cookies import SyncCookieStore, SyncCookieStores
from hatbox.sync.grants import SyncGrants
from hatbox.sync.history import SyncHistory
from hatbox.sync.identities import SyncIdentities
from hatbox.sync.loop_thread import SyncEvent
from hatbox.sync.profile import SyncProfile, open_sync
from hatbox.sync.site_rules import SyncSiteRules
from hatbox.sync.tabs import SyncTabs
from hatbox.sync.trash import SyncTrash

__all__ = [
    "SyncActivityLog",
    "SyncChromium",
    "SyncCookieStore",
    "SyncCookieStores",
    "SyncEvent",
    "SyncGrants",
    "SyncHistory",
    "SyncIdentities",
    "SyncProfile",
    "SyncSiteRules",
    "SyncTabs",
    "SyncTrash",
    "open_sync",
]
