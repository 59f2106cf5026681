"""An MCP server with which an agent uses one identity, and nothing else of the profile. Needs the extra `mcp`.

Only server.py imports the SDK. The others do not know the protocol: a tool has arguments, a session and an output.
"""
