"""The first message of a client of MCP."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["INITIALIZE"]

INITIALIZE: Final[dict[str, Any]] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}
