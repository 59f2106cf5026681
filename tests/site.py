"""A site on the loopback address with logins, for engines: `with Site() as site: ... site.url("/login", user="Work")`.

It has two names, `127.0.0.1` and `localhost`, which are two sites to a browser. It remembers every request. Whatever it
puts into cookies begins with the name of a user, so it notices by itself when identities are mixed up: see `mixed`.

    /login?user=X      signs X in with an HttpOnly cookie (`keep=3600` makes it last), and goes to /me
    /me                says who is signed in; 401 if nobody is. With `as=X` the test says who it must be
    /logout            ends the session
    /rotate            a new session value; the old one is worth nothing any more, and whoever sends it is in `stale`
    /script?user=X     sets the cookie `script` with document.cookie
    /storage?write=V   writes V to localStorage and IndexedDB (without it: only looks); the title says what is there
    /redirect/N        N redirects, then a page; /redirect/loop has no end
    /go?to=URL         one redirect, `status` says which
    /title/NAME        pages of TITLES, whose titles are written in many ways
    /slow              answers when `released` is set, after 20 s at the latest
    /drip              sends a title, and the rest when `released` is set
    /big               a body without end, until the client closes
    /status/N          answers with this status
    /download          a file
    /popup             window.open and links with target=_blank
    /long              a page to scroll in, with the anchor #end
    /icon              a page with an icon; /icon.png
    /page/N            a plain page with a link to /page/N+1 and one that uses history.pushState
    /form              a form that is posted, and answered with a redirect
    /fields            a form with fields of many kinds, also in shadow roots and in a frame
    /cookies           the Cookie header that came, as text
    /basic             a page for users with a name and a password (RFC 7617): any will do; the title says the name

Any of them takes `set`, a Set-Cookie line, as often as you like.
"""

from __future__ import annotations

import base64
import html
import json
import secrets
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, NamedTuple, Self
from urllib.parse import parse_qs, urlencode, urlsplit

PATIENCE: Final = 20.0
HTML: Final = "text/html; charset=utf-8"
ICON: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)

TITLES: Final[dict[str, tuple[str, bytes, str]]] = {
    # name: content type, body, and the title that a browser shows
    "header": ("text/html; charset=iso-8859-1", b"<title>caf\xe9 \x80</title>", "café €"),
    "meta": ("text/html", b'<meta charset="shift_jis"><title>\x93\xfa\x96{</title>', "日本"),
    "http-equiv": (
        "text/html",
        b'<meta http-equiv="Content-Type" content="text/html; charset=koi8-r"><title>\xed\xc9\xd2</title>',
        "Мир",
    ),
    "bom": ("text/html; charset=windows-1252", b"\xef\xbb\xbf<title>\xe2\x82\xac</title>", "€"),
    "utf-16": ("text/html", "\ufeff<title>ünï</title>".encode("utf-16-be"), "ünï"),
    "undeclared": ("text/html", b"<title>caf\xe9</title>", "café"),
    "utf-8": ("text/html; charset=utf-8", "<title>日本 €</title>".encode(), "日本 €"),
    "broken": ("text/html; charset=utf-8", b"<title>a\xffb</title>", "a\ufffdb"),
    "unknown": ("text/html; charset=nonsense", b"<title>caf\xe9</title>", "café"),
    "entities": (HTML, b"<title>a &amp; b &lt;c&gt; &eacute; &#8364; &copy</title>", "a & b <c> é € ©"),
    "spaces": (HTML, b"<title>\n  one\t two \n\n three  </title>", "one two three"),
    "upper": (HTML, b"<HTML><HEAD><TITLE lang=en>Loud</TITLE>", "Loud"),
    "none": (HTML, b"<p>no title", ""),
    "empty": (HTML, b"<title></title>", ""),
    "open": (HTML, b"<title>never closed", "never closed"),
    "markup": (HTML, b"<title>a <b>b</b></title>", "a <b>b</b>"),
    "twice": (HTML, b"<title>first</title><title>second</title>", "first"),
    "comment": (HTML, b"<!-- <title>no</title> --><title>yes</title>", "yes"),
    "script": (HTML, b"<script>'<title>no</title>'</script><title>yes</title>", "yes"),
    "svg": (HTML, b"<body><svg><title>no</title></svg>", ""),
    "text": ("text/plain", b"<title>no</title>", ""),
    "xhtml": ("application/xhtml+xml", b"<html xmlns='http://www.w3.org/1999/xhtml'><title>x</title></html>", "x"),
}


