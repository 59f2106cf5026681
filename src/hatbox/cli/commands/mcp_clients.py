"""The commands mcp install and mcp uninstall: the configuration of agents."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path
from typing import Annotated, Any, Final

from hatbox.cli.agent_clients.agent_servers import (
    checked_name,
    default_name,
    display_variables,
    is_same_server,
    served_identity,
    served_profile,
    server_command,
    server_variables,
)
from hatbox.cli.agent_clients.clients import CLIENTS, AgentClient
from hatbox.cli.agent_clients.configuration_file import ConfigurationFile, configuration_error
from hatbox.cli.agent_clients.json_text import InvalidText
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
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.confirm import confirm
from hatbox.cli.terminal.output import print_json, print_line
from hatbox.cli.terminal.terminal_text import without_passwords
from hatbox.errors import IdentityNotFound, MissingExtra
from hatbox.grants.grant_arguments import accepted_hosts
from hatbox.identity.model import ContextualIdentity
from hatbox.profile import Profile
from hatbox.shell_words import shell_word

__all__ = ["install", "uninstall"]

ClientArgument = Annotated[str, Argument(metavar="CLIENT", help=f"The agent: {', '.join(CLIENTS)}.")]
ProjectOption = Annotated[
    str | None,
    Option("--project", metavar="FOLDER", help="Use the configuration of the project in this folder. Default: yours."),
]
FileOption = Annotated[
    str | None, Option("--file", metavar="PATH", help="Use this configuration file of the agent, not the usual one.")
]
YesOption = Annotated[bool, Option("--yes", "-y", help="Do not ask.")]
DryRunOption = Annotated[bool, Option("--dry-run", help="Print what would change, and change nothing.")]

_CONFIGURATION_TOKEN: Final = re.compile(
    r"""(?P<comment>//[^\n]*|\#[^\n]*|/\*.*?\*/)"""
    r"""|(?P<long>\"{3}.*?\"{3}|'{3}.*?'{3})"""
    r"""|(?P<string>"(?:[^"\\\n]|\\.)*"|'[^'\n]*')(?P<key>\s*[:=])?""",
    re.DOTALL,
)
_HIDDEN: Final = '"…"'
_CONTEXT_LINES: Final = 2
_MAX_SHOWN_LINE: Final = 2000


def install(
    client: ClientArgument,
    identity: AgentIdentityOption,
    hosts: AgentHostsOption = None,
    read_only: AgentReadOnlyOption = False,
    headed: AgentHeadedOption = False,
    uploads: AgentUploadsOption = None,
    downloads: AgentDownloadsOption = None,
    name: Annotated[
        str | None,
        Option("--name", metavar="NAME", help="Name of the server in the agent. Default: hatbox- and the identity."),
    ] = None,
    project: ProjectOption = None,
    file: FileOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let an agent start `hatbox mcp` for one identity: adds the server to the configuration of the agent.

    Shows the change first, and asks. claude is Claude Desktop, gemini is Gemini CLI. All else in the file stays as it
    is, comments too. No token and no key is written: the agent can use the identity because it runs as you. On Linux,
    the display is written, so that ask_person can open a window: run the command in the desktop session, and again
    if the display changes.
    """
    if importlib.util.find_spec("mcp") is None:
        raise MissingExtra("mcp")
    chosen = _client(client)
    accepted_hosts(hosts)
    options = [
        *(word for each in hosts or () for word in ("--host", each)),
        *(["--read-only"] if read_only else []),
        *(["--headed"] if headed else []),
        *(word for word in _folder_option("--uploads", uploads)),
        *(word for word in _folder_option("--downloads", downloads)),
    ]
    found, address = run_with_profile(profile, lambda opened: _identity_and_address(opened, identity))
    server = chosen.server(server_command(found, address, options), server_variables())
    name = default_name(found) if name is None else checked_name(name)
    configuration = _configuration(chosen, project, file)
    try:
        existing = chosen.servers.servers(configuration.text)
        after = configuration.text
        if is_same_server(existing.get(name), server):
            if existing[name] != server and display_variables():
                after = chosen.servers.with_server(chosen.servers.without_server(after, name), name, server)
        else:
            _refuse_existing(client, configuration, name, existing)
            after = chosen.servers.with_server(after, name, server)
    except InvalidText as error:
        raise configuration_error(f"{configuration.path} cannot be edited: {error}") from error
    is_done = _change(configuration, after, f"Add {name} to", yes=yes, dry_run=dry_run, as_json=as_json)
    if as_json:
        document = {"client": client, "file": str(configuration.path), "name": name, "server": server}
        print_json({**document, "changed": is_done, "diff": _diff(configuration, after)}, sys.stdout)
    elif after == configuration.text:
        print_line(f"{configuration.path} already has {name}.", sys.stdout)
    elif is_done:
        print_line(f"Added {name} to {configuration.path}.", sys.stdout)
        _print_advice(client, chosen, name, hosts, _place(project, file))


def uninstall(
    client: ClientArgument,
    identity: Annotated[
        str | None,
        Option("--identity", "-i", metavar="NAME-OR-ID", help="Remove the servers of this identity."),
    ] = None,
    name: Annotated[str | None, Option("--name", metavar="NAME", help="Remove the server with this name.")] = None,
    project: ProjectOption = None,
    file: FileOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove what `hatbox mcp install` has added to the configuration of an agent. Shows the change first, and asks.

    Entries of other programs are never removed. A server that runs already continues until its agent ends it: to end
    it now, use `hatbox grant revoke`.
    """
    if (identity is None) == (name is None):
        raise bad_parameter("specify one of them", param_hint=["--identity", "--name"])
    chosen = _client(client)
    configuration = _configuration(chosen, project, file)
    try:
        servers = chosen.servers.servers(configuration.text)
        names = [name] if name is not None else _names_of(servers, identity or "", profile)
        missing = [each for each in names if served_identity(servers.get(each)) is None]
        if missing or not names:
            what = f"named {name}" if name is not None else f"for {identity}"
            raise CommandError("NotInstalled", f"{configuration.path} has no server of Hatbox {what}.")
        after = configuration.text
        for each in names:
            after = chosen.servers.without_server(after, each)
    except InvalidText as error:
        raise configuration_error(f"{configuration.path} cannot be edited: {error}") from error
    question = f"Remove {', '.join(names)} from"
    is_done = _change(configuration, after, question, yes=yes, dry_run=dry_run, as_json=as_json)
    if as_json:
        document = {"client": client, "file": str(configuration.path), "names": names, "changed": is_done}
        print_json({**document, "diff": _diff(configuration, after)}, sys.stdout)
    elif is_done:
        print_line(f"Removed {', '.join(names)} from {configuration.path}.", sys.stdout)
        print_line("A server that is running continues until you end the agent. See: hatbox grant list", sys.stderr)


def _client(name: str) -> AgentClient:
    if name not in CLIENTS:
        raise bad_parameter(f"{name!r} is none of: {', '.join(CLIENTS)}", param_hint="CLIENT")
    return CLIENTS[name]


def _configuration(client: AgentClient, project: str | None, file: str | None) -> ConfigurationFile:
    if project is not None and file is not None:
        raise bad_parameter("specify one of them", param_hint=["--project", "--file"])
    if file is not None:
        return ConfigurationFile(Path(file).absolute())
    if project is None:
        return ConfigurationFile(client.user_file())
    if client.project_file is None:
        raise bad_parameter(f"{client.title} has no configuration for one project", param_hint="--project")
    folder = existing_folder(project, "--project") or Path(project)
    return ConfigurationFile(folder / client.project_file, below=folder)


def _folder_option(option: str, folder: str | None) -> Sequence[str]:
    found = existing_folder(folder, option)
    return () if found is None else (option, str(found))


async def _identity_and_address(opened: Profile, name_or_id: str) -> tuple[ContextualIdentity, str]:
    found = await find_identity(opened, name_or_id)
    if without_passwords(opened.address) != opened.address:
        problem = "the address has a password, which the file would contain. Use a password file of PostgreSQL"
        raise bad_parameter(problem, param_hint="--profile")
    return found, opened.address


def _refuse_existing(client: str, configuration: ConfigurationFile, name: str, servers: dict[str, Any]) -> None:
    if name not in servers:
        return
    if served_identity(servers[name]) is None:
        advice = "It is not of Hatbox. Choose another name with --name"
    else:
        advice = f"Remove it first: hatbox mcp uninstall {client} --name {name}. Or choose another name with --name"
    raise configuration_error(f"{configuration.path} has a server named {name} with other settings. {advice}")


def _names_of(servers: dict[str, Any], identity: str, profile: str | None) -> list[str]:
    """The servers of an identity of this profile. An identity that was removed is known by its id."""

    async def resolve(opened: Profile) -> tuple[str, str]:
        try:
            return (await find_identity(opened, identity)).cookie_store_id, opened.address
        except IdentityNotFound:
            if not any(served_identity(each) == identity for each in servers.values()):
                raise
            return identity, opened.address

    found, address = run_with_profile(profile, resolve)
    return [
        name
        for name, each in servers.items()
        if served_identity(each) == found and served_profile(each) in (None, address)
    ]


def _change(
    configuration: ConfigurationFile, after: str, question: str, *, yes: bool, dry_run: bool, as_json: bool
) -> bool:
    """Show the change, ask, and write. Whether the file was changed."""
    if after == configuration.text:
        return False
    if not as_json:
        for line in _diff(configuration, after):
            print_line(line, sys.stdout if dry_run else sys.stderr)
    if dry_run:
        return False
    if not yes:
        confirm(f"{question} {configuration.path}? ", "nothing was changed")
    configuration.write(after)
    return True


def _diff(configuration: ConfigurationFile, after: str) -> list[str]:
    return _shown_diff(str(configuration.path), configuration.text, after)


def _place(project: str | None, file: str | None) -> str:
    option = "--project" if project is not None else "--file"
    place = project if project is not None else file
    return "" if place is None else f" {option} {shell_word(place)}"


def _print_advice(client: str, chosen: AgentClient, name: str, hosts: list[str] | None, place: str) -> None:
    if not hosts:
        print_line("Without --host, the agent can use every public site, signed in where the identity is.", sys.stderr)
    if os.environ.get("HATBOX_KEY"):
        print_line(
            f"The key of the profile was not written: {chosen.title} needs HATBOX_KEY in its environment.", sys.stderr
        )
    print_line(f"Restart {chosen.title}. Undo it with: hatbox mcp uninstall {client} --name {name}{place}", sys.stderr)


def _shown_diff(path: str, before: str, after: str) -> list[str]:
    """The lines of the diff, without ends of lines.

    The file may contain the secrets of other servers, so strings and comments that are not part of the edit are not
    shown.
    """
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    old = _masked(before, start, len(before) - end).splitlines()
    new = _masked(after, start, len(after) - end).splitlines()
    lines = unified_diff(old, new, path if before else "/dev/null", path, lineterm="", n=_CONTEXT_LINES)
    return [line if len(line) <= _MAX_SHOWN_LINE else f"{line[:_MAX_SHOWN_LINE]}…" for line in lines]


def _masked(text: str, start: int, end: int) -> str:
    """The text without its strings and comments, except keys, and what is between two places."""

    def replacement(found: re.Match[str]) -> str:
        if found["key"] or (start <= found.start() and found.end() <= end):
            return found[0]
        return f"{found[0][0]}…" if found["comment"] else _HIDDEN

    return _CONFIGURATION_TOKEN.sub(replacement, text)


def _common(one: str, other: str) -> int:
    """The number of characters that two texts have in common at their start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
