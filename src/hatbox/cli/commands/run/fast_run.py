"""Fast path for `hatbox run EXTENSION` with no option except `--profile`: does not import Typer.

Importing Typer takes longer than starting an extension. All other command lines go to hatbox.cli.program, which does
the same for these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

__all__ = ["fast_run", "is_extension"]

_ARCHIVES: Final = (".xpi", ".zip")


def fast_run(arguments: Sequence[str]) -> Callable[[], None] | None:
    """The function that runs such a command line; None for every other."""
    paths: list[Path] = []
    profile = None
    rest = iter(arguments[1:] if arguments and arguments[0] == "run" else ())
    for each in rest:
        if each == "--profile" and (path := next(rest, "")) and not path.startswith("-"):
            profile = path
        elif each.startswith("-") or not each:
            return None
        else:
            paths.append(Path(each))
    if len(paths) != 1 or not paths[0].exists() or not is_extension(paths[0]):
        return None
    from hatbox.cli.commands.run.extension_runner import run_extensions
    from hatbox.cli.terminal.proposed_commands import note_profile
    from hatbox.engines.selection import EngineSelection

    note_profile(profile)
    return partial(
        run_extensions,
        paths,
        profile,
        EngineSelection(requested="http"),
        inspect=False,
        as_json=False,
        require_sandbox=False,
        background=None,
    )


def is_extension(path: Path) -> bool:
    """Whether the path is that of an extension: a folder or an archive."""
    return path.is_dir() or path.suffix.lower() in _ARCHIVES
