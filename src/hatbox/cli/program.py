"""The Typer application, built from the table of commands.

Only the invoked command is complete. Others are placeholders with the help of the generated table: building all
commands takes longer than most commands run.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from hatbox import __version__
from hatbox.cli import ALIASES, COMMANDS, GROUP_HELP, GROUPS, PANELS
from hatbox.cli.arguments.profile_creation import allow_creation
from hatbox.cli.arguments.profile_options import CreateOption, JsonOption, ProfileOption
from hatbox.cli.table import command_table
from hatbox.cli.terminal.command_errors import USAGE

__all__ = ["function_of", "listing", "program", "signature_of"]

_MIN_PANEL_WIDTH: Final = 80  # columns
_PANEL_OF: Final = {name: panel for panel, names in PANELS.items() for name in names}
_CREATE: Final = "create"
_WITHOUT_CREATE: Final = ("profile", "profile_key", "palette")  # modules of commands that open no profile
