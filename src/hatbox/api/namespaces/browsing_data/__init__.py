"""The namespace browsingData."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.namespace import Namespace
from hatbox.api.namespaces.browsing_data import data_removal
from hatbox.api.namespaces.browsing_data.data_removal import DataRemoval, Options, removal_of
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the cookies and site data of a profile."""
    return _BrowsingData(schema, services)


class _BrowsingData(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        super().__init__(schema, services.store, {})
        self._downloads = services.downloads

    def settings(self) -> asyncio.Future[Any]:
        return self._read("settings", data_removal.settings)

    def remove(self, options: Options, kinds: Options) -> asyncio.Future[Any]:
        return self._remove("remove", options, *(kind for kind, is_set in kinds.items() if is_set))

    def remove_cache(self, options: Options) -> asyncio.Future[Any]:
        return self._remove("removeCache", options, "cache")

    def remove_cookies(self, options: Options) -> asyncio.Future[Any]:
        return self._remove("removeCookies", options, "cookies")

    def remove_downloads(self, options: Options) -> asyncio.Future[Any]:
        return self._remove("removeDownloads", options, "downloads")

    def remove_form_data(self, options: Options) -> asyncio.Future[Any]:
        return self._remove("removeFormData", options, "formData")

    def remove_history(self, options: Options) -> asyncio.Future[Any]:
        return self._remove("removeHistory", options, "history")

    def remove_local_storage(self, options: Options) -> asyncio.Future[Any]:
        return self._remove("removeLocalStorage", options, "localStorage")

    def remove_passwords(self, options: Options) -> asyncio.Future[Any]:
        return self._remove("removePasswords", options, "passwords")

    def remove_plugin_data(self, options: Options) -> asyncio.Future[Any]:
        return self._remove("removePluginData", options, "pluginData")

    def _remove(self, member: str, options: Options, *kinds: str) -> asyncio.Future[Any]:
        removal = removal_of(f"browsingData.{member}", options)
        removed = self._write(member, data_removal.remove, removal, kinds)
        return asyncio.ensure_future(self._remove_listed(removed, removal)) if "downloads" in kinds else removed

    async def _remove_listed(self, removed: asyncio.Future[Any], removal: DataRemoval) -> Any:
        """Clear the list of downloads, which is in memory, if the options are valid. Like Firefox, ignore hosts."""
        result = await removed
        self._downloads.remove_finished(removal.since)
        return result
