"""`hatbox run EXTENSION` with no option but `--profile`: it needs no parser of command lines.

The parser takes longer to import than an extension to start, and more memory than one needs, for as long as it runs.
All other command lines are for hatbox.cli.program, which would do the same with these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

__all__ = ["is_extension", "plain_run"]

_ARCHIVES: Final = (".xpi", ".zip")


def plain_run(arguments: Sequence[str]) -> Callable[[], None] | None:
    """Runs what such a command line asks for; None for every other one."""
    paths: list[Path] = []
    profile = None
    rest = iter(arguments[1:] if arguments and arguments[0] == "run" else ())
    for each in rest:
        if each == "--profile" and (given := next(rest, "")) and not given.startswith("-"):
            profile = given
        elif each.startswith("-") or not each:
            return None
        else:
            paths.append(Path(each))
    if len(paths) != 1 or not paths[0].exists() or not is_extension(paths[0]):
        return None
    from hatbox.cli.engine_choice import HTTP, EngineSelection
    from hatbox.cli.extension_run import run_extensions

    return partial(
        run_extensions,
        paths,
        profile,
        EngineSelection(requested=HTTP),
        inspect=False,
        as_json=False,
        require_sandbox=False,
    )


def is_extension(path: Path) -> bool:
    """Whether it is meant as an extension: a folder, or an archive."""
    return path.is_dir() or path.suffix.lower() in _ARCHIVES
