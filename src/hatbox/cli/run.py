"""The command run: a script with `browser` in scope, or extensions. How each is executed is told in hatbox.cli.script
and hatbox.cli.extension_run."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

import typer

from hatbox import schema
from hatbox.api.match_patterns import ALL_URLS, parse_match_pattern
from hatbox.cli.engines import chosen
from hatbox.cli.extension_run import run_extensions
from hatbox.cli.options import JsonOption, ProfileOption, path_of
from hatbox.cli.plain_run import is_extension

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
            help="A permission that the script holds, and no others: a name, or a pattern of hosts such as "
            "https://*.site.example/*. May be repeated.",
        ),
    ] = None,
    inspect: Annotated[
        bool,
        typer.Option(
            "--inspect",
            help="Let Chrome DevTools attach to the extension, on loopback and with the secret address that is "
            "printed. Its process may then open sockets.",
        ),
    ] = False,
    require_sandbox: Annotated[
        bool,
        typer.Option(
            "--require-sandbox",
            help="Do not start an extension unless every layer of the sandbox is there; `hatbox extensions list` "
            "shows which are. The same for all programs: HATBOX_SANDBOX=required.",
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
    """Run a script that finds `browser` and `profile` in its scope. It holds every permission unless you say which.

    Or run extensions, each in a process of its own, until Ctrl-C: they hold what their manifests ask for.
    """
    path = path_of(profile)
    choice = chosen(engine, None, headless=False, no_marks=False)
    if is_extension(Path(script)) or _is_name(script):
        if permission:
            raise typer.BadParameter("an extension holds what its manifest asks for", param_hint="--permission")
        paths = _places([script, *(arguments or [])], profile)
        run_extensions(paths, path, choice, inspect=inspect, as_json=as_json, require_sandbox=require_sandbox)
        return
    if inspect:
        raise typer.BadParameter("it is for extensions", param_hint="--inspect")
    if require_sandbox:
        raise typer.BadParameter("it is for extensions: a script has none", param_hint="--require-sandbox")
    permissions = _permissions(permission or [])
    from hatbox.cli.script import execute

    status = execute(Path(script), arguments or [], permissions, path, as_json=as_json)
    raise typer.Exit(status)


def _is_name(text: str) -> bool:
    """Whether it may be the name or id of an extension that is installed: there is no such file, and it is no path."""
    return not Path(text).exists() and not text.endswith(".py") and text == Path(text).name


def _places(wanted: list[str], profile: str | None) -> list[Path]:
    """Where extensions are that are named by folder, archive, id or name. Where there are several, all can be run."""
    paths = [Path(each) for each in wanted]
    if len(paths) == 1 and paths[0].exists():
        return paths
    from hatbox.cli.extension_names import check_packages, places_of  # which the usual way need not wait for

    if not all(path.exists() for path in paths):
        paths = places_of(wanted, profile)
    if len(paths) > 1:
        check_packages(paths)
    return paths


def _permissions(asked: list[str]) -> list[str]:
    known = sorted(schema.permissions())
    for name in asked:
        if name not in known and parse_match_pattern(name) is None:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise typer.BadParameter(
                f"there is no permission {name}.{hint} There are: {', '.join(known)}", param_hint="--permission"
            )
    return asked or [*known, ALL_URLS]
