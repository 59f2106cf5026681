"""The server that a configuration starts: `hatbox mcp` for one identity. Knows how to recognize its own entries."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from hatbox.cli.arguments.parameters import bad_parameter
from hatbox.cli.desktop.own_program import own_program
from hatbox.identities.model import ContextualIdentity

__all__ = ["checked_name", "default_name", "served_identity", "served_profile", "server_command", "server_variables"]

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PATHS: Final = ("HATBOX_KEY_FILE", "HATBOX_CHROMIUM")


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
    return {name: str(Path(value).resolve()) for name in _PATHS if (value := os.environ.get(name))}


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
