"""The commands on extensions: list, install, remove, permissions, trigger. `hatbox run` runs them.

An extension is named by its id, or by its name if no other has it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import typer

from hatbox.cli.commands.identities import run_with_profile
from hatbox.cli.commands.tabs import existing_tabs
from hatbox.cli.extension_names import Known, check_packages, find_extension
from hatbox.cli.options import JsonOption, ProfileOption
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.confirm import confirm
from hatbox.cli.terminal.output import print_json, print_line, print_rows
from hatbox.cli.terminal.terminal_text import visible
from hatbox.extension_data.extension_permissions import (
    NONE,
    ExtensionPermissions,
    Permissions,
    host_pattern,
    is_host_pattern,
    subsumes,
)
from hatbox.extension_data.installed_extensions import InstalledExtension
from hatbox.extension_data.menu_items import MenuItem
from hatbox.extension_data.run_records import RunRecord
from hatbox.extensions.installing import Installation
from hatbox.extensions.runtime.sandbox import available_layers
from hatbox.extensions.ui_triggers import ExtensionUi, TriggerResult
from hatbox.profile import Profile

__all__ = ["install", "list_", "permissions", "remove", "trigger"]

One = Annotated[str, typer.Argument(metavar="NAME-OR-ID", help="The extension: its id, or its name.")]

_LIST_HEADER: Final = ("Name", "Version", "Id", "")
_UI_HEADER: Final = ("Extension", "What", "Title", "")


def list_(
    ui: Annotated[
        bool, typer.Option("--ui", help="Also show the menus, buttons, commands and notifications of those that run.")
    ] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List installed and running extensions, and the layers of their sandbox."""

    async def listed(opened: Profile) -> tuple[list[Known], list[ExtensionUi]]:
        return await opened.extensions.known(), await opened.extensions.ui() if ui else []

    found, shown = run_with_profile(profile, listed)
    if as_json:
        by_id = {(each.id, each.pid): each for each in shown}
        sandbox = {"sandbox": available_layers()._asdict()}
        documents = [
            _document(each, running, by_id.get((each.id, running.process)) if running else None, ui=ui) | sandbox
            for each, running in found
        ]
        print_json(documents, sys.stdout)
        return
    installed = {each.id for each, _ in found if each.permanent}
    rows = [
        (each.name, each.version, each.area if each.id in installed else each.id, _state(each, running))
        for each, running in found
    ]
    print_rows(_LIST_HEADER, rows, sys.stdout, whole="Id")
    if any(lines := [(each.name, *line) for each in shown for line in _lines(each)]):
        print_line("", sys.stdout)
        print_rows(_UI_HEADER, lines, sys.stdout, whole="What")
    _print_sandbox(any_listed=bool(rows))


def install(
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Folders, .xpi or .zip files, each with an extension.")
    ],
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Replace an installed extension that has the same id but another path or name. Its granted "
            "permissions and its data are deleted.",
        ),
    ] = False,
    keep_data: Annotated[
        bool, typer.Option("--keep-data", help="With --replace: the new extension gets the data of the old one.")
    ] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Install or update extensions. Their files are stored in the profile: later changes to them have no effect.

    `hatbox run` runs an installed extension by its id or name. Installing again from the same path is an update, which
    preserves data and granted permissions.
    """
    if keep_data and not replace:
        raise typer.BadParameter("it requires --replace; an update always preserves the data", param_hint="--keep-data")
    if len(paths) > 1:
        check_packages(map(Path, paths))

    async def installed(opened: Profile) -> list[tuple[Installation, RunRecord | None]]:
        done = await opened.extensions.install_all(paths, replace=replace, keep_data=keep_data)
        at_work = {each.area: running for each, running in await opened.extensions.known()}
        return [(each, at_work.get(each.extension.area)) for each in done]

    done = run_with_profile(profile, installed)
    if as_json:
        print_json([{**_document(each.extension, running), **_change(each)} for each, running in done], sys.stdout)
    else:
        for each, _ in done:
            for line in _report(each):
                print_line(line, sys.stdout)


def remove(
    extensions: Annotated[
        list[str], typer.Argument(metavar="NAME-OR-ID...", help="The extensions: their ids, or their names.")
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove extensions and all data that they have stored. The original files are not deleted."""

    async def meant(opened: Profile) -> list[Known]:
        known = await opened.extensions.known()
        return [find_extension(known, each) for each in dict.fromkeys(extensions)]

    found = run_with_profile(profile, meant)
    if not yes:
        names = ", ".join(f"{visible(each.name)} ({each.id})" for each, _ in found)
        confirm(f"Remove {names} and all that {'they have' if len(found) > 1 else 'it has'} kept? ")

    async def removed(opened: Profile) -> None:
        for extension, _ in found:
            await opened.extensions.remove(extension.area)

    run_with_profile(profile, removed)
    if as_json:
        print_json([_document(each, None) for each, _ in found], sys.stdout)
    else:
        for extension, _ in found:
            print_line(f"Removed {extension.name} ({extension.id})", sys.stdout)


