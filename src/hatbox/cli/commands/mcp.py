"""The command mcp: serves one identity to agents, with the Model Context Protocol."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Iterator
from typing import Annotated, Final

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
from hatbox.cli.arguments.grant_token import take_token
from hatbox.cli.arguments.identity_arguments import find_identity
from hatbox.cli.arguments.parameters import Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, open_profile
from hatbox.cli.program_end import ProgramEnd, stop_on_signals
from hatbox.cli.terminal.command_errors import CommandError, port_error
from hatbox.cli.terminal.foreground import log_to_stderr
from hatbox.cli.terminal.output import print_json_line, print_line
from hatbox.errors import MissingExtra
from hatbox.loopback.peer_user import UserCheck, can_check_users
from hatbox.mcp.agent_session import AgentOptions, AgentSession
from hatbox.mcp.tool_output import ToolRefused

__all__ = ["mcp"]

_LAST_OUTPUT_SECONDS: Final = 1.0  # for responses that the client has not read


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
    http: Annotated[
        bool,
        Option("--http", help="Serve streamable HTTP on 127.0.0.1, for several agents at once. Prints URL and token."),
    ] = False,
    port: Annotated[
        int,
        Option("--port", metavar="NUMBER", min=0, max=65535, help="Port for --http. Default: any free one."),
    ] = 0,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an agent use one identity: a server of the Model Context Protocol on standard input and output.

    Agents start it: `hatbox mcp install` writes their configuration. It needs the extra mcp. Each run has a grant, so
    `hatbox grant list` shows it, `hatbox grant revoke` ends it within a second, and `hatbox activity` lists what the
    agent did. With --json, errors and the log, which are on standard error, are JSON.

    With --http it runs until Ctrl-C, and each agent that connects has its own tabs. Clients send the token, which is
    printed once, as `Authorization: Bearer TOKEN`. The server accepts connections from this machine only, and on Linux
    from this user only.
    """
    if port and not http:
        raise bad_parameter("only with --http", param_hint="--port")
    if grant is not None and hosts:
        raise bad_parameter("the hosts are those of the grant. Specify one of them", param_hint=["--grant", "--host"])
    token = None if grant is None else take_token(grant)
    upload_folder = existing_folder(uploads, "--uploads")
    download_folder = existing_folder(downloads, "--downloads")
    opened = open_profile(profile)

    async def run() -> None:
        with stop_on_signals(as_json=as_json) as end:
            end.save_with(opened.save)
            async with opened:
                found = await find_identity(opened, identity)
                session = AgentSession(opened, found, options, hosts=hosts, token=token)
                try:
                    if http:
                        await _serve_http(session, end, port, is_new_token=grant is None, as_json=as_json)
                    else:
                        await _serve_stdio(session, end)
                except ToolRefused as error:  # it was revoked before the server was ready
                    raise CommandError("GrantEnded", _ended(session)) from error

    options = AgentOptions(read_only=read_only, headless=not headed, uploads=upload_folder, downloads=download_folder)
    with log_to_stderr(as_json=as_json):
        asyncio.run(run())


@contextlib.contextmanager
def _needing_extra() -> Iterator[None]:
    """Name the extra, if an import of its packages fails."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("mcp", "uvicorn", "starlette"):
            raise
        raise MissingExtra("mcp") from error


async def _serve_http(session: AgentSession, end: ProgramEnd, port: int, *, is_new_token: bool, as_json: bool) -> None:
    with _needing_extra():
        from hatbox.mcp.http_server import AgentHttpServer
    user_check = UserCheck() if can_check_users() else None
    async with session:
        server = AgentHttpServer(session, __version__, port=port, user_check=user_check)
        try:
            await server.__aenter__()
        except OSError as error:
            raise port_error(port, error) from error
        try:
            _print_address(server.url, session, is_new_token=is_new_token, as_json=as_json)
            await asyncio.wait({session.ended})
            end.begin("The grant has ended")
        finally:
            await server.__aexit__(None, None, None)
    raise CommandError("GrantEnded", _ended(session))


def _print_address(url: str, session: AgentSession, *, is_new_token: bool, as_json: bool) -> None:
    """Print how clients connect. A token that the user has given is not printed."""
    token = session.token if is_new_token else "TOKEN"
    if as_json:
        shown = {"event": "ready", "url": url, "grant": session.grant_id, "identity": session.identity.name}
        print_json_line(shown | ({"token": token} if is_new_token else {}), sys.stdout)
    else:
        print_line(f"{session.identity.name} for agents: {url}", sys.stdout)
        print_line(f"Clients send this header{' (shown only once)' if is_new_token else ''}:", sys.stdout)
        print_line(f"Authorization: Bearer {token}", sys.stdout)
        print_line(f"Stop with Ctrl-C, or with: hatbox grant revoke {session.grant_id}", sys.stdout)
    sys.stdout.flush()


def _ended(session: AgentSession) -> str:
    return f"The grant {session.grant_id} has ended, and with it the access of the agent."


async def _serve_stdio(session: AgentSession, end: ProgramEnd) -> None:
    with _needing_extra():
        from hatbox.mcp.server import AgentServer
        from hatbox.mcp.standard_input import InputLines
    async with session:
        lines = InputLines()
        serving = asyncio.ensure_future(AgentServer(session, __version__).serve_stdio(lines))
        try:
            await asyncio.wait({serving, session.ended, lines.ended}, return_when=asyncio.FIRST_COMPLETED)
            has_ended = session.ended.done()
            end.begin("The grant has ended" if has_ended else "The end of the input")
            if not has_ended:
                await asyncio.wait({serving}, timeout=_LAST_OUTPUT_SECONDS)
        finally:
            serving.cancel()
            await asyncio.wait({serving}, timeout=_LAST_OUTPUT_SECONDS)
        if not has_ended and serving.done() and not serving.cancelled():
            serving.result()
    if has_ended:
        raise CommandError("GrantEnded", _ended(session))
