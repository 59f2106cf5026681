"""Commands of extensions: those of the manifest, with the user's or the extension's changes stored in the profile.

Transaction functions. Error messages match Firefox.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from hatbox.errors import ApiError
from hatbox.extension_data.ui_changes import record_ui_change
from hatbox.store.base import Transaction
from hatbox.tabs.tab_model import Tab

__all__ = [
    "CHANGED",
    "EXECUTED",
    "CommandChanged",
    "CommandExecuted",
    "CommandView",
    "execute",
    "get_all",
    "reset",
    "update",
]

EXECUTED, CHANGED = "commands.given", "commands.changed"

_KIND: Final = "command"
_SYSTEM: Final = {"darwin": "mac", "win32": "windows"}.get(sys.platform, "linux")
_SPACE: Final = re.compile(r"\s+")
_ACTION: Final = "_execute_action"
_BROWSER_ACTION: Final = "_execute_browser_action"  # the name of _ACTION in manifest version 2


class CommandView(msgspec.Struct, frozen=True):
    """A command. `shortcut` is empty if it has none."""

    name: str
    description: str | None
    shortcut: str


class CommandExecuted(msgspec.Struct, frozen=True):
    """Payload of commands.onCommand."""

    extension: str
    command: str
    tab: Tab | None


class CommandChanged(msgspec.Struct, frozen=True):
    """Payload of commands.onChanged."""

    extension: str
    name: str
    new_shortcut: str
    old_shortcut: str


class _Update(msgspec.Struct, frozen=True, omit_defaults=True):
    description: str | None = None
    shortcut: str | None = None


def get_all(transaction: Transaction, extension: str, manifest: Mapping[str, Any]) -> list[CommandView]:
    """All commands of an extension, in the order of its manifest."""
    saved = {key: _decode(value) for _, key, value in transaction.extensions.find(_KIND, extension)}
    commands = []
    for name, keys in (manifest.get("commands") or {}).items():
        suggested = keys.get("suggested_key") or {}
        shortcut = _SPACE.sub("", suggested.get(_SYSTEM) or suggested.get("default") or "")
        old = saved.get(_BROWSER_ACTION) if name == _ACTION else None
        changed = saved.get(name) or old or _Update()
        commands.append(
            CommandView(
                name,
                keys.get("description") if changed.description is None else changed.description,
                shortcut if changed.shortcut is None else changed.shortcut,
            )
        )
    return commands


def execute(transaction: Transaction, extension: str, name: str, tab: Tab | None) -> None:
    """Execute a command on behalf of the user."""
    transaction.changes.append(EXECUTED, _encode(CommandExecuted(extension, name, tab)))


def update(transaction: Transaction, extension: str, manifest: Mapping[str, Any], detail: Mapping[str, Any]) -> None:
    """Change the description or the shortcut of a command."""
    command = _existing(transaction, extension, manifest, detail["name"])
    value = transaction.extensions.get(extension, _KIND, command.name)
    saved = _decode(value) if value else _Update()
    if detail["description"] and detail["description"] != command.description:
        saved = msgspec.structs.replace(saved, description=detail["description"])
    shortcut = command.shortcut if detail["shortcut"] is None else _SPACE.sub("", detail["shortcut"])
    if shortcut != command.shortcut:
        saved = msgspec.structs.replace(saved, shortcut=shortcut)
        changed = CommandChanged(extension, command.name, shortcut, command.shortcut)
        transaction.changes.append(CHANGED, _encode(changed))
    transaction.extensions.put(extension, _KIND, command.name, _encode(saved))
    record_ui_change(transaction, extension)


def reset(transaction: Transaction, extension: str, manifest: Mapping[str, Any], name: str) -> None:
    """Restore a command as the manifest declares it."""
    command = _existing(transaction, extension, manifest, name)
    transaction.extensions.delete(extension, _KIND, command.name)
    if name == _ACTION:
        transaction.extensions.delete(extension, _KIND, _BROWSER_ACTION)
    record_ui_change(transaction, extension)


def _existing(transaction: Transaction, extension: str, manifest: Mapping[str, Any], name: str) -> CommandView:
    for command in get_all(transaction, extension, manifest):
        if command.name == name:
            return command
    raise ApiError(f'Unknown command "{name}"')


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Update).decode
