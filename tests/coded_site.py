"""A site whose pages come with a Content-Encoding: `with CodedSite() as site: site.url("gzip", body)`."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

BOMB_BYTES = 128 << 20


def gzip_bomb(times: int = 2) -> bytes:
    """Some kilobytes that are `BOMB_BYTES` of zeros once they are decoded this many times."""
    member = gzip.compress(bytes(16 << 20), 9)
    body = member * (BOMB_BYTES >> 24)
    for _ in range(times - 1):
        body = gzip.compress(body, 9)
    return body


class CodedSite(ThreadingHTTPServer):
    """Answers each URL that it gave out with a body in a coding."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.pages: dict[str, tuple[str, bytes, str]] = {}
        self.accepted: list[str | None] = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def url(self, coding: str, body: bytes, content_type: str = "text/html; charset=utf-8") -> str:
        path = f"/{len(self.pages)}"
        self.pages[path] = coding, body, content_type
        return f"http://127.0.0.1:{self.server_port}{path}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: CodedSite

    def do_GET(self) -> None:
        self.server.accepted.append(self.headers["Accept-Encoding"])
        coding, body, content_type = self.server.pages[self.path]
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Encoding", coding)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass
