"""The namespace management: installed extensions, and those that run in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from hatbox.api.caller import Caller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.extension_data import installed_extensions
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]

Info = dict[str, Any]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the extensions of a profile."""
    return _Management(schema, services)


class _Management(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        self._running = services.messages.running
        changes = ChangeEvents(services.store, "management")
        topics = {
            "onInstalled": installed_extensions.INSTALLED,
            "onUninstalled": installed_extensions.UNINSTALLED,
            "onEnabled": installed_extensions.ENABLED,
            "onDisabled": installed_extensions.DISABLED,
        }
        sources = {name: changes.event(name, topic, msgspec.json.decode) for name, topic in topics.items()}
        events = {name: EventBinding(event, _info_args) for name, event in sources.items()}
        super().__init__(schema, services.store, events)

    def _areas(self) -> dict[str, str]:
        """The data areas of the extensions that run in this process, by extension id."""
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


def _visible(transaction: Transaction, running: Mapping[str, str]) -> list[InstalledExtension]:
    """Installed extensions and running temporary ones. A temporary one replaces the installed one with its id."""
    every = installed_extensions.get_all(transaction)
    return [each for each in every if running.get(each.id, each.area if each.permanent else None) == each.area]


def _get_all(transaction: Transaction, running: Mapping[str, str]) -> list[Info]:
    return [installed_extensions.info_of(transaction, each) for each in _visible(transaction, running)]


def _get(transaction: Transaction, running: Mapping[str, str], extension_id: str) -> Info:
    for each in _visible(transaction, running):
        if each.id == extension_id:
            return installed_extensions.info_of(transaction, each)
    raise ApiError(f"No such addon {extension_id}")


def _set_enabled(transaction: Transaction, running: Mapping[str, str], extension_id: str) -> None:
    """Reject, as Firefox does for every extension that is not installed by enterprise policy."""
    _get(transaction, running, extension_id)
    raise ApiError("setEnabled can only be used for themes or by addons installed by enterprise policy")


def _uninstall(transaction: Transaction, extension_id: str, show_confirm_dialog: bool) -> None:
    if show_confirm_dialog:  # there is no dialog in which the user could confirm
        raise ApiError("User cancelled uninstall of extension")
    installed_extensions.remove(transaction, extension_id)


def _info_args(_: Caller, info: Info) -> tuple[Info]:
    """(info)"""
    return (info,)
