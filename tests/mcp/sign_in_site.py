"""A site with a form for signing in, which is as careless as possible with the password: it is in URLs and titles.

The account needs a cookie and an item of localStorage. The form opens popups, with an opener and without.
"""

from __future__ import annotations

from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.threaded_site import ThreadedSite

__all__ = ["SignInSite"]

_FORM = """<title>Sign in</title><form method=post><input name=user autofocus>
<input name=password type=password id=password><button>Sign in</button></form>
<button id=popup onclick="window.open('/popup?secret=' + password.value)">popup</button>
<button id=alone onclick="window.open('/popup?secret=' + password.value, '_blank', 'noopener')">alone</button>
<a id=elsewhere href="ELSEWHERE/popup">elsewhere</a>"""

_WORKER = """self.addEventListener("activate", (event) => event.waitUntil(clients.claim()));
self.addEventListener("fetch", (event) => {
  if (event.request.method !== "POST") return;
  event.waitUntil(event.request.clone().text().then((text) => fetch("/leak?" + text)));
});"""


class SignInSite(ThreadedSite):
    """The site, running while it is entered, on 127.0.0.1 and localhost."""

    def __init__(self) -> None:
        super().__init__(_Handler)
        self.passwords: list[str] = []
        """Every password that was sent."""
        self.paths: list[tuple[str, str]] = []
        """Host and path of every request."""


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        site: SignInSite = self.server.site  # type: ignore[attr-defined]
        url = urlsplit(self.path)
        site.paths.append((self.headers["Host"].partition(":")[0], url.path))
        secret = parse_qs(url.query).get("secret", [""])[0]
        if url.path == "/login":
            self._answer(200, _FORM.replace("ELSEWHERE", site.url("", "localhost")))
        elif url.path == "/welcome":
            self._answer(200, f"<title>{secret}</title><p>{secret}</p><script>localStorage.token = 'local'</script>")
        elif url.path == "/worker.js":
            self._answer(200, _WORKER, {"Content-Type": "text/javascript"})
        elif url.path == "/popup":
            self._answer(200, f"<title>Popup {secret}</title><p>{secret}</p>")
        elif url.path == "/account":
            is_signed_in = "session=in" in self.headers.get("Cookie", "")
            text = f"<h1>{'Hello ann' if is_signed_in else 'Please sign in'}</h1>"
            stored = "<p id=stored></p><script>stored.textContent = 'stored: ' + localStorage.token</script>"
            self._answer(200 if is_signed_in else 401, f"<title>Account</title>{text}{stored}")
        else:
            self._answer(404, "")

    def do_POST(self) -> None:
        site: SignInSite = self.server.site  # type: ignore[attr-defined]
        body = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        password = body["password"][0]
        site.passwords.append(password)
        headers = {"Location": f"/welcome?secret={password}", "Set-Cookie": "session=in; Path=/; HttpOnly"}
        self._answer(303, "", headers)

    def _answer(self, status: int, body: str, headers: dict[str, str] | None = None) -> None:
        data = body.encode()
        self.send_response(status)
        for name, value in ({"Content-Type": "text/html; charset=utf-8"} | (headers or {})).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass
