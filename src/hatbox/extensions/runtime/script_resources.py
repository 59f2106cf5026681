"""What scripts load: files of the package, and HTTP responses. A large body is sent in chunks as the process reads."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from typing import Any, Final

from hatbox.errors import HatboxError, NetworkError
from hatbox.extensions.runtime import protocol
from hatbox.extensions.runtime.boot import Boot
from hatbox.extensions.runtime.host import FetchRequest, FetchResponse, Host, LogEntry
from hatbox.extensions.runtime.message_parsing import content_type, path_in
from hatbox.extensions.runtime.outgoing_messages import OutgoingMessages

__all__ = ["ScriptResources"]

_CHUNK_BYTES: Final = 3 << 17  # a multiple of 3, so that base64 texts can be joined; larger ones would delay others
_MAX_SCRIPT_BYTES: Final = 8 << 20  # V8 could not compile more with the heap that it has here


class ScriptResources:
    """Reads files and makes requests for one extension process."""

    def __init__(
        self,
        host: Host,
        boot: Boot,
        outgoing: OutgoingMessages,
        drained: asyncio.Event,
        log: Callable[[LogEntry], None],
    ) -> None:
        self._host = host
        self._boot = boot
        self._outgoing = outgoing
        self._drained = drained
        self._log = log
        self._reading = asyncio.Lock()
        """Held while a file is read and sent: one at a time, because each may be large."""

    async def source_at(self, url: str) -> str | None:
        """The source of the script at a URL; None if the package does not have it."""
        path = path_in(self._boot.base, url)
        return None if path is None else await self.source(path)

    async def source(self, path: str) -> str | None:
        """The source of a script. Read in a thread, because decompressing a hostile package takes long."""
        source = await asyncio.to_thread(self._host.read_file, path)
        if source is not None and len(source) > _MAX_SCRIPT_BYTES:
            url = self._boot.base + path.removeprefix("/")
            self._log(LogEntry("error", "error", f"{url} is larger than {_MAX_SCRIPT_BYTES >> 20} MiB."))
            return None
        return None if source is None else source.decode("utf-8-sig", "replace")

    async def fetch(self, number: int, request: FetchRequest) -> dict[str, Any]:
        """The fields of the response, as fetch.js expects them."""
        try:
            if request.url.startswith(self._boot.base):
                async with self._reading:
                    return await self._send_body(number, await self._read_package(request))
            return await self._send_body(number, await self._host.fetch(self._with_user_agent(request)))
        except HatboxError as error:
            self._log(LogEntry("console", "warn", f"fetch({request.url[:200]}): {error}"))
            raise

    def _with_user_agent(self, request: FetchRequest) -> FetchRequest:
        if any(name.lower() == "user-agent" for name, _ in request.headers):
            return request
        return request._replace(headers=[*request.headers, ("User-Agent", self._boot.user_agent)])

    async def _read_package(self, request: FetchRequest) -> FetchResponse:
        path = path_in(self._boot.base, request.url)
        body = None if path is None else await asyncio.to_thread(self._host.read_file, path)
        if body is None:
            raise NetworkError(f"the package has no file {path}")
        return FetchResponse(request.url, 200, "OK", [("content-type", content_type(path or ""))], False, body)

    async def _send_body(self, number: int, response: FetchResponse) -> dict[str, Any]:
        """Send all but the last chunk of the body. Returns the fields of the response with the last one."""
        body, start = memoryview(response.body), 0
        while len(body) - start > _CHUNK_BYTES:
            await self._drained.wait()
            self._outgoing.send([protocol.BODY_CHUNK, number, _base64(body[start : start + _CHUNK_BYTES])])
            start += _CHUNK_BYTES
            await asyncio.sleep(0)
        return {
            "url": response.url,
            "status": response.status,
            "statusText": response.status_text,
            "headers": response.headers,
            "redirected": response.redirected,
            "body": _base64(body[start:]),
        }


def _base64(data: memoryview) -> str:
    return base64.b64encode(data).decode("ascii")
