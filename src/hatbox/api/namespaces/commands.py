"""The namespace commands: what the manifest names, what was changed of it since, and what happens on one.

The rules are functions of a transaction. The words are Firefox's.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.api.caller import Caller, ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.tabs.clicked_tab import clicked_tab_view, to_well_formed
from hatbox.api.namespaces.tabs.tab_views import TabView
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.schema import NamespaceSchema
from hatbox.store.base import Transaction
from hatbox.store.change_events import ChangeEvents
from hatbox.tabs.tab_model import Tab

__all__ = ["CommandView", "execute", "get_all", "implement"]

_KIND: Final = "command"
_GIVEN, _CHANGED = "commands.given", "commands.changed"
_SYSTEM: Final = {"darwin": "mac", "win32": "windows"}.get(sys.platform, "linux")
_SPACE: Final = re.compile(r"\s+")
_ACTION: Final = "_execute_action"
_OLD_ACTION: Final = "_execute_browser_action"  # what version 2 of the manifest calls the same


class CommandView(msgspec.Struct, frozen=True):
    """A command. Its keys are empty if it has none."""

    name: str
    description: str | None
    shortcut: str


class CommandExecuted(msgspec.Struct, frozen=True):
    """A command that was given in a tab."""

    extension: str
    command: str
    tab: Tab | None


class _Update(msgspec.Struct, frozen=True, omit_defaults=True):
    description: str | None = None
    shortcut: str | None = None


class _Changed(msgspec.Struct, frozen=True):
    extension: str
    name: str
    new_shortcut: str
    old_shortcut: str


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the commands of a profile."""
    return _Commands(surface, services)


class _Commands(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        feed = ChangeEvents(services.store, "commands")
        events = {
            "onCommand": EventBinding(
                feed.event("onCommand", _GIVEN, msgspec.json.Decoder(CommandExecuted).decode), _told_given
            ),
            "onChanged": EventBinding(
                feed.event("onChanged", _CHANGED, msgspec.json.Decoder(_Changed).decode), _told_changed
            ),
        }
        super().__init__(surface, services.store, events)

    def get_all(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        return self._read("getAll", get_all, caller.id, caller.manifest)

    def update(self, caller: ExtensionCaller, detail: Mapping[str, Any]) -> asyncio.Future[Any]:
        return self._write("update", _update, caller.id, caller.manifest, to_well_formed(detail))

    def reset(self, caller: ExtensionCaller, name: str) -> asyncio.Future[Any]:
        return self._write("reset", _reset, caller.id, caller.manifest, to_well_formed(name))


def get_all(transaction: Transaction, extension: str, manifest: Mapping[str, Any]) -> list[CommandView]:
    """All commands of an extension, in the order of its manifest."""
    saved = {key: _decode(value) for _, key, value in transaction.extensions.find(_KIND, extension)}
    commands = []
    for name, keys in (manifest.get("commands") or {}).items():
        suggested = keys.get("suggested_key") or {}
        shortcut = _SPACE.sub("", suggested.get(_SYSTEM) or suggested.get("default") or "")
        old = saved.get(_OLD_ACTION) if name == _ACTION else None
        update = saved.get(name) or old or _Update()
        commands.append(
            CommandView(
                name,
                keys.get("description") if update.description is None else update.description,
                shortcut if update.shortcut is None else update.shortcut,
            )
        )
    return commands


def execute(transaction: Transaction, extension: str, name: str, tab: Tab | None) -> None:
    """A command is given, in the place of a user."""
    transaction.changes.append(_GIVEN, _encode(CommandExecuted(extension, name, tab)))


def _update(transaction: Transaction, extension: str, manifest: Mapping[str, Any], detail: Mapping[str, Any]) -> None:
    command = _existing(transaction, extension, manifest, detail["name"])
    value = transaction.extensions.get(extension, _KIND, command.name)
    saved = _decode(value) if value else _Update()
    if detail["description"] and detail["description"] != command.description:
        saved = msgspec.structs.replace(saved, description=detail["description"])
    shortcut = command.shortcut if detail["shortcut"] is None else _SPACE.sub("", detail["shortcut"])
    if shortcut != command.shortcut:
        saved = msgspec.structs.replace(saved, shortcut=shortcut)
        changed = _Changed(extension, command.name, shortcut, command.shortcut)
        transaction.changes.append(_CHANGED, _encode(changed))
    transaction.extensions.put(extension, _KIND, command.name, _encode(saved))


def _reset(transaction: Transaction, extension: str, manifest: Mapping[str, Any], name: str) -> None:
    command = _existing(transaction, extension, manifest, name)
    transaction.extensions.delete(extension, _KIND, command.name)
    if name == _ACTION:
        transaction.extensions.delete(extension, _KIND, _OLD_ACTION)


def _existing(transaction: Transaction, extension: str, manifest: Mapping[str, Any], name: str) -> CommandView:
    for command in get_all(transaction, extension, manifest):
        if command.name == name:
            return command
    raise ApiError(f'Unknown command "{name}"')


def _told_given(caller: Caller, given: CommandExecuted) -> tuple[str, TabView | None] | None:
    """(command, tab), if it is one of the caller's."""
    return (given.command, clicked_tab_view(caller, given.tab)) if given.extension == caller.id else None


def _told_changed(caller: Caller, changed: _Changed) -> tuple[_Changed] | None:
    """(changeInfo), if it is one of the caller's."""
    return (changed,) if changed.extension == caller.id else None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Update).decode
