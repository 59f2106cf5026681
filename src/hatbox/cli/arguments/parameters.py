"""Arguments and options of commands, as data: what `Annotated` has beside the type of a parameter. Needs no Typer.

hatbox.cli.program passes them to Typer, and hatbox.cli.table.generate writes them to the table of commands.
"""

from __future__ import annotations

from typing import Final

__all__ = ["Argument", "Option", "bad_parameter"]


class Argument:
    """An argument: its name in usages, in brackets if it may be omitted, and its help."""

    __slots__ = ("help", "metavar")

    def __init__(self, *, metavar: str, help: str) -> None:  # noqa: A002 - as in Typer
        self.metavar: Final = metavar
        self.help: Final = help


class Option:
    """An option: its spellings (default: the name of the parameter), its help, and the range of a number."""

    __slots__ = ("help", "max", "metavar", "min", "names")

    def __init__(
        self,
        *names: str,
        help: str,  # noqa: A002 - as in Typer
        metavar: str | None = None,
        min: float | None = None,  # noqa: A002
        max: float | None = None,  # noqa: A002
    ) -> None:
        self.names: Final = names
        self.help: Final = help
        self.metavar: Final = metavar
        self.min: Final = min
        self.max: Final = max


def bad_parameter(message: str, *, param_hint: str | list[str] | None = None) -> Exception:
    """The usage error for a value that a command refuses; `param_hint` is the option or argument as in its help."""
    from typer import BadParameter  # takes longer to import than most commands run

    return BadParameter(message, param_hint=param_hint)
