"""A site on loopback that gives each identity a new session with each response: `python -m benchmarks.rotating_site`.

A request names its identity in X-Identity. The response sets two cookies with the same new token, `sid` and `twin`, and
a cookie `user` that stays. Its body is a Visit as JSON. With `--strict`, a request that has not the newest token of its
identity gets status 403. The site prints its port, and runs until its input ends.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections import Counter
from typing import Any, NamedTuple

import msgspec

__all__ = ["RotatingSite", "Visit"]


class Visit(NamedTuple):
    """A request as the site has seen it. Times are those of time.monotonic(), which all processes share."""

    identity: str
    sent: str
    """The token of the request; empty without one."""
    issued: str
    """The token of the response."""
    issued_at: float
    problem: str
    """What is wrong with the cookies of the request; empty if nothing is."""


class RotatingSite:
    """The site. Tokens of an identity are numbered: `name.1`, `name.2`, …"""

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self._issued: Counter[str] = Counter()

    async def start(self) -> int:
        """Listen on a free port of the loopback address; returns the port."""
        server = self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port: int = server.sockets[0].getsockname()[1]
        return port

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._response(head.decode("latin-1")))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _response(self, head: str) -> bytes:
        lines = [line.partition(": ") for line in head.split("\r\n")[1:]]
        headers = {name.lower(): value for name, _, value in lines}
        visit = self._visit(headers["x-identity"], headers.get("cookie", ""))
        body = msgspec.json.encode(visit)
        cookies = [f"sid={visit.issued}", f"twin={visit.issued}", f"user={visit.identity}"]
        response = [
            "HTTP/1.1 403 Forbidden" if visit.problem and self._strict else "HTTP/1.1 200 OK",
            f"Content-Length: {len(body)}",
            *(f"Set-Cookie: {cookie}; Path=/; Max-Age=86400" for cookie in cookies),
        ]
        return "\r\n".join([*response, "", ""]).encode() + body

    def _visit(self, identity: str, cookie: str) -> Visit:
        cookies: dict[str, Any] = {}
        for pair in cookie.split("; ") if cookie else ():
            name, _, value = pair.partition("=")
            cookies[name] = value
        sent, newest = cookies.get("sid", ""), self._issued[identity]
        problem = ""
        if any(value.rpartition(".")[0] not in ("", identity) for value in cookies.values()):
            problem = "foreign"
        elif cookies and (cookies.keys() != {"sid", "twin", "user"} or cookies["user"] != identity):
            problem = "incomplete"
        elif cookies and cookies["twin"] != sent:
            problem = "torn"  # the two cookies of one response
        elif self._strict and sent != (f"{identity}.{newest}" if newest else ""):
            problem = "stale"
        self._issued[identity] += 1
        return Visit(identity, sent, f"{identity}.{newest + 1}", time.monotonic(), problem)


async def _main() -> None:
    print(await RotatingSite(strict="--strict" in sys.argv).start(), flush=True)
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_main())
