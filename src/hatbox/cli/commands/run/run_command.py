"""The command run: runs a script with `browser` in scope, or extensions."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hatbox import schema
from hatbox.cli.arguments.engine_options import BrowserOption, HeadlessOption, select_engine
from hatbox.cli.arguments.grant_token import take_token
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, profile_address
from hatbox.cli.commands.run.extension_runner import run_extensions
from hatbox.cli.commands.run.fast_run import is_extension
from hatbox.cli.terminal.terminal_text import visible
from hatbox.engines.selection import EngineSelection
from hatbox.extensions.background_place import BACKGROUND_PLACES, BackgroundPlace
from hatbox.urls.match_patterns import parse_match_pattern

if TYPE_CHECKING:
    from hatbox.extensions.package.package_files import Package

__all__ = ["run"]


def run(
    script: Annotated[
        str,
        Argument(
            metavar="SCRIPT.py|EXTENSION",
            help="Python script, which may use `await` at the top level; or extension: a folder, an .xpi or .zip file, "
            "or the name or id of an installed extension.",
        ),
    ],
    arguments: Annotated[
        list[str] | None,
        Argument(
            metavar="[ARGUMENT]...",
            help="Arguments of the script; options of the script go after --. Or more extensions.",
        ),
    ] = None,
    permission: Annotated[
        list[str] | None,
        Option(
            metavar="NAME",
            help="Permission of the script's `browser`: a name, or a match pattern such as https://*.site.example/*. "
            "Repeatable. Default: every permission, and `profile`.",
        ),
    ] = None,
    grant: Annotated[
        str | None,
        Option(
            metavar="VARIABLE",
            help="Run the script with the `browser` of a grant, whose token this environment variable has. "
            "See `hatbox grant create`.",
        ),
    ] = None,
    inspect: Annotated[
        bool,
        Option(
            "--inspect",
            help="Debug the extension with Chrome DevTools, at a secret URL on loopback, which is printed. The "
            "extension process may then open sockets.",
        ),
    ] = False,
    require_sandbox: Annotated[
        bool,
        Option(
            "--require-sandbox",
            help="Start an extension only if every layer of its sandbox is available; `hatbox extensions list` shows "
            "the layers. For all programs: HATBOX_SANDBOX=required.",
        ),
    ] = False,
    engine: Annotated[
        str,
        Option(
            "--engine",
            metavar="http|chromium",
            help="Engine that loads the tabs of extensions, unless one is running for the profile.",
        ),
    ] = "http",
    browser: BrowserOption = None,
    headless: HeadlessOption = False,
    background: Annotated[
        str | None,
        Option(
            "--background",
            metavar="deno|chromium",
            help="Where backgrounds of extensions run: in a process without a DOM (deno), or in a hidden page of the "
            "Chromium engine. Default: with --engine chromium, a background page and a background that shares "
            "IndexedDB with its pages in Chromium; all others in deno.",
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a Python script, or extensions. A script has `browser` and `profile` in scope, and every permission.

    With --permission, its `browser` has the namespaces of an extension with these permissions, with --grant what the
    grant allows, and there is no `profile`. That prevents mistakes. It is no border: the script runs as you, and can
    open your files. Run untrusted code as an extension.

    Or run extensions until Ctrl-C, each in its own process, with the permissions of their manifests.
    """
    address = profile_address(profile)
    selection = select_engine(engine, browser, headless=headless, no_indicator=False)
    if is_extension(Path(script)) or _is_name(script):
        if permission:
            raise bad_parameter(
                "an extension has the permissions of its manifest. Omit this option", param_hint="--permission"
            )
        if grant is not None:
            raise bad_parameter("only for scripts", param_hint="--grant")
        place = _background_place(background, selection)
        packages = _packages([script, *(arguments or [])], profile)
        run_extensions(
            packages,
            address,
            selection,
            inspect=inspect,
            as_json=as_json,
            require_sandbox=require_sandbox,
            background=place,
        )
        return
    if background is not None:
        raise bad_parameter("only for extensions", param_hint="--background")
    if inspect:
        raise bad_parameter("only for extensions", param_hint="--inspect")
    if require_sandbox:
        raise bad_parameter("only for extensions: scripts have no sandbox", param_hint="--require-sandbox")
    if permission and grant is not None:
        raise bad_parameter("specify one of --permission and --grant", param_hint="--grant")
    permissions = _check_permissions(permission) if permission else None
    token = take_token(grant) if grant is not None else None
    from hatbox.cli.commands.run.script_runner import execute

    status = execute(Path(script), arguments or [], address, permissions=permissions, grant=token, as_json=as_json)
    sys.exit(status)


def _is_name(text: str) -> bool:
    """Whether the text may be the name or id of an installed extension: neither a path nor an existing file."""
    return not Path(text).exists() and not text.endswith(".py") and text == Path(text).name


def _packages(wanted: list[str], profile: str | None) -> Sequence[Path | Package]:
    """The packages of extensions, given by folder, archive, id or name. Checks all packages if there are several."""
    paths = [Path(each) for each in wanted]
    if len(paths) == 1 and paths[0].exists():
        return paths
    from hatbox.cli.arguments.extension_arguments import check_packages, packages_of  # lazy: most runs do not need it

    all_exist = all(path.exists() for path in paths)
    packages: Sequence[Path | Package] = paths if all_exist else packages_of(wanted, profile)
    if len(packages) > 1:
        check_packages(packages)
    return packages


def _background_place(background: str | None, selection: EngineSelection) -> BackgroundPlace | None:
    if background is None:
        return None
    for place in BACKGROUND_PLACES:
        if place == background:
            if place == "chromium" and selection.name != "chromium":
                raise bad_parameter("chromium needs --engine chromium too", param_hint="--background")
            return place
    raise bad_parameter(
        f"unknown place: {visible(background)}. Allowed values: {', '.join(BACKGROUND_PLACES)}",
        param_hint="--background",
    )


def _check_permissions(permissions: list[str]) -> list[str]:
    known = sorted(schema.permissions())
    for name in permissions:
        if name not in known and parse_match_pattern(name) is None:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise bad_parameter(
                f"unknown permission: {name}.{hint} Allowed values: {', '.join(known)}", param_hint="--permission"
            )
    return permissions