def permissions(
    extension: One,
    grant: Annotated[
        list[str] | None,
        typer.Option(metavar="PERMISSION", help="Give it this: a name, or a pattern such as https://*.site.example/*."),
    ] = None,
    revoke: Annotated[list[str] | None, typer.Option(metavar="PERMISSION", help="Take this back.")] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what an extension may do; give it more of what it may ask for, or take it back. It may go on running."""

    async def changed(opened: Profile) -> tuple[InstalledExtension, ExtensionPermissions]:
        found, _ = find_extension(await opened.extensions.known(), extension)
        grants = await opened.extensions.permissions(found.area)
        given, taken = _permissions(grant or ()), _permissions(revoke or ())
        _expect_optional(found, grants, given)
        _expect_given(found, grants, taken)
        if given:
            await opened.extensions.grant(found.area, given)
        if taken:
            await opened.extensions.revoke(found.area, taken)
        return found, await opened.extensions.permissions(found.area)

    found, grants = run_with_profile(profile, changed)
    if as_json:
        print_json({"id": found.id, "name": found.name, **_holdings(grants)}, sys.stdout)
        return
    for word, names in _holdings(grants).items():
        for name in names:
            print_line(f"{word:9} {name}", sys.stdout)


def trigger(
    extension: One,
    what: Annotated[
        str,
        typer.Argument(metavar="WHAT", help="menu:ID, action, page-action, command:NAME or notification:ID."),
    ],
    tab: Annotated[int | None, typer.Option(metavar="ID", help="In this tab. Without: in the active one.")] = None,
    link: Annotated[str | None, typer.Option(metavar="URL", help="Open the menu on a link to this.")] = None,
    link_text: Annotated[str | None, typer.Option(metavar="TEXT", help="The text of that link.")] = None,
    image: Annotated[str | None, typer.Option(metavar="URL", help="Open the menu on this image.")] = None,
    selection: Annotated[str | None, typer.Option(metavar="TEXT", help="Open the menu on this selected text.")] = None,
    close: Annotated[bool, typer.Option("--close", help="Close the notification, and do not click on it.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Do what a user would do to something that a running extension shows. `extensions list --ui` lists it."""
    if not what.startswith("menu:") and any(each is not None for each in (link, link_text, image, selection)):
        raise typer.BadParameter("only a menu is opened on something", param_hint="--link, --image or --selection")
    if close and not what.startswith("notification:"):
        raise typer.BadParameter("only a notification can be closed", param_hint="--close")

    async def triggered(opened: Profile) -> tuple[InstalledExtension, TriggerResult]:
        found, _ = find_extension(await opened.extensions.known(), extension)
        if tab is not None:
            await existing_tabs(opened, [tab])
        done = await opened.extensions.trigger(
            found.area,
            what,
            tab_id=tab,
            link_url=link,
            link_text=link_text,
            image_url=image,
            selection_text=selection,
            close=close,
        )
        return found, done

    found, done = run_with_profile(profile, triggered)
    if as_json:
        print_json(msgspec.to_builtins(done), sys.stdout)
    elif done.popup:
        print_line(f"{what} of {found.name} opens {done.popup}: pages of extensions are not shown.", sys.stdout)
    else:
        where = f" in tab {done.tab_id}" if done.tab_id is not None else ""
        print_line(f"Triggered {what} of {found.name}{where}", sys.stdout)


# ── The report of an installation ──


def _report(done: Installation) -> Iterator[str]:
    extension, before = done.extension, done.before
    named = f"{extension.name} {extension.version} ({extension.id})"
    if before is None:
        yield f"Installed {named}"
        return
    if not done.replaced:
        yield f"Installed {named}" if extension == before else f"Updated {named}, which was {before.version}"
    else:
        yield f"Replaced {before.name} {before.version}, from {before.path}"
        yield f"by {named}, from {extension.path}"
    for words, permissions in (
        ("requires now", done.added),
        ("no longer requires", done.removed),
        ("no longer granted", done.dropped),
    ):
        if names := _listed(permissions):
            yield f"  {words}: {names}"
    if done.replaced:
        yield f"  data: {'preserved' if done.has_data else 'deleted'}"


def _change(done: Installation) -> dict[str, Any]:
    before = done.before
    return {
        "replaced": None if before is None else {"name": before.name, "version": before.version, "path": before.path},
        "dataKept": done.has_data,
        "added": _names(done.added),
        "removed": _names(done.removed),
        "dropped": _names(done.dropped),
    }


# ── Permissions ──


def _permissions(names: Iterable[str]) -> Permissions:
    every = list(names)
    return Permissions(
        tuple(name for name in every if not is_host_pattern(name)),
        tuple(host_pattern(name) for name in every if is_host_pattern(name)),
    )


def _expect_optional(extension: InstalledExtension, grants: ExtensionPermissions, given: Permissions) -> None:
    """Nothing is given that the extension could not ask for."""
    optional = grants.optional
    wrong = [
        *(name for name in given.permissions if name not in optional.permissions),
        *(origin for origin in given.origins if not subsumes(optional.origins, origin)),
    ]
    if wrong:
        may = _listed(optional) or "nothing"
        raise CommandError(
            "UndeclaredPermission",
            f"{extension.name} does not ask for {', '.join(wrong)}. It may be given: {may}.",
            details={"permissions": wrong},
        )


def _expect_given(extension: InstalledExtension, grants: ExtensionPermissions, taken: Permissions) -> None:
    """Nothing is taken back that was not given."""
    wrong = [*_names(taken - grants.granted)]
    if wrong:
        required = [name for name in wrong if name in _names(grants.required)]
        why = f"{extension.name} cannot do without {', '.join(required)}. " if required else ""
        was = _listed(grants.granted) or "nothing"
        raise CommandError(
            "NotGranted",
            f"{why}{extension.name} was given: {was}.",
            details={"permissions": wrong},
        )


def _holdings(grants: ExtensionPermissions) -> dict[str, list[str]]:
    return {
        "required": _names(grants.required),
        "granted": _names(grants.granted),
        "optional": _names(grants.missing(grants.optional)),
    }


def _names(given: Permissions) -> list[str]:
    visible_ones = (given | NONE).visible()
    return [*visible_ones.permissions, *visible_ones.origins, *visible_ones.data_collection]


def _listed(given: Permissions) -> str:
    return ", ".join(_names(given))


# ── Showing ──


def _document(
    extension: InstalledExtension, running: RunRecord | None, shown: ExtensionUi | None = None, *, ui: bool = False
) -> dict[str, Any]:
    document = {
        "id": extension.id,
        "name": extension.name,
        "version": extension.version,
        "path": extension.path,
        "installed": extension.permanent,
        "enabled": extension.enabled,
        "reinstallNeeded": extension.needs_reinstall,
        "digest": extension.digest or None,
        "process": running.process if running else None,
    }
    return {**document, "ui": msgspec.to_builtins(shown) if shown else None} if ui else document


def _print_sandbox(*, any_listed: bool) -> None:
    """Below the table in a terminal; else on stderr, which is not parsed, and only if a layer is missing."""
    layers = available_layers()
    if sys.stdout.isatty():
        print_line("", sys.stdout)
        print_line(f"Sandbox: {layers}", sys.stdout)
    elif any_listed and not layers.complete:
        print_line(f"Sandbox: {layers}", sys.stderr)


def _state(extension: InstalledExtension, running: RunRecord | None) -> str:
    if running is not None:
        return f"running (process {running.process})"
    if extension.needs_reinstall:
        return "reinstall needed"
    return "" if extension.enabled else "disabled"


def _lines(shown: ExtensionUi) -> Iterator[tuple[str, str, str]]:
    """What can be triggered, its title, and what else there is to say of it."""
    for item in shown.menus:
        yield f"menu:{item.id}", item.title or "", _item_state(item)
    for what, values in (("action", shown.action), ("page-action", shown.page_action)):
        if values is not None:
            yield what, values["title"], _button_state(values)
    for command in shown.commands:
        yield f"command:{command.name}", command.description or "", command.shortcut
    for name, options in shown.notifications.items():
        yield f"notification:{name}", options["title"], options["message"]


def _item_state(item: MenuItem) -> str:
    words = {
        "separator": item.type == "separator",
        "checked": item.checked,
        "unchecked": item.type in ("checkbox", "radio") and not item.checked,
        "disabled": not item.enabled,
        "hidden": not item.visible,
        f"on {', '.join(item.contexts)}": item.contexts != ("all",),
    }
    return " ".join(word for word, applies in words.items() if applies)


def _button_state(values: dict[str, Any]) -> str:
    badge = values.get("badgeText")
    words = (
        f'badge "{badge}"' if badge else "",
        "" if values["enabled"] else "disabled",
        f"opens {values['popup']}" if values["popup"] else "",
    )
    return " ".join(filter(None, words))
