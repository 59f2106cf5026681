"""The namespace commands. The commands are stored in the profile (`extension_data/commands.py`)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from hatbox.api.caller import Caller, ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.tabs.clicked_tab import clicked_tab_view
from hatbox.api.namespaces.tabs.tab_views import TabView
from hatbox.api.services import Services
from hatbox.extension_data import commands
from hatbox.extension_data.commands import CommandChanged, CommandExecuted
from hatbox.javascript.well_formed_values import to_well_formed
from hatbox.schema import NamespaceSchema
from hatbox.store.change_events import ChangeEvents

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the commands of a profile."""
    return _Commands(schema, services)


class _Commands(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        changes = ChangeEvents(services.store, "commands")
        executed = changes.event("onCommand", commands.EXECUTED, msgspec.json.Decoder(CommandExecuted).decode)
        changed = changes.event("onChanged", commands.CHANGED, msgspec.json.Decoder(CommandChanged).decode)
        events = {
            "onCommand": EventBinding(executed, _command_args),
            "onChanged": EventBinding(changed, _changed_args),
        }
        super().__init__(schema, services.store, events)

    def get_all(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        return self._read("getAll", commands.get_all, caller.id, caller.manifest)

    def update(self, caller: ExtensionCaller, detail: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._write("update", commands.update, caller.id, caller.manifest, to_well_formed(detail))

    def reset(self, caller: ExtensionCaller, name: str) -> asyncio.Future[Any]:
        return self._write("reset", commands.reset, caller.id, caller.manifest, to_well_formed(name))


def _command_args(caller: Caller, executed: CommandExecuted) -> tuple[str, TabView | None] | None:
    """(command, tab) for the extension of the command."""
    return (executed.command, clicked_tab_view(caller, executed.tab)) if executed.extension == caller.id else None


def _changed_args(caller: Caller, changed: CommandChanged) -> tuple[CommandChanged] | None:
    """(changeInfo) for the extension of the command."""
    return (changed,) if changed.extension == caller.id else None
