"""Executes a user's own script inside an open profile, with every permission: `browser` and `profile` are in scope.

A script with explicit permissions runs in a process of its own: see hatbox.cli.commands.run.permitted.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from hatbox import schema
from hatbox.cli.arguments.profile_creation import may_create
from hatbox.cli.commands.run.script_execution import compile_script, execute_code, read_script
from hatbox.profile import Profile
from hatbox.urls.match_patterns import ALL_URLS

__all__ = ["execute"]


def execute(script: Path, arguments: Sequence[str], profile: str | None, *, as_json: bool) -> int:
    """Run a script; returns the exit status that it sets, or 1 if it failed."""
    code = compile_script(read_script(script), script)
    opened = Profile(profile, create=may_create(profile))

    @asynccontextmanager
    async def open_scope() -> AsyncIterator[Mapping[str, object]]:
        async with opened:
            yield {"browser": opened.browser([*schema.permissions(), ALL_URLS]), "profile": opened}

    return execute_code(script, code, arguments, open_scope, as_json=as_json, save=opened.save)
