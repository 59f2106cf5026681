"""The commands on extensions: list, install, remove, permissions, open, trigger. `hatbox run` runs extensions."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from hatbox.cli.arguments.extension_arguments import KnownExtension, check_packages, find_extension
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.arguments.tab_arguments import existing_tabs
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
from hatbox.extension_data.page_opening import PAGE_KINDS
from hatbox.extension_data.run_records import RunRecord
from hatbox.extensions.installing import Candidate, Installation
from hatbox.extensions.page_triggers import NO_PAGE_ENGINE
from hatbox.extensions.runtime.sandbox import available_layers
from hatbox.extensions.ui_triggers import ExtensionUi, TriggerResult
from hatbox.profile import Profile

__all__ = ["install", "list_", "open_page", "permissions", "remove", "trigger"]

ExtensionArgument = Annotated[str, Argument(metavar="NAME-OR-ID", help="Extension: its id or its unique name.")]

_LIST_HEADER: Final = ("Name", "Version", "Id", "")
_UI_HEADER: Final = ("Extension", "Trigger", "Title", "")


def list_(
    ui: Annotated[
        bool,
        Option("--ui", help="List the menu items, actions, pages, commands and notifications of running extensions."),
    ] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List installed and running extensions, and the layers of their sandbox."""

    async def query(opened: Profile) -> tuple[list[KnownExtension], list[ExtensionUi]]:
        return await opened.extensions.known(), await opened.extensions.ui() if ui else []

    found, shown = run_with_profile(profile, query)
    if as_json:
        by_pid = {(each.id, each.pid): each for each in shown}
        sandbox = {"sandbox": available_layers()._asdict()}
        documents = [
            _document(each, running, by_pid.get((each.id, running.process)) if running else None, ui=ui) | sandbox
            for each, running in found
        ]
        print_json(documents, sys.stdout)
        return
    installed = {each.id for each, _ in found if each.permanent}
    rows = [
        (each.name, each.version, each.area if each.id in installed else each.id, _state(each, running))
        for each, running in found
    ]
    print_rows(_LIST_HEADER, rows, sys.stdout, unwrapped="Id", empty="No extensions.")
    if any(lines := [(each.name, *line) for each in shown for line in _lines(each)]):
        print_line("", sys.stdout)
        print_rows(_UI_HEADER, lines, sys.stdout, unwrapped="Trigger")
    _print_sandbox(any_listed=bool(rows))


