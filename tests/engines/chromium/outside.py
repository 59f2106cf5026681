"""Records what goes past the proxy: TCP connections and UDP packets to a port on loopback, and the browser's NetLog."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class Outside:
    """A TCP and a UDP server at one port of 127.0.0.1. A browser that uses its proxy reaches neither."""

    def __init__(self) -> None:
        self.received: list[str] = []
        """Every connection and packet."""

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port: int = self._server.sockets[0].getsockname()[1]
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", self.port))
        outside = self

        class Packets(asyncio.DatagramProtocol):
            def datagram_received(self, data: bytes, address: Any) -> None:
                outside.received.append(f"UDP {data[:4].hex()}")

        self._transport, _ = await loop.create_datagram_endpoint(Packets, sock=self._socket)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        self._transport.close()

    def _accept(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.received.append("TCP")
        writer.close()


class NetLog:
    """What the network service of a browser did, after the browser has ended."""

    def __init__(self, path: Path) -> None:
        text = path.read_text()
        log = json.loads(text if text.rstrip().endswith("}") else text.rstrip().rstrip(",") + "]}")
        names = {number: name for name, number in log["constants"]["logEventTypes"].items()}
        self._events = [(names[each["type"]], each.get("params", {})) for each in log["events"]]

    def lookups(self) -> set[str]:
        """The host names that were resolved. A request without a job reads the cache of the browser only."""
        found = (params.get("host", "") for name, params in self._events if name == "HOST_RESOLVER_MANAGER_JOB")
        return {each for each in found if each}

    def local_ports(self) -> set[int]:
        """The ports on this machine to which TCP and UDP sockets were connected."""
        kinds = ("TCP_CONNECT_ATTEMPT", "UDP_CONNECT")
        addresses = (params.get("address", "") for name, params in self._events if name in kinds)
        parts = (each.rpartition(":") for each in addresses)
        return {int(port) for host, _, port in parts if host.startswith("127.") or host == "[::1]"}
