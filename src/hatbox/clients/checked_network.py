"""Connections of httpx to public addresses only, for programs that may not use private networks.

A name is resolved before it is connected to, so that a private network cannot be scanned by names; the address of the
connection is checked before anything is sent, because a name may have another address the next time.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable
from typing import Any

import httpcore
import httpx

from hatbox.errors import PermissionDenied
from hatbox.urls.hosts import is_private_address

__all__ = ["AddressRefused", "check_addresses"]


class AddressRefused(PermissionDenied):
    """A host has an address of this machine or of a private network."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"{ascii(host)[1:-1][:200]} has an address of this machine or of a private network, and the grant does not "
            "name this host. For it, request another grant, with --host for this host."
        )


def check_addresses(transport: object, is_named: Callable[[str, int], bool]) -> None:
    """Check the connections of a transport without a proxy. A proxy resolves names in its own network.

    `is_named` says whether a host with a port may have any address.
    """
    pool: Any = transport._pool if isinstance(transport, httpx.AsyncHTTPTransport) else None
    if type(pool) is httpcore.AsyncConnectionPool:  # a subclass is for a proxy
        pool._network_backend = _CheckedNetwork(pool._network_backend, is_named)


class _CheckedNetwork(httpcore.AsyncNetworkBackend):
    def __init__(self, inner: httpcore.AsyncNetworkBackend, is_named: Callable[[str, int], bool]) -> None:
        self._inner = inner
        self._is_named = is_named

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """See httpcore."""
        if self._is_named(host, port):
            return await self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        try:
            async with asyncio.timeout(timeout):
                found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(str(error)) from error
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        if any(is_private_address(str(each[4][0])) for each in found):
            raise AddressRefused(host)
        stream = await self._inner.connect_tcp(host, port, timeout, local_address, socket_options)
        address = stream.get_extra_info("server_addr")
        if address is None or is_private_address(str(address[0])):
            await stream.aclose()
            raise AddressRefused(host)
        return stream

    async def sleep(self, seconds: float) -> None:
        """See httpcore."""
        await self._inner.sleep(seconds)
