"""A proxy on the loopback address: `with LoopbackProxy() as proxy`. Every host that is asked for is answered by itself.

What it forwards it answers with a page of its own; a tunnel leads to `tunnels_to`, whatever host was named. Below
`/locked`, and for tunnels to hosts that begin with `locked`, it wants to know who asks: `u` with the password `p`.
"""

from __future__ import annotations

import base64
import contextlib
import selectors
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, NamedTuple, Self

GOOD: Final = "Basic " + base64.b64encode(b"u:p").decode()


class Asked(NamedTuple):
    """What the proxy was asked."""

    method: str
    target: str
    authorization: str | None
    headers: dict[str, str]


class LoopbackProxy:
    """The proxy, running while it is entered."""

    def __init__(self, tunnels_to: int = 0) -> None:
        self.asked: list[Asked] = []
        """Every request, in the order in which they came."""
        self.tunnels_to = tunnels_to
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.proxy = self
        self.port: int = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def info(self, kind: str = "http", **more: Any) -> dict[str, Any]:
        """What a listener answers to use it."""
        return {"type": kind, "host": "127.0.0.1", "port": self.port, **more}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    proxy: LoopbackProxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        if self._lets_in("/locked" in self.path):
            self._answer(200, b"<title>Through the proxy</title>", ("Set-Cookie", "a=1"))

    def do_CONNECT(self) -> None:
        if self._lets_in(self.path.startswith("locked")):
            self.send_response(200)
            self.end_headers()
            with socket.create_connection(("127.0.0.1", self.server.proxy.tunnels_to)) as there:
                _pass_on(self.connection, there)
            self.close_connection = True

    def _lets_in(self, locked: bool) -> bool:
        said = self.headers.get("Proxy-Authorization")
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.proxy.asked.append(Asked(self.command, self.path, said, headers))
        if locked and said != GOOD:
            self._answer(407, b"<title>Who are you?</title>", ("Proxy-Authenticate", 'Basic realm="P"'))
            return False
        return True

    def _answer(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", "text/html"), ("Content-Length", str(len(body))), *headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with selectors.DefaultSelector() as ready, contextlib.suppress(OSError):
        ready.register(one, selectors.EVENT_READ, other)
        ready.register(other, selectors.EVENT_READ, one)
        while True:
            for key, _ in ready.select():
                if not (data := key.fileobj.recv(65536)):  # type: ignore[union-attr]
                    return
                key.data.sendall(data)
