"""The server that a configuration starts: `hatbox mcp` for one identity. Knows how to recognize its own entries."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from hatbox.cli.arguments.parameters import bad_parameter
from hatbox.cli.desktop.own_program import own_program
from hatbox.identity.model import ContextualIdentity

__all__ = [
    "checked_name",
    "default_name",
    "display_variables",
    "is_same_server",
    "served_identity",
    "served_profile",
    "server_command",
    "server_variables",
]

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PATHS: Final = ("HATBOX_KEY_FILE", "HATBOX_CHROMIUM")
_DISPLAY: Final = ("DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR")
_LOCAL_DISPLAY: Final = re.compile(r":[0-9]+(\.[0-9]+)?")


def default_name(identity: ContextualIdentity) -> str:
    """The name of the server of an identity, such as hatbox-work."""
    words = re.sub(r"[^a-z0-9]+", "-", identity.name.lower()).strip("-")[:40].strip("-")
    return f"hatbox-{words or identity.cookie_store_id.removeprefix('firefox-')}"


def checked_name(name: str) -> str:
    """The name, if all agents accept it."""
    if not _NAME.fullmatch(name):
        raise bad_parameter("use 1 to 64 letters, digits, - and _", param_hint="--name")
    return name


def server_command(identity: ContextualIdentity, profile: str, options: Sequence[str]) -> list[str]:
    """The command of the server. The id of the identity and the address of the profile stay the same after a rename."""
    command = [*own_program(), "mcp", "--profile", profile, "--identity", identity.cookie_store_id, *options]
    for word in command:
        if "$" in word or not word.isprintable():
            raise bad_parameter(f"{word!r} has a character that agents replace: $, or a control character")
    return command


def server_variables() -> dict[str, str]:
    """The environment variables that the server needs, and that an agent may not pass on. Only paths, never a key."""
    paths = {name: str(Path(value).resolve()) for name in _PATHS if (value := os.environ.get(name))}
    return {**paths, **display_variables()}


def display_variables() -> dict[str, str]:
    """The variables with which the server opens a window for a person: agents start it without them.

    A display of SSH (`localhost:10.0`) is left out: it exists only while the user is connected.
    """
    found = {name: os.environ.get(name, "") for name in _DISPLAY if sys.platform == "linux"}
    if not _LOCAL_DISPLAY.fullmatch(found.get("DISPLAY", "")):
        found.pop("DISPLAY", None)
    if not found.get("DISPLAY") and not found.get("WAYLAND_DISPLAY"):
        return {}
    return {name: value for name, value in found.items() if value and value.isprintable() and "$" not in value}


def is_same_server(server: Any, other: Mapping[str, object]) -> bool:
    """Whether an entry starts the same server as one of Hatbox, maybe with another display."""
    return served_identity(server) is not None and _without_display(server) == _without_display(other)


def _without_display(server: Mapping[str, Any]) -> dict[str, Any]:
    variables = server.get("env", {})
    if not isinstance(variables, Mapping):
        return dict(server)
    return {**server, "env": {name: value for name, value in variables.items() if name not in _DISPLAY}}


def served_identity(server: Any) -> str | None:
    """The identity of an entry that starts `hatbox mcp`; None for entries of other programs."""
    if not isinstance(server, Mapping):
        return None
    words = [server.get("command"), *(server["args"] if isinstance(server.get("args"), list) else ())]
    if not all(isinstance(each, str) for each in words) or "mcp" not in words:
        return None
    program = words[: words.index("mcp")]
    is_own = Path(program[0]).stem == "hatbox" if len(program) == 1 else program[-2:] == ["-m", "hatbox"]
    return _value(words, "--identity") if is_own else None


def served_profile(server: Mapping[str, Any]) -> str | None:
    """The profile of an entry that starts `hatbox mcp`; None for the default one."""
    return _value(server["args"], "--profile")


def _value(words: Sequence[str], option: str) -> str | None:
    return next((value for name, value in pairwise(words) if name == option), None)
