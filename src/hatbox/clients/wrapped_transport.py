"""An httpx transport that passes requests on to another transport, and is opened and closed with it."""

from __future__ import annotations

from typing import Any, Self

import httpx

__all__ = ["WrappedTransport"]


class WrappedTransport(httpx.AsyncBaseTransport):
    """The base of asynchronous transports that check or change requests for the transport `_inner`."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self._inner = inner

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._inner.__aexit__(*error)

    async def aclose(self) -> None:
        """See httpx.AsyncBaseTransport."""
        await self._inner.aclose()
