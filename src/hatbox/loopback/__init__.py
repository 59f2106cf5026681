"""Servers on loopback in the process of the profile: their sockets, their HTTP, who may connect. Needs uvicorn."""