class Seen(NamedTuple):
    """One request."""

    method: str
    host: str
    path: str
    query: dict[str, str]
    cookies: dict[str, str]
    headers: dict[str, str]
    body: bytes


class Answer(NamedTuple):
    """What comes back for it."""

    body: bytes
    status: int = 200
    content_type: str = HTML
    headers: tuple[tuple[str, str], ...] = ()


class Site:
    """The site, running while it is entered."""

    def __init__(self) -> None:
        self.seen: list[Seen] = []
        """Every request, in the order in which they came."""
        self.mixed: list[str] = []
        """What must not happen: cookies of one user where another one is, or of two at once."""
        self.stale: list[str] = []
        """Session values that were sent after a newer one had been given out."""
        self.released = threading.Event()
        """Lets /slow and /drip go on."""
        self.sent = 0
        """How many bytes of /big went out; `closed` is set when the client had enough."""
        self.closed = threading.Event()
        self.sessions: dict[str, str] = {}
        """The sessions that are good now, and who is signed in with each."""
        self._rotated: set[str] = set()
        self._news = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.site = self
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def url(self, path: str = "/", *, host: str = "127.0.0.1", **query: object) -> str:
        """The address of one of its pages."""
        asked = f"?{urlencode({name.rstrip('_'): each for name, each in query.items()}, doseq=True)}" if query else ""
        return f"http://{host}:{self._server.server_port}{path}{asked}"

    def wait_for(self, path: str, count: int = 1) -> Seen:
        """Wait until a page was asked for so often; in a coroutine, use asyncio.to_thread. Returns the last of them."""
        with self._news:
            came = self._news.wait_for(lambda: len(self.requests(path)) >= count, PATIENCE)
            assert came, f"{path} was asked for {len(self.requests(path))} times and not {count} times"
            return self.requests(path)[count - 1]

    def requests(self, path: str) -> list[Seen]:
        """The requests for one of its pages so far."""
        return [each for each in self.seen if each.path == path]

    def users(self, path: str) -> list[str]:
        """As whom a page was asked for, request by request; empty where nobody was signed in."""
        return [each.cookies.get("session", "").rpartition("-")[0] for each in self.requests(path)]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()

    def see(self, seen: Seen) -> None:
        """Remember a request, and judge it."""
        with self._news:
            self.seen.append(seen)
            owners = {value.rpartition("-")[0] for value in seen.cookies.values() if "-" in value}
            if len(owners) > 1:
                self.mixed.append(f"{seen.path} came with cookies of {sorted(owners)}")
            if (wanted := seen.query.get("as")) and owners - {wanted}:
                self.mixed.append(f"{seen.path} for {wanted} came with cookies of {sorted(owners)}")
            # The browser requests the icon when it likes to: with the cookie of its page, which may be an earlier one.
            if (session := seen.cookies.get("session", "")) in self._rotated and seen.path != "/favicon.ico":
                self.stale.append(session)
            self._news.notify_all()

    def sign_in(self, user: str, old: str = "") -> str:
        """A new session for a user, in the place of an old one."""
        session = f"{user}-{secrets.token_hex(8)}"
        with self._news:
            if self.sessions.pop(old, None):
                self._rotated.add(old)
            self.sessions[session] = user
        return session


# ------------------------------------------------------------------------------------------------------------ pages


def page(title: str, body: str = "", head: str = "", status: int = 200, *cookies: str) -> Answer:
    text = f"<!doctype html><html><head><title>{html.escape(title)}</title>{head}</head><body>{body}</body></html>"
    return Answer(text.encode(), status, headers=tuple(("Set-Cookie", cookie) for cookie in cookies))


def redirect(to: str, *cookies: str, status: int = 302) -> Answer:
    return Answer(b"", status, headers=(("Location", to), *(("Set-Cookie", cookie) for cookie in cookies)))


def login(site: Site, seen: Seen) -> Answer:
    if not (user := seen.query.get("user")):
        return page("Log in", '<form action="/login"><input name="user" id="user"><button>Log in</button></form>')
    keep = f"; Max-Age={seen.query['keep']}" if "keep" in seen.query else ""
    cookie = f"session={site.sign_in(user, seen.cookies.get('session', ''))}; Path=/; HttpOnly; SameSite=Lax{keep}"
    return redirect(f"/me?as={user}" if "as" in seen.query else "/me", cookie)


def me(site: Site, seen: Seen) -> Answer:
    user = site.sessions.get(seen.cookies.get("session", ""))
    if user is None:
        return page("Nobody is signed in", '<a href="/login">Log in</a>', "", 401)
    return page(f"Signed in as {user}", f'<p id="user">{html.escape(user)}</p><a id="again" href="/me">again</a>')


