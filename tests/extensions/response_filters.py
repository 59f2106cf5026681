"""An extension that filters responses, in a real Firefox: `python -m tests.extensions.response_filters` records it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.firefox import Firefox, save_log

HERE = Path(__file__).parent
RECORDING = HERE / "response_filters.firefox.json"
PERMISSIONS = ("webRequest", "webRequestBlocking", "<all_urls>")

_FILTER = """
browser.webRequest.onBeforeRequest.addListener(({requestId}) => {
  const filter = browser.webRequest.filterResponseData(requestId);
  filter.ondata = event => {
    const text = new TextDecoder().decode(event.data).replace("Plain", "Filtered").replace("hello", "HELLO");
    filter.write(new TextEncoder().encode(text));
  };
  filter.onstop = () => { filter.close(); };
}, {urls: ["<all_urls>"], types: %s}, ["blocking"]);
"""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        body = {"/text": b"hello world", "/page": b"<title>Plain</title><p>hello</p>"}.get(path, b"")
        self.send_response(302 if path == "/go" else 200)
        if path == "/go":
            self.send_header("Location", "/text")
        self.send_header("Content-Type", "text/html" if path == "/page" else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def text_site() -> Iterator[str]:
    """A site on loopback with /text, /page, /empty and /go. Yields its origin."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def probe(site: str, settle_ms: int) -> str:
    """The body of the function that the extension runs. It waits so long for listeners to be added."""
    constants = f"const SITE = {json.dumps(site)}, SETTLE_MS = {settle_ms};\n"
    return constants + (HERE / "response_filters_probe.js").read_text("utf-8")


def capitals(types: str) -> str:
    """A background script that filters responses to requests of these types. It listens to no event of responses."""
    return _FILTER % types


def main() -> None:
    with Firefox() as firefox, text_site() as site:
        log = firefox.run(probe(site, 300), permissions=PERMISSIONS, timeout=120)
        save_log(RECORDING, firefox, log)


def recorded() -> dict[str, Any]:
    """What Firefox did, by the name of the case."""
    return dict(json.loads(RECORDING.read_text("ascii"))["log"])


if __name__ == "__main__":
    main()
