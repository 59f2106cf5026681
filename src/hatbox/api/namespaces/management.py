"""The namespace management: the extensions that are installed, and those that run here."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]

Info = dict[str, Any]


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the extensions of a profile."""
    return _Management(surface, services)


class _Management(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        self._running = services.messages.running
        feed = ChangeEvents(services.store, "management")
        topics = {
            "onInstalled": installed.INSTALLED,
            "onUninstalled": installed.UNINSTALLED,
            "onEnabled": installed.ENABLED,
            "onDisabled": installed.DISABLED,
        }
        events = {
            name: EventBinding(feed.event(name, topic, msgspec.json.decode), _told) for name, topic in topics.items()
        }
        super().__init__(surface, services.store, events)

    def _areas(self) -> dict[str, str]:
        """The ids of the extensions that run here, and their data areas."""
        return {extension.id: extension.area for extension in self._running.values()}

    def get_all(self, _: Caller) -> asyncio.Future[Any]:
        return self._read("getAll", _get_all, self._areas())

    def get(self, _: Caller, extension_id: str) -> asyncio.Future[Any]:
        return self._read("get", _get, self._areas(), extension_id)

    def get_self(self, caller: Caller) -> asyncio.Future[Any]:
        return self._read("getSelf", _get, {caller.extension_id: caller.id}, caller.extension_id)

    def set_enabled(self, _: Caller, extension_id: str, __: bool) -> asyncio.Future[Any]:
        return self._read("setEnabled", _set_enabled, self._areas(), extension_id)

    def uninstall_self(self, caller: Caller, options: Mapping[str, Any] | None) -> asyncio.Future[Any]:
        return self._write("uninstallSelf", _uninstall, caller.id, bool(options and options["showConfirmDialog"]))


def _there(transaction: Transaction, running: Mapping[str, str]) -> list[InstalledExtension]:
    """The installed extensions, and those that run here from a folder: in the place of an installed one of that id."""
    every = installed.get_all(transaction)
    return [each for each in every if running.get(each.id, each.area if each.permanent else None) == each.area]


def _get_all(transaction: Transaction, running: Mapping[str, str]) -> list[Info]:
    return [installed.info_of(transaction, each) for each in _there(transaction, running)]


def _get(transaction: Transaction, running: Mapping[str, str], extension_id: str) -> Info:
    for each in _there(transaction, running):
        if each.id == extension_id:
            return installed.info_of(transaction, each)
    raise ApiError(f"No such addon {extension_id}")


def _set_enabled(transaction: Transaction, running: Mapping[str, str], extension_id: str) -> None:
    """Refuse, as Firefox refuses every extension that no enterprise has installed: a user decides that."""
    _get(transaction, running, extension_id)
    raise ApiError("setEnabled can only be used for themes or by addons installed by enterprise policy")


def _uninstall(transaction: Transaction, extension_id: str, ask_first: bool) -> None:
    if ask_first:  # and there is nobody to ask
        raise ApiError("User cancelled uninstall of extension")
    installed.remove(transaction, extension_id)


def _told(_: Caller, info: Info) -> tuple[Info]:
    """(info)"""
    return (info,)