def logout(site: Site, seen: Seen) -> Answer:
    site.sessions.pop(seen.cookies.get("session", ""), None)
    return redirect("/login", "session=; Path=/; Max-Age=0")


def rotate(site: Site, seen: Seen) -> Answer:
    old = seen.cookies.get("session", "")
    user = site.sessions.get(old)
    if user is None:
        return page("This session is over", "", "", 401)
    return page(f"Still {user}", "", "", 200, f"session={site.sign_in(user, old)}; Path=/; HttpOnly; SameSite=Lax")


def script(site: Site, seen: Seen) -> Answer:
    value = f"{seen.query.get('user', 'nobody')}-{secrets.token_hex(4)}"
    return page(
        "Setting", f"<script>document.cookie='script={value}; path=/; max-age=3600';document.title='Set'</script>"
    )


STORAGE = """<p id="local"></p><p id="indexed"></p><script>
const write = %s;
const opening = indexedDB.open("site", 1);
opening.onupgradeneeded = () => opening.result.createObjectStore("kept");
opening.onsuccess = () => {
  const store = opening.result.transaction("kept", "readwrite").objectStore("kept");
  if (write !== null) { localStorage.setItem("kept", write); store.put(write, "kept"); }
  const reading = store.get("kept");
  store.transaction.oncomplete = () => {
    const local = localStorage.getItem("kept") ?? "nothing", indexed = reading.result ?? "nothing";
    document.getElementById("local").textContent = local;
    document.getElementById("indexed").textContent = indexed;
    document.title = "local " + local + ", indexed " + indexed;
  };
};
</script>"""


def storage(site: Site, seen: Seen) -> Answer:
    return page("Storage", STORAGE % json.dumps(seen.query.get("write")))


def chain(site: Site, seen: Seen) -> Answer:
    left = seen.path.rpartition("/")[2]
    if left == "loop":
        return redirect("/redirect/loop")
    number = int(left)
    return redirect(f"/redirect/{number - 1}", f"hop{number}={number}; Path=/") if number else page("The end")


def go(site: Site, seen: Seen) -> Answer:
    return redirect(seen.query["to"], status=int(seen.query.get("status", "302")))


def title(site: Site, seen: Seen) -> Answer:
    content_type, body, _ = TITLES[seen.path.rpartition("/")[2]]
    return Answer(body, content_type=content_type)


def slow(site: Site, seen: Seen) -> Answer:
    site.released.wait(PATIENCE)
    return page("At last")


def status(site: Site, seen: Seen) -> Answer:
    number = int(seen.path.rpartition("/")[2])
    return page(f"{number} {HTTPStatus(number).phrase}", "", "", number)


def download(site: Site, seen: Seen) -> Answer:
    disposition = ("Content-Disposition", 'attachment; filename="file.bin"')
    return Answer(b"some bytes", content_type="application/octet-stream", headers=(disposition,))


def popup(site: Site, seen: Seen) -> Answer:
    return page(
        "Popups",
        '<a id="blank" href="/me" target="_blank">blank</a> '
        '<a id="noopener" href="/me" target="_blank" rel="noopener">noopener</a> '
        '<a id="rel-opener" href="/me" target="_blank" rel="opener">opener</a> '
        """<button id="open" onclick="window.open('/me')">open</button> """
        """<button id="small" onclick="window.open('/me', '', 'popup,width=300,height=200')">small</button> """
        """<button id="empty" onclick="window.other = window.open('about:blank')">empty</button>""",
    )


def long(site: Site, seen: Seen) -> Answer:
    lines = "".join(f'<p id="p{number}" style="height:80px">{number}</p>' for number in range(200))
    return page("Long", f'{lines}<p id="end">end</p>')


def icon(site: Site, seen: Seen) -> Answer:
    return page("Icon", "", '<link rel="shortcut icon" type="image/png" href="/icon.png">')


def picture(site: Site, seen: Seen) -> Answer:
    return Answer(ICON, content_type="image/png")


def numbered(site: Site, seen: Seen) -> Answer:
    number = int(seen.path.rpartition("/")[2])
    push = f"history.pushState({{}}, '', '/page/{number + 100}'); document.title = 'Pushed {number + 100}'"
    return page(
        f"Page {number}",
        f'<a id="next" href="/page/{number + 1}">next</a> <button id="push" onclick="{push}">push</button>',
    )


