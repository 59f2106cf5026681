"""The command run: a script with `browser` in scope. How a script is executed is told in hatbox.cli.script."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

import typer

from hatbox import schema
from hatbox.api.match_patterns import ALL_URLS, parse_match_pattern
from hatbox.cli.options import JsonOption, ProfileOption, path_of

__all__ = ["run"]


def run(
    script: Annotated[str, typer.Argument(metavar="SCRIPT.py", help="A Python script. It may await at the top level.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[ARGUMENT]...", help="For the script; its own options go after a --.")
    ] = None,
    permission: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A permission that the script holds, and no others: a name, or a pattern of hosts such as "
            "https://*.site.example/*. May be repeated.",
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run a script that finds `browser` and `profile` in its scope. It holds every permission unless you say which."""
    permissions = _permissions(permission or [])
    path = path_of(profile)
    from hatbox.cli.script import execute

    status = execute(Path(script), arguments or [], permissions, path, as_json=as_json)
    raise typer.Exit(status)


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
