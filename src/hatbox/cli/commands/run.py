"""The command run: a script with `browser` in scope, or extensions. How each is executed is told in hatbox.cli.script
and hatbox.cli.extension_run."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hatbox import schema
from hatbox.cli.engine_options import chosen
from hatbox.cli.extension_run import run_extensions
from hatbox.cli.fast_run import is_extension
from hatbox.cli.options import JsonOption, ProfileOption, path_of
from hatbox.urls.match_patterns import parse_match_pattern

if TYPE_CHECKING:
    from hatbox.extensions.package.package_files import Package

__all__ = ["run"]


def run(
    script: Annotated[
        str,
        typer.Argument(
            metavar="SCRIPT.py|EXTENSION",
            help="A Python script, which may await at the top level; or an extension: a folder, an .xpi or a .zip, or "
            "the name or id of one that is installed.",
        ),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ARGUMENT]...", help="For the script; its own options go after a --. Or more extensions."
        ),
    ] = None,
    permission: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A permission of the script's `browser`, which then has no others: a name, or a match pattern such as "
            "https://*.site.example/*. May be repeated.",
        ),
    ] = None,
    inspect: Annotated[
        bool,
        typer.Option(
            "--inspect",
            help="Debug the extension with Chrome DevTools, at a secret URL on loopback that is printed. Its process "
            "may then open sockets.",
        ),
    ] = False,
    require_sandbox: Annotated[
        bool,
        typer.Option(
            "--require-sandbox",
            help="Start an extension only if every layer of the sandbox is available; `hatbox extensions list` "
            "shows the layers. For all programs: HATBOX_SANDBOX=required.",
        ),
    ] = False,
    engine: Annotated[
        str,
        typer.Option(
            "--engine",
            metavar="http|chromium",
            help="What loads the tabs of extensions, unless an engine runs for the profile already.",
        ),
    ] = "http",
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a Python script with `browser` and `profile` in scope, and with every permission.

    With --permission `profile` is not in scope, and `browser` offers what an extension with these permissions gets.
    This shows what a script needs, and prevents mistakes. It is not a sandbox: a Python script runs as you, and can
    open the profile, or any file of yours, by itself. Run code that you do not trust as an extension.

    Or run extensions, each in a process of its own, until Ctrl-C: they hold what their manifests ask for.
    """
    path = path_of(profile)
    choice = chosen(engine, None, headless=False, no_marks=False)
    if is_extension(Path(script)) or _is_name(script):
        if permission:
            raise typer.BadParameter("an extension holds what its manifest asks for", param_hint="--permission")
        packages = _packages([script, *(arguments or [])], profile)
        run_extensions(packages, path, choice, inspect=inspect, as_json=as_json, require_sandbox=require_sandbox)
        return
    if inspect:
        raise typer.BadParameter("it is for extensions", param_hint="--inspect")
    if require_sandbox:
        raise typer.BadParameter(
            "it is for extensions: a Python script runs in no sandbox", param_hint="--require-sandbox"
        )
    permissions = _checked(permission) if permission else None
    from hatbox.cli.script import execute

    status = execute(Path(script), arguments or [], permissions, path, as_json=as_json)
    raise typer.Exit(status)


def _is_name(text: str) -> bool:
    """Whether it may be the name or id of an extension that is installed: there is no such file, and it is no path."""
    return not Path(text).exists() and not text.endswith(".py") and text == Path(text).name


def _packages(wanted: list[str], profile: str | None) -> Sequence[Path | Package]:
    """The packages of extensions, given by folder, archive, id or name. If there are several, all can be run."""
    paths = [Path(each) for each in wanted]
    if len(paths) == 1 and paths[0].exists():
        return paths
    from hatbox.cli.extension_names import check_packages, packages_of  # a lazy import: most runs do not need it

    all_exist = all(path.exists() for path in paths)
    packages: Sequence[Path | Package] = paths if all_exist else packages_of(wanted, profile)
    if len(packages) > 1:
        check_packages(packages)
    return packages


def _checked(permissions: list[str]) -> list[str]:
    known = sorted(schema.permissions())
    for name in permissions:
        if name not in known and parse_match_pattern(name) is None:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise typer.BadParameter(
                f"there is no permission {name}.{hint} There are: {', '.join(known)}", param_hint="--permission"
            )
    return permissions
