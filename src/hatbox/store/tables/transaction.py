"""All tables of a profile, as a transaction function sees them."""

from __future__ import annotations

from collections.abc import Callable, Collection

from hatbox.store.base import Processes
from hatbox.store.tables.cookie_tables import SqlCookieTable, SqlCookieTimeTable
from hatbox.store.tables.counters import Counters
from hatbox.store.tables.extension_tables import SqlExtensionTable, SqlPackageTable
from hatbox.store.tables.grant_tables import SqlActivityTable, SqlGrantTable
from hatbox.store.tables.history_tables import SqlBookmarkTable, SqlHistoryTable
from hatbox.store.tables.identity_tables import SqlIdentityTable, SqlRuleTable, SqlSettingsTable, SqlTrashTable
from hatbox.store.tables.rows import Rows
from hatbox.store.tables.schema import (
    ACTIVITY,
    BOOKMARKS,
    CLOSED_TABS,
    COOKIE_TIME,
    COOKIES,
    EXTENSION_DATA,
    GRANTS,
    HISTORY,
    IDENTITIES,
    PACKAGES,
    RULES,
    SETTINGS,
    SITE_DATA,
    TAB_COUNTS,
    TAB_PAGES,
    TABS,
    TRASH,
    VISITS,
    WINDOWS,
    Table,
)
from hatbox.store.tables.tab_tables import SqlClosedTabTable, SqlSiteDataTable, SqlTabTable, SqlWindowTable

__all__ = ["SqlTables"]


class SqlTables:
    """The tables of Transaction, except the change log. `rows` gives access to the rows of a table."""

    def __init__(
        self, rows: Callable[[Table], Rows], counters: Counters, processes: Processes, clock: Callable[[], float]
    ) -> None:
        self.processes = processes
        self._counters = counters
        self._clock = clock
        self.identities = SqlIdentityTable(rows(IDENTITIES), counters)
        self.cookies = SqlCookieTable(rows(COOKIES))
        self.cookie_time = SqlCookieTimeTable(rows(COOKIE_TIME))
        self.tabs = SqlTabTable(rows(TABS), rows(TAB_COUNTS), rows(TAB_PAGES), counters)
        self.windows = SqlWindowTable(rows(WINDOWS), counters)
        self.site_data = SqlSiteDataTable(rows(SITE_DATA))
        self.extensions = SqlExtensionTable(rows(EXTENSION_DATA), counters)
        self.packages = SqlPackageTable(rows(PACKAGES))
        self.settings = SqlSettingsTable(rows(SETTINGS))
        self.rules = SqlRuleTable(rows(RULES), counters)
        self.trash = SqlTrashTable(rows(TRASH))
        self.history = SqlHistoryTable(rows(HISTORY), rows(VISITS))
        self.bookmarks = SqlBookmarkTable(rows(BOOKMARKS))
        self.closed_tabs = SqlClosedTabTable(rows(CLOSED_TABS))
        self.grants = SqlGrantTable(rows(GRANTS))
        self.activity = SqlActivityTable(rows(ACTIVITY))

    def reset(self) -> None:
        """Discard what the tables cache during a transaction. Called when one starts."""
        self._counters.reset()
        self.tabs.reset()
        self.windows.reset()

    def load(
        self,
        *,
        identities: Collection[int] = (),
        tabs: Collection[int] = (),
        windows: Collection[int] = (),
        stores: Collection[int] = (),
        values: Collection[tuple[str, str, str]] = (),
        settings: Collection[tuple[int, str]] = (),
        last_focused: bool = False,
    ) -> None:
        self.identities.prefetch(identities)
        self.tabs.prefetch(tabs, windows, stores)
        for value in values:
            self.extensions.prefetch(*value)
        for setting in settings:
            self.settings.prefetch(*setting)
        if last_focused:
            self.windows.prefetch()

    def trim(self) -> None:
        """See Transaction.trim. A local store caches no rows."""

    def time(self) -> float:
        return self._clock()
