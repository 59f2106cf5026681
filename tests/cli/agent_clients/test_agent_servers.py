from __future__ import annotations

import pytest

from hatbox.cli.agent_clients.agent_servers import served_identity

OWN = ["mcp", "--profile", "/p.db", "--identity", "firefox-container-2"]


@pytest.mark.parametrize(
    ("server", "identity"),
    [
        ({"command": "/venv/bin/hatbox", "args": OWN}, "firefox-container-2"),
        ({"command": "hatbox.exe", "args": OWN}, "firefox-container-2"),
        ({"command": "/bin/python3", "args": ["-P", "-m", "hatbox", *OWN]}, "firefox-container-2"),
        ({"command": "npx", "args": OWN}, None),
        ({"command": "npx", "args": ["hatbox", *OWN]}, None),
        ({"command": "/bin/python3", "args": ["-m", "other", *OWN]}, None),
        ({"command": "hatbox", "args": ["list"]}, None),
        ({"command": "hatbox", "args": "mcp --identity Work"}, None),
        ({"command": "hatbox", "args": ["mcp", 1]}, None),
        ({"command": None, "args": OWN}, None),
        ({"url": "http://127.0.0.1/mcp"}, None),
        ([], None),
        (None, None),
    ],
)
def test_only_servers_of_hatbox_are_recognized(server: object, identity: str | None) -> None:
    assert served_identity(server) == identity