def install(
    paths: Annotated[list[str], Argument(metavar="PATH...", help="Extension folders, .xpi or .zip files.")],
    replace: Annotated[
        bool,
        Option(
            "--replace",
            help="Replace an installed extension with the same id but another path or name. Deletes its granted "
            "permissions and its data.",
        ),
    ] = False,
    keep_data: Annotated[
        bool, Option("--keep-data", help="With --replace: preserve the data of the replaced extension.")
    ] = False,
    yes: Annotated[
        bool, Option("--yes", "-y", help="Do not ask before an update that requires more permissions.")
    ] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Install or update extensions. Their files are copied into the profile: later changes to them have no effect.

    `hatbox run` runs an installed extension by its id or name. Installing again from the same path is an update, which
    preserves data and granted permissions.
    """
    if keep_data and not replace:
        raise bad_parameter("requires --replace; an update always preserves the data", param_hint="--keep-data")
    if len(paths) > 1:
        check_packages(map(Path, paths))

    async def read_all(opened: Profile) -> tuple[list[Candidate], list[tuple[InstalledExtension, Permissions]]]:
        candidates = [await opened.extensions.packages.candidate(path) for path in paths]
        return candidates, await opened.extensions.added_permissions(candidates, replace=replace)

    candidates, updates = run_with_profile(profile, read_all)
    if updates and not yes:
        required = [f"{visible(each.name)} ({each.id}) now requires: {_listed(added)}.\n" for each, added in updates]
        confirm(f"{''.join(required)}Update {'them' if len(updates) > 1 else 'it'}? ", "not updated")

    async def install_all(opened: Profile) -> list[tuple[Installation, RunRecord | None]]:
        done = await opened.extensions.install_candidates(candidates, replace=replace, keep_data=keep_data)
        runs = {each.area: running for each, running in await opened.extensions.known()}
        return [(each, runs.get(each.extension.area)) for each in done]

    done = run_with_profile(profile, install_all)
    if as_json:
        print_json([{**_document(each.extension, running), **_change(each)} for each, running in done], sys.stdout)
    else:
        for each, _ in done:
            for line in _report(each):
                print_line(line, sys.stdout)


def remove(
    extensions: Annotated[
        list[str], Argument(metavar="NAME-OR-ID...", help="Extensions: their ids or their unique names.")
    ],
    yes: Annotated[bool, Option("--yes", "-y", help="Skip the confirmation.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove extensions and all data that they have stored. The original files are not deleted."""

    async def find_all(opened: Profile) -> list[KnownExtension]:
        known = await opened.extensions.known()
        return [find_extension(known, each) for each in dict.fromkeys(extensions)]

    found = run_with_profile(profile, find_all)
    if not yes:
        names = ", ".join(f"{visible(each.name)} ({each.id})" for each, _ in found)
        confirm(f"Remove {names} and all data that {'they have' if len(found) > 1 else 'it has'} stored? ")

    async def remove_all(opened: Profile) -> None:
        for extension, _ in found:
            await opened.extensions.remove(extension.area)

    run_with_profile(profile, remove_all)
    if as_json:
        print_json([_document(each, None) for each, _ in found], sys.stdout)
    else:
        for extension, _ in found:
            print_line(f"Removed {extension.name} ({extension.id})", sys.stdout)


def permissions(
    extension: ExtensionArgument,
    grant: Annotated[
        list[str] | None,
        Option(
            metavar="PERMISSION",
            help="Optional permission to grant: a name, or a pattern such as https://*.site.example/*. Repeatable.",
        ),
    ] = None,
    revoke: Annotated[
        list[str] | None, Option(metavar="PERMISSION", help="Granted permission to revoke. Repeatable.")
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the permissions of an extension, and grant or revoke optional ones. Also works while it runs."""

    async def change(opened: Profile) -> tuple[InstalledExtension, ExtensionPermissions]:
        found, _ = find_extension(await opened.extensions.known(), extension)
        current = await opened.extensions.permissions(found.area)
        to_grant, to_revoke = _permissions(grant or ()), _permissions(revoke or ())
        _check_optional(found, current, to_grant)
        _check_granted(found, current, to_revoke)
        if to_grant:
            await opened.extensions.grant(found.area, to_grant)
        if to_revoke:
            await opened.extensions.revoke(found.area, to_revoke)
        return found, await opened.extensions.permissions(found.area)

    found, current = run_with_profile(profile, change)
    if as_json:
        print_json({"id": found.id, "name": found.name, **_permission_lists(current)}, sys.stdout)
        return
    for kind, names in _permission_lists(current).items():
        for name in names:
            print_line(f"{kind:9} {name}", sys.stdout)


def trigger(
    extension: ExtensionArgument,
    what: Annotated[
        str,
        Argument(
            metavar="TRIGGER",
            help="menu:ID, action, page-action, options, sidebar, command:NAME, notification:ID, omnibox:TEXT or "
            "omnibox-enter:TEXT.",
        ),
    ],
    tab: Annotated[int | None, Option(metavar="ID", help="Tab of the user action. Default: the active tab.")] = None,
    link: Annotated[str | None, Option(metavar="URL", help="Target of the link that the menu is opened on.")] = None,
    link_text: Annotated[str | None, Option(metavar="TEXT", help="Text of that link.")] = None,
    image: Annotated[str | None, Option(metavar="URL", help="Image that the menu is opened on.")] = None,
    selection: Annotated[str | None, Option(metavar="TEXT", help="Selected text that the menu is opened on.")] = None,
    bookmark: Annotated[str | None, Option(metavar="ID", help="Bookmark or folder that the menu is opened on.")] = None,
    close: Annotated[bool, Option("--close", help="Close the notification instead of clicking it.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Trigger a user action in a running extension. `hatbox extensions list --ui` lists the triggers."""
    if not what.startswith("menu:") and any(each is not None for each in (link, link_text, image, selection, bookmark)):
        raise bad_parameter("only menu:ID takes these options", param_hint="--link, --image, --selection or --bookmark")
    if close and not what.startswith("notification:"):
        raise bad_parameter("only notification:ID can be closed", param_hint="--close")

    async def trigger_one(opened: Profile) -> tuple[InstalledExtension, TriggerResult]:
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
            bookmark_id=bookmark,
            close=close,
        )
        return found, done

    found, done = run_with_profile(profile, trigger_one)
    if as_json:
        print_json(msgspec.to_builtins(done), sys.stdout)
    elif done.popup:
        print_line(_opened(found, done), sys.stdout)
    else:
        where = f" in tab {done.tab_id}" if done.tab_id is not None else ""
        print_line(f"Triggered {what} of {found.name}{where}", sys.stdout)


def open_page(
    extension: ExtensionArgument,
    page: Annotated[str, Argument(metavar="popup|options|sidebar", help="Page to open.")],
    tab: Annotated[
        int | None, Option(metavar="ID", help="Tab that the page is opened for. Default: the active tab.")
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Open a page of a running extension in a window of its own.

    The extension must run in a process with the Chromium engine: `hatbox run EXTENSION --engine chromium`.
    """
    if page not in PAGE_KINDS:
        raise bad_parameter(f"{page} is not one of {', '.join(PAGE_KINDS)}", param_hint="popup|options|sidebar")

    async def open_one(opened: Profile) -> tuple[InstalledExtension, TriggerResult]:
        found, _ = find_extension(await opened.extensions.known(), extension)
        if tab is not None:
            await existing_tabs(opened, [tab])
        return found, await opened.extensions.open_page(found.area, page, tab_id=tab)

    found, done = run_with_profile(profile, open_one)
    if as_json:
        print_json(msgspec.to_builtins(done), sys.stdout)
    else:
        print_line(_opened(found, done), sys.stdout)


def _opened(extension: InstalledExtension, done: TriggerResult) -> str:
    opened = f"{done.what} of {extension.name} opens {done.popup}"
    return opened if done.shown else f"{opened}, which is not shown. {NO_PAGE_ENGINE}"


# ── The report of an installation ──


def _report(done: Installation) -> Iterator[str]:
    extension, before = done.extension, done.before
    named = f"{extension.name} {extension.version} ({extension.id})"
    if before is None:
        yield f"Installed {named}"
        if names := _listed(extension.about.required):
            yield f"  permissions: {names}"
        return
    if not done.replaced:
        yield f"Installed {named}" if extension == before else f"Updated {named}, which was {before.version}"
    else:
        yield f"Replaced {before.name} {before.version}, from {before.path}"
        yield f"by {named}, from {extension.path}"
    for label, permissions in (
        ("now requires", done.added),
        ("no longer requires", done.removed),
        ("no longer granted", done.dropped),
    ):
        if names := _listed(permissions):
            yield f"  {label}: {names}"
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


def _permissions(names: Sequence[str]) -> Permissions:
    return Permissions(
        tuple(name for name in names if not is_host_pattern(name)),
        tuple(host_pattern(name) for name in names if is_host_pattern(name)),
    )


def _check_optional(extension: InstalledExtension, current: ExtensionPermissions, to_grant: Permissions) -> None:
    """Raise CommandError for a permission that the manifest does not list as optional."""
    optional = current.optional
    undeclared = [
        *(name for name in to_grant.permissions if name not in optional.permissions),
        *(origin for origin in to_grant.origins if not subsumes(optional.origins, origin)),
    ]
    if undeclared:
        raise CommandError(
            "UndeclaredPermission",
            f"not an optional permission of {extension.name}: {', '.join(undeclared)}. "
            f"Optional permissions: {_listed(optional) or 'none'}.",
            details={"permissions": undeclared},
        )


def _check_granted(extension: InstalledExtension, current: ExtensionPermissions, to_revoke: Permissions) -> None:
    """Raise CommandError for a permission that is not granted."""
    not_granted = _names(to_revoke - current.granted)
    if not_granted:
        required = [name for name in not_granted if name in _names(current.required)]
        kind = "a required permission" if required else "not a granted permission"
        raise CommandError(
            "NotGranted",
            f"{kind} of {extension.name}: {', '.join(required or not_granted)}. "
            f"Granted permissions: {_listed(current.granted) or 'none'}.",
            details={"permissions": not_granted},
        )


def _permission_lists(current: ExtensionPermissions) -> dict[str, list[str]]:
    return {
        "required": _names(current.required),
        "granted": _names(current.granted),
        "optional": _names(current.missing(current.optional)),
    }


def _names(permissions: Permissions) -> list[str]:
    shown = (permissions | NONE).visible()
    return [*shown.permissions, *shown.origins, *shown.data_collection]


def _listed(permissions: Permissions) -> str:
    return ", ".join(_names(permissions))


# ── Output ──


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
        "pid": running.process if running else None,
    }
    return {**document, "ui": msgspec.to_builtins(shown) if shown else None} if ui else document


def _print_sandbox(*, any_listed: bool) -> None:
    """Print the layers of the sandbox: in a terminal below the table, otherwise to stderr if one is missing."""
    layers = available_layers()
    if sys.stdout.isatty():
        print_line("", sys.stdout)
        print_line(f"Sandbox: {layers}", sys.stdout)
    elif any_listed and not layers.complete:
        print_line(f"Sandbox: {layers}", sys.stderr)


def _state(extension: InstalledExtension, running: RunRecord | None) -> str:
    if running is not None:
        return f"running (pid {running.process})"
    if extension.needs_reinstall:
        return "reinstall needed"
    return "" if extension.enabled else "disabled"


def _lines(shown: ExtensionUi) -> Iterator[tuple[str, str, str]]:
    """The triggers of an extension, with their titles and states."""
    for item in shown.menus:
        yield f"menu:{item.id}", item.title or "", _item_state(item)
    for name, values in (("action", shown.action), ("page-action", shown.page_action)):
        if values is not None:
            yield name, values["title"], _action_state(values)
    for name, url in (("options", shown.options), ("sidebar", shown.sidebar)):
        if url is not None:
            yield name, "", f"opens {url}"
    for command in shown.commands:
        yield f"command:{command.name}", command.description or "", command.shortcut
    if shown.omnibox is not None:
        yield "omnibox:TEXT", shown.omnibox.default_suggestion, f"keyword {shown.omnibox.keyword}"
        for suggestion in shown.omnibox.suggestions:
            yield f"omnibox-enter:{suggestion.content}", suggestion.description, ""
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


def _action_state(values: dict[str, Any]) -> str:
    badge = values.get("badgeText")
    words = (
        f'badge "{badge}"' if badge else "",
        "" if values["enabled"] else "disabled",
        f"opens {values['popup']}" if values["popup"] else "",
    )
    return " ".join(filter(None, words))
