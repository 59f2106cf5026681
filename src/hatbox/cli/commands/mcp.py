"""The command mcp: serves one identity to an agent, with the Model Context Protocol."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import Annotated

from hatbox import __version__
from hatbox.cli.arguments.agent_options import (
    AgentDownloadsOption,
    AgentHeadedOption,
    AgentHostsOption,
    AgentIdentityOption,
    AgentReadOnlyOption,
    AgentUploadsOption,
    existing_folder,
)
from hatbox.cli.arguments.identity_arguments import find_identity
from hatbox.cli.arguments.parameters import Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, open_profile
from hatbox.cli.terminal.foreground import log_to_stderr, stop_on_signals
from hatbox.cli.terminal.output import print_line
from hatbox.errors import MissingExtra
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from hatbox.profile import Profile

__all__ = ["mcp"]


def mcp(
    identity: AgentIdentityOption,
    hosts: AgentHostsOption = None,
    read_only: AgentReadOnlyOption = False,
    headed: AgentHeadedOption = False,
    uploads: AgentUploadsOption = None,
    downloads: AgentDownloadsOption = None,
    grant: Annotated[
        str | None,
        Option(
            "--grant",
            metavar="VARIABLE",
            help="Environment variable with the token of a grant, whose limits count. Default: a new grant, revoked at "
            "the end.",
        ),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an agent use one identity: a server of the Model Context Protocol on standard input and output.

    Agents start it: `hatbox mcp install` writes their configuration. It needs the extra mcp. Each run has a grant, so
    `hatbox grant list` shows it, `hatbox grant revoke` ends it within a second, and `hatbox activity` lists what the
    agent did. With --json, errors and the log, which are on standard error, are JSON.
    """
    if grant is not None and hosts:
        raise bad_parameter("the hosts are those of the grant. Specify one of them", param_hint=["--grant", "--host"])
    token = None if grant is None else os.environ.pop(grant, "")
    if token == "":
        raise bad_parameter(f"the environment variable {grant} has no token", param_hint="--grant")
    upload_folder = existing_folder(uploads, "--uploads")
    download_folder = existing_folder(downloads, "--downloads")
    opened = open_profile(profile)

    async def run() -> None:
        async with opened:
            await _run(opened, identity, options, hosts, token)

    options = AgentOptions(read_only=read_only, headless=not headed, uploads=upload_folder, downloads=download_folder)
    with log_to_stderr(as_json=as_json):
        asyncio.run(run())


async def _run(
    opened: Profile, identity: str, options: AgentOptions, hosts: list[str] | None, token: str | None
) -> None:
    try:
        from hatbox.mcp.server import AgentServer
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "mcp":
            raise
        raise MissingExtra("mcp") from error
    found = await find_identity(opened, identity)
    session = AgentSession(opened, found, options, hosts=hosts, token=token)
    async with session:
        serving = asyncio.ensure_future(AgentServer(session, __version__).serve_stdio())
        with stop_on_signals():
            await asyncio.wait({serving, session.ended}, return_when=asyncio.FIRST_COMPLETED)
        if serving.done():
            serving.result()
            return
        has_ended = session.ended.done()
    # The SDK reads standard input in a thread, which cannot be interrupted: nothing else is left to do.
    await opened.close()
    if has_ended:
        print_line(f"The grant {session.grant_id} has ended, and with it the access of the agent.", sys.stderr)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(1 if has_ended else 0)
