"""A site on the loopback address, which remembers what it was asked and notices when identities are mixed up."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlencode, urlsplit

Query = dict[str, list[str]]

REALM, NONCE = "site", "0123456789abcdef"


class Seen(NamedTuple):
    method: str
    host: str
    path: str
    cookie: bytes
    body: bytes


class Site(ThreadingHTTPServer):
    """The query says what it does: `set` (a Set-Cookie line, may be repeated), `status`, `to` (where to redirect).

    A request that says in `X-Identity` who it is must bring only cookies whose values begin with that name.
    """

    daemon_threads = True
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[Seen] = []
        self.headers: list[Message] = []
        self.body: bytes | None = None  # the Cookie header of the request, unless something else is wanted
        self.always_to = ""
        self.mixed: list[str] = []
        self.connections = 0
        self.before_answer: Callable[[], object] = lambda: None
        self.lock = threading.Lock()
        self._sockets: set[Any] = set()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def url(self, path: str = "/", *, host: str = "127.0.0.1", **query: object) -> str:
        asked = f"?{urlencode(query, doseq=True, encoding='latin-1')}" if query else ""
        return f"http://{host}:{self.server_port}{path}{asked}"

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        self.connections += 1
        self._sockets.add(connection)
        return connection, address

    def stop(self) -> None:
        self.shutdown()
        self._thread.join()
        for connection in self._sockets:
            connection.close()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that was killed


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Site

    def respond(self) -> None:
        url = urlsplit(self.path)
        query = parse_qs(url.query, encoding="latin-1")
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        cookie = "; ".join(self.headers.get_all("Cookie", ()))
        with self.server.lock:
            host = self.headers["Host"].rpartition(":")[0]
            self.server.seen.append(Seen(self.command, host, url.path, cookie.encode("latin-1"), body))
            self.server.headers.append(self.headers)
            if identity := self.headers.get("X-Identity"):
                self._check(identity, cookie, needed=not url.path.startswith("/login"))
        self.server.before_answer()
        if url.path == "/digest" and not self._knows_the_password():
            self.answer(401, query, [("WWW-Authenticate", f'Digest realm="{REALM}", nonce="{NONCE}", qop="auth"')])
        elif self.server.always_to:
            self.answer(302, query, [("Location", self.server.always_to)])
        elif "to" in query:
            self.answer(int(query.get("status", ["302"])[0]), query, [("Location", query["to"][0])])
        elif url.path == "/stream":
            self.stream(query)
        else:
            self.answer(
                int(query.get("status", ["200"])[0]),
                query,
                [],
                cookie.encode("latin-1") if self.server.body is None else self.server.body,
            )

    do_GET = do_POST = do_HEAD = do_PUT = respond  # noqa: N815 - http.server asks for these names

    def send_response(self, code: int, message: str | None = None) -> None:
        super().send_response(code, message)
        if self.close_connection:  # the client has asked for it; a pool must not use the connection again
            self.send_header("Connection", "close")

    def answer(self, status: int, query: Query, headers: list[tuple[str, str]], body: bytes = b"") -> None:
        self.send_response(status)
        for name, value in [*headers, *(("Set-Cookie", line) for line in query.get("set", ()))]:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def stream(self, query: Query) -> None:
        self.send_response(200)
        for line in query.get("set", ()):
            self.send_header("Set-Cookie", line)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in (b"one,", b"two,", b"three"):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
        self.wfile.write(b"0\r\n\r\n")

    def _check(self, identity: str, cookie: str, *, needed: bool) -> None:
        pairs = [pair.partition("=") for pair in cookie.split("; ")] if cookie else []
        mixed = [f"{name}={value}" for name, _, value in pairs if not value.startswith(f"{identity}-")]
        if mixed:
            self.server.mixed.append(f"{identity} sent {mixed} to {self.path}")
        if needed and not any(name == "sid" for name, _, _ in pairs):
            self.server.mixed.append(f"{identity} was not logged in at {self.path}: {cookie}")

    def _knows_the_password(self) -> bool:
        given = self.headers.get("Authorization", "")
        fields = dict(part.strip().split("=", 1) for part in given.removeprefix("Digest ").split(",") if "=" in part)
        fields = {name: value.strip('"') for name, value in fields.items()}
        first = _md5(f"user:{REALM}:password")
        second = _md5(f"{self.command}:{self.path}")
        wanted = _md5(f"{first}:{NONCE}:{fields.get('nc')}:{fields.get('cnonce')}:auth:{second}")
        return fields.get("response") == wanted

    def log_message(self, *_: object) -> None:
        pass


def _md5(text: str) -> str:
    return hashlib.md5(text.encode()).hexdigest()


def chain(site: Site, name: str, *hops: tuple[str, str], **last: object) -> str:
    """A URL that redirects from host to host, (host, value) by (host, value), each setting a cookie `name-n`."""
    url = site.url("/end", host=hops[-1][0], **last)
    for number, (host, value) in reversed(list(enumerate(hops))):
        url = site.url(f"/hop{number}", host=host, set=f"{name}{number}={value}; Path=/", to=url)
    return url
