"""The namespace hatbox: facts about the profile."""

from __future__ import annotations

import asyncio
from importlib.metadata import version
from typing import Any

from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.manager_api.managed_profile import ManagedProfile
from hatbox.manager_api.profile_counts import CountsEvent
from hatbox.schema import NamespaceSchema
from hatbox.shell_words import shell_word
from hatbox.store.processes import current_process
from hatbox.store.registry import default_path

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> Namespace:
    """Implement the namespace."""
    return _ProfileOverview(schema, services, profile)


class _ProfileOverview(Namespace):
    def __init__(self, schema: NamespaceSchema, services: Services, profile: ManagedProfile) -> None:
        self._counts_event = CountsEvent(services.store, services.cookies.expiry.on_expired)
        super().__init__(schema, services.store, {"onCountsChanged": EventBinding(self._counts_event, lambda *_: [])})
        self._profile = profile

    def get_profile(self) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._overview())

    def get_counts(self) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._counts())

    async def _counts(self) -> Any:
        return self._result_converters["getCounts"](await self._counts_event.count())

    async def _overview(self) -> dict[str, Any]:
        settings = await self._profile.settings()
        return {
            "label": self._profile.label,
            "command": _command(self._profile.label),
            "machine": current_process().machine,
            "version": version("hatbox"),
            "isEncrypted": self._store.is_encrypted,
            "trashDays": settings.trash_days,
        }


def _command(label: str) -> str:
    return "hatbox" if label == default_path() else f"hatbox --profile {shell_word(label)}"
