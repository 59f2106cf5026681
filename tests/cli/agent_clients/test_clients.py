from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hatbox.cli.agent_clients.clients import CLIENTS
from hatbox.cli.completion.candidates import candidates

HOME = Path("/home/user")
PLACES = {
    "linux": {
        "claude": ".config/Claude/claude_desktop_config.json",
        "claude-code": ".claude.json",
        "codex": ".codex/config.toml",
        "cursor": ".cursor/mcp.json",
        "gemini": ".gemini/settings.json",
        "vscode": ".config/Code/User/mcp.json",
        "windsurf": ".codeium/windsurf/mcp_config.json",
        "zed": ".config/zed/settings.json",
    },
    "darwin": {
        "claude": "Library/Application Support/Claude/claude_desktop_config.json",
        "vscode": "Library/Application Support/Code/User/mcp.json",
        "zed": ".config/zed/settings.json",
    },
    "win32": {
        "claude": "AppData/Roaming/Claude/claude_desktop_config.json",
        "claude-code": ".claude.json",
        "vscode": "AppData/Roaming/Code/User/mcp.json",
        "zed": "AppData/Roaming/Zed/settings.json",
    },
}


@pytest.mark.parametrize("platform", PLACES)
def test_the_configuration_is_where_the_agent_reads_it(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(Path, "home", lambda: HOME)
    for name in ("XDG_CONFIG_HOME", "APPDATA", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    for client, place in PLACES[platform].items():
        assert CLIENTS[client].user_file() == HOME / place


def test_a_variable_of_the_agent_names_another_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    assert CLIENTS["codex"].user_file() == tmp_path / "config.toml"
    assert CLIENTS["claude-code"].user_file() == tmp_path / ".claude.json"


def test_completion_offers_all_agents() -> None:
    assert [each.value for each in candidates(["mcp", "install"], "")] == list(CLIENTS)


def test_completion_offers_the_options_and_the_commands_of_mcp() -> None:
    assert [each.value for each in candidates(["mcp"], "")] == ["install", "uninstall"]
    assert "--read-only" in [each.value for each in candidates(["mcp"], "--re")]
    assert "--read-only" in [each.value for each in candidates(["mcp", "--headed"], "--re")]
    assert "--dry-run" in [each.value for each in candidates(["mcp", "uninstall", "zed"], "--d")]
    assert [each.value for each in candidates([], "mc")] == ["mcp"]