def form(site: Site, seen: Seen) -> Answer:
    if seen.method == "POST":
        return redirect("/page/1", status=303)
    return page("Form", '<form method="post" action="/form"><input name="text" id="text"><button>Send</button></form>')


FIELDS = """<form><input id="name" name="name"><input name="twin"><input name="twin">
<textarea name="text">old</textarea>
<select name="select"><option>a<option>b<option>c</select><input type="checkbox" name="check" id="check">
<input type="radio" name="radio" value="1" id="one"><input type="radio" name="radio" value="2" id="two">
<input type="date" name="date" id="date"><input type="password" name="first" id="password">
<input name="number" autocomplete="section-a cc-number" id="card"><input autocomplete="one-time-code" id="code">
<input autocomplete="off" id="off"></form><div contenteditable id="editable"></div>
<div id="open"></div><div id="closed"></div><iframe src="/form" name="frame"></iframe>
<script>
for (const mode of ["open", "closed"]) {
  const root = document.getElementById(mode).attachShadow({ mode });
  root.innerHTML = "<input>";
  if (mode === "closed") document.getElementById(mode).onclick = () => root.firstChild.focus();
}
window.inputs = 0;
document.addEventListener("input", () => window.inputs++);
</script>"""


def fields(site: Site, seen: Seen) -> Answer:
    return page("Fields", FIELDS)


def cookies(site: Site, seen: Seen) -> Answer:
    text = "; ".join(f"{name}={value}" for name, value in seen.cookies.items())
    return Answer(text.encode("latin-1"), content_type="text/plain")


def basic(site: Site, seen: Seen) -> Answer:
    scheme, _, encoded = seen.headers.get("authorization", "").partition(" ")
    if scheme != "Basic":
        return Answer(b"<title>Who?</title>", 401, headers=(("WWW-Authenticate", 'Basic realm="Site"'),))
    return page(f"Hello {base64.b64decode(encoded).decode().partition(':')[0]}")


def start(site: Site, seen: Seen) -> Answer:
    return page("Start", '<a id="login" href="/login">Log in</a>')


PAGES: Final[dict[str, Callable[[Site, Seen], Answer]]] = {
    "/": start,
    "/basic": basic,
    "/cookies": cookies,
    "/download": download,
    "/favicon.ico": picture,
    "/fields": fields,
    "/form": form,
    "/go": go,
    "/icon": icon,
    "/icon.png": picture,
    "/login": login,
    "/logout": logout,
    "/long": long,
    "/me": me,
    "/page": numbered,
    "/popup": popup,
    "/redirect": chain,
    "/rotate": rotate,
    "/script": script,
    "/slow": slow,
    "/status": status,
    "/storage": storage,
    "/title": title,
}


# ----------------------------------------------------------------------------------------------------------- server


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    site: Site

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._sockets: set[Any] = set()

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        self._sockets.add(connection)
        return connection, address

    def hang_up(self) -> None:
        for connection in list(self._sockets):
            connection.close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that was killed, or had enough


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def respond(self) -> None:
        site, url = self.server.site, urlsplit(self.path)
        lists = parse_qs(url.query)
        seen = Seen(
            method=self.command,
            host=self.headers["Host"].rpartition(":")[0],
            path=url.path,
            query={name: values[0] for name, values in lists.items()},
            cookies=_cookies("; ".join(self.headers.get_all("Cookie", ()))),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.rfile.read(int(self.headers.get("Content-Length", 0))),
        )
        site.see(seen)
        given = tuple(("Set-Cookie", line) for line in lists.get("set", ()))
        if url.path in ("/big", "/drip"):
            self._stream(site, url.path)
            return
        known = PAGES.get(url.path) or PAGES.get(f"/{url.path.split('/')[1]}")
        answer = known(site, seen) if known else page("404 Not Found", "", "", 404)
        self.send_response(answer.status)
        if answer.body or answer.status == 200:
            self.send_header("Content-Type", answer.content_type)
        for name, value in (*answer.headers, *given):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)

    do_GET = do_POST = do_HEAD = respond  # noqa: N815 - http.server asks for these names

    def _stream(self, site: Site, path: str) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", HTML)
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(b"<title>Without end</title>" if path == "/big" else b"<title>Drip</title>")
        if path == "/drip":
            site.released.wait(PATIENCE)
            self.wfile.write(b"<p>done")
            return
        try:
            while site.sent < 2**30:
                site.sent += self.connection.send(b"x" * 65536)
        except OSError:
            site.closed.set()

    def log_message(self, *_: object) -> None:
        pass


def _cookies(header: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in header.split("; ") if pair)
    return {name: value for name, _, value in pairs}
