"""The agents whose configuration Hatbox can write: where it is, and how it lists servers."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from hatbox.cli.agent_clients.server_lists import JsonServers, ServerList, TomlServers

__all__ = ["CLIENTS", "AgentClient"]


class AgentClient(msgspec.Struct, frozen=True, kw_only=True):
    """An agent that starts servers of the Model Context Protocol."""

    title: str
    folder: str
    """Where the configuration of the user is: ~ is the home folder, CONFIG the folder of the system for settings."""
    file: str
    servers: ServerList
    home_variable: str = ""
    """The environment variable that names another folder."""
    config_folder: Mapping[str, str] = {}
    """Other folders, by platform."""
    project_file: str | None = None
    """The configuration in the folder of a project; None if the agent has none."""
    has_type: bool = False
    """Whether a server needs the type of its transport."""

    def user_file(self) -> Path:
        """The configuration of the user."""
        if self.home_variable and (named := os.environ.get(self.home_variable)):
            return Path(named).expanduser().absolute() / self.file
        folder = self.config_folder.get(sys.platform, self.folder)
        start, _, rest = folder.partition("/")
        return (Path.home() if start == "~" else _config_folder()) / rest / self.file

    def server(self, command: list[str], variables: Mapping[str, str]) -> dict[str, object]:
        """The entry of a server that is started with a command."""
        transport: dict[str, object] = {"type": "stdio"} if self.has_type else {}
        environment: dict[str, object] = {"env": dict(variables)} if variables else {}
        return {**transport, "command": command[0], "args": command[1:], **environment}


CLIENTS: Final[Mapping[str, AgentClient]] = {
    "claude": AgentClient(
        title="Claude Desktop",
        folder="CONFIG/Claude",
        file="claude_desktop_config.json",
        servers=JsonServers("mcpServers"),
    ),
    "claude-code": AgentClient(
        title="Claude Code",
        folder="~",
        file=".claude.json",
        servers=JsonServers("mcpServers"),
        home_variable="CLAUDE_CONFIG_DIR",
        project_file=".mcp.json",
    ),
    "codex": AgentClient(
        title="Codex",
        folder="~/.codex",
        file="config.toml",
        servers=TomlServers("mcp_servers"),
        home_variable="CODEX_HOME",
        project_file=".codex/config.toml",
    ),
    "cursor": AgentClient(
        title="Cursor",
        folder="~/.cursor",
        file="mcp.json",
        servers=JsonServers("mcpServers", comments=True),
        project_file=".cursor/mcp.json",
    ),
    "gemini": AgentClient(
        title="Gemini CLI",
        folder="~/.gemini",
        file="settings.json",
        servers=JsonServers("mcpServers", comments=True),
        project_file=".gemini/settings.json",
    ),
    "vscode": AgentClient(
        title="Visual Studio Code",
        folder="CONFIG/Code/User",
        file="mcp.json",
        servers=JsonServers("servers", comments=True),
        project_file=".vscode/mcp.json",
        has_type=True,
    ),
    "windsurf": AgentClient(
        title="Windsurf",
        folder="~/.codeium/windsurf",
        file="mcp_config.json",
        servers=JsonServers("mcpServers", comments=True),
    ),
    "zed": AgentClient(
        title="Zed",
        folder="CONFIG/zed",
        config_folder={"darwin": "~/.config/zed", "win32": "CONFIG/Zed"},
        file="settings.json",
        servers=JsonServers("context_servers", comments=True),
    ),
}


def _config_folder() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming")
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
