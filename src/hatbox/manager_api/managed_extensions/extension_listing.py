"""The extensions of a profile, as the page shows them: installed ones, and those that run in any process."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from hatbox.errors import HatboxError
from hatbox.extension_data import commands, run_records
from hatbox.extension_data import granted_permissions as granted
from hatbox.extension_data import installed_extensions as installed
from hatbox.extension_data.actions import action_defaults, action_keys, page_action_defaults
from hatbox.extension_data.commands import CommandView
from hatbox.extension_data.extension_permissions import NONE, ExtensionPermissions, Permissions
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extension_data.menu_items import MenuItem
from hatbox.extension_data.run_problems import RunProblem
from hatbox.extension_data.run_records import RunRecord
from hatbox.extensions.action_buttons import css_color, icon_data_url
from hatbox.extensions.package.extension_urls import file_name
from hatbox.extensions.package_repository import PackageRepository
from hatbox.extensions.page_triggers import shows_pages
from hatbox.extensions.ui_triggers import ExtensionUi, list_ui
from hatbox.manager_api.managed_extensions.permission_sentences import ShownPermission, listed_permissions
from hatbox.store.base import Store, Transaction

__all__ = ["ExtensionListing", "ListedExtension", "manifest_icons"]

logger = logging.getLogger("hatbox.manager_api")

_CACHED: Final = 64  # packages
_MAX_MENU_ITEMS: Final = 500
_SHOWN_KEYS: Final = ("name", "manifest_version", "action", "browser_action", "page_action", "commands")


class ListedButton(msgspec.Struct, frozen=True):
    """The button of an extension, as in the active tab."""

    title: str
    badge: str
    badge_color: str
    icon: str | None
    enabled: bool
    has_popup: bool


class ListedMenuItem(msgspec.Struct, frozen=True):
    """A menu item."""

    id: str
    parent_id: str | None
    title: str
    type: str
    checked: bool
    can_click: bool


class ListedExtension(msgspec.Struct, frozen=True, kw_only=True):
    """An extension."""

    id: str
    extension_id: str
    name: str
    version: str
    description: str
    is_installed: bool
    enabled: bool
    is_running: bool
    machine: str | None
    pid: int | None
    problem: str | None
    icon: str | None
    permissions: list[ShownPermission]
    action: ListedButton | None
    has_options: bool
    has_sidebar: bool
    shows_pages: bool
    menus: list[ListedMenuItem]
    commands: list[CommandView]


class _State(NamedTuple):
    """What one transaction reads of an extension."""

    known: InstalledExtension
    run: RunRecord | None
    granted: Permissions | None
    ui: ExtensionUi | None
    shows_pages: bool
    problem: RunProblem | None


class _Facts(NamedTuple):
    """What the files of an extension say. Cached, because reading a package takes time."""

    required: Permissions
    optional: Permissions
    at_install: Permissions
    icons: Mapping[str, str]
    read_file: Callable[[str], bytes | None]
    problem: str | None = None
    manifest: Mapping[str, Any] = MappingProxyType({})


class ExtensionListing:
    """Lists extensions. Has the facts of the last packages."""

    def __init__(self, store: Store, packages: PackageRepository) -> None:
        self._store = store
        self._packages = packages
        self._facts: OrderedDict[tuple[str, str], _Facts] = OrderedDict()

    async def list(self, ids: Sequence[str] | None = None) -> list[ListedExtension]:
        """All extensions, or those of these that exist, in the order of their names."""
        states = await self._store.read(_read if ids is None else lambda transaction: _read_some(transaction, ids))
        facts = await asyncio.gather(*(self._facts_of(each.known) for each in states))
        listed = [_listed(state, each) for state, each in zip(states, facts, strict=True)]
        stopped = [(known.area, each.manifest) for (known, run, *_), each in zip(states, facts, strict=True) if not run]
        if any("commands" in manifest for _, manifest in stopped):
            found = await self._store.read(lambda transaction: _commands(transaction, stopped))
            listed = [msgspec.structs.replace(each, commands=found.get(each.id, each.commands)) for each in listed]
        return sorted(listed, key=lambda each: (each.name.casefold(), each.id))

    async def _facts_of(self, known: InstalledExtension) -> _Facts:
        key = known.area, known.digest or f"{known.path} {known.version}"
        if key not in self._facts:
            self._facts[key] = await self._read_facts(known)
            while len(self._facts) > _CACHED:
                self._facts.popitem(last=False)
        self._facts.move_to_end(key)
        return self._facts[key]

    async def _read_facts(self, known: InstalledExtension) -> _Facts:
        try:
            source = await self._packages.load_installed(known) if known.permanent else known.path
            package, manifest = await self._packages.load(source)
        except (HatboxError, OSError) as error:
            logger.info("the files of %s cannot be read: %s", known.id, error)
            problem = str(error) if known.permanent else None
            return _Facts(known.about.required, NONE, NONE, {}, lambda _: None, problem)
        base = manifest.base_url

        def read_file(url: str) -> bytes | None:
            return package.read(file_name(url.removeprefix(base))) if url.startswith(base) else None

        keys = manifest.for_scripts()
        shown = MappingProxyType({name: keys[name] for name in _SHOWN_KEYS if keys.get(name) is not None})
        granted_first = manifest.required, manifest.optional, manifest.at_install
        return _Facts(*granted_first, manifest_icons(keys), read_file, manifest=shown)


def manifest_icons(manifest: Mapping[str, Any]) -> Mapping[str, str]:
    """The icons of an extension by size."""
    icons = manifest.get("icons") or {}
    return {"0": icons} if isinstance(icons, str) else icons


def _read(transaction: Transaction) -> list[_State]:
    runs = {each.id: each for each in run_records.get_all(transaction)}
    uis = {(each.id, each.pid): each for each in list_ui(transaction)}
    found = []
    for known in installed.get_all(transaction):
        run = runs.get(known.area)
        if known.permanent or run is not None:
            ui = uis.get((run.extension_id, run.process)) if run is not None else None
            found.append(_state(transaction, known, run, ui))
    return found


def _read_some(transaction: Transaction, areas: Sequence[str]) -> list[_State]:
    found = []
    for area in dict.fromkeys(areas):
        known, run = installed.get(transaction, area), run_records.get(transaction, area)
        if known is not None and (known.permanent or run is not None):
            ui = next(iter(list_ui(transaction, area)), None) if run is not None else None
            found.append(_state(transaction, known, run, ui))
    return found


def _state(
    transaction: Transaction, known: InstalledExtension, run: RunRecord | None, ui: ExtensionUi | None
) -> _State:
    can_show = run is not None and shows_pages(transaction, run)
    problem = run_records.problem_of(transaction, known.area)
    return _State(known, run, granted.load_granted(transaction, known.area), ui, can_show, problem)


def _listed(state: _State, facts: _Facts) -> ListedExtension:
    known, run, ui = state.known, state.run, state.ui
    has_grants = facts.at_install if state.granted is None else state.granted
    return ListedExtension(
        id=known.area,
        extension_id=known.id,
        name=known.name,
        version=known.version,
        description=known.about.description,
        is_installed=known.permanent,
        enabled=known.enabled,
        is_running=run is not None,
        machine=run.process_id.machine if run is not None else None,
        pid=run.process if run is not None else None,
        problem=facts.problem or (_problem_sentence(state.problem) if state.problem is not None else None),
        icon=icon_data_url(facts.icons, facts.read_file) or None,
        permissions=listed_permissions(ExtensionPermissions(facts.required, facts.optional, has_grants)),
        action=_button(ui, facts) if ui is not None else _stopped_button(known.name, facts),
        has_options=bool(ui.options if ui is not None else known.about.options_url),
        has_sidebar=bool(ui is not None and ui.sidebar),
        shows_pages=state.shows_pages,
        menus=_menu(ui.menus[:_MAX_MENU_ITEMS]) if ui is not None else [],
        commands=ui.commands if ui is not None else [],
    )


def _button(ui: ExtensionUi, facts: _Facts) -> ListedButton | None:
    """The action, or the page action of an extension that has only that."""
    values = ui.action or ui.page_action
    if values is None:
        return None
    icon = icon_data_url(values.get("icon") or {}, facts.read_file) or icon_data_url(facts.icons, facts.read_file)
    color = values.get("badgeBackgroundColor")
    return ListedButton(
        title=values.get("title") or ui.name,
        badge=values.get("badgeText") or "",
        badge_color=css_color(color) if color else "",
        icon=icon or None,
        enabled=bool(values.get("enabled")),
        has_popup=bool(values.get("popup")),
    )


def _stopped_button(name: str, facts: _Facts) -> ListedButton | None:
    """The button of an extension that is not running, as in its manifest."""
    manifest = facts.manifest
    if action_keys(manifest) is not None:
        values = action_defaults(manifest)
    elif manifest.get("page_action") is not None:
        values = page_action_defaults(manifest)
    else:
        return None
    icon = icon_data_url(facts.icons, facts.read_file) or None
    return ListedButton(values["title"] or name, "", "", icon, enabled=False, has_popup=bool(values["popup"]))


def _commands(
    transaction: Transaction, extensions: Sequence[tuple[str, Mapping[str, Any]]]
) -> dict[str, list[CommandView]]:
    return {area: commands.get_all(transaction, area, manifest) for area, manifest in extensions}


def _menu(items: list[MenuItem]) -> list[ListedMenuItem]:
    parents = {item.parent for item in items}
    return [
        ListedMenuItem(
            id=str(item.id),
            parent_id=None if item.parent is None else str(item.parent),
            title=(item.title or str(item.id)).replace("&&", "\0").replace("&", "").replace("\0", "&"),
            type=item.type,
            checked=item.checked,
            can_click=item.enabled and item.type != "separator" and item.id not in parents,
        )
        for item in items
        if item.visible
    ]


def _problem_sentence(problem: RunProblem) -> str:
    """A sentence for the card of the extension."""
    if problem.what == "failed":
        return f"Its background script failed: {_ended(problem.reason)} See its log."
    if problem.what == "restarting":
        return f"Its background ended unexpectedly and is being restarted: {_ended(problem.reason)}"
    if problem.reason:
        return f"It ended unexpectedly: {_ended(problem.reason)} Start it again."
    return "It ended unexpectedly: its program was killed, or the machine was turned off. Start it again."


def _ended(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text}."
