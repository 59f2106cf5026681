"""Servers on loopback: who may connect, and, with uvicorn, their sockets and their HTTP."""
