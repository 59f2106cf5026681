"""A proxy and a web server on the loopback address that record every connection: who came through the proxy, who not.

The proxy speaks HTTP (plain and CONNECT) and SOCKS 5 on one port, with or without credentials, also inside of TLS.
Whatever host a client names, the proxy connects to the web server. It can also refuse, hang, or drop connections.
"""

from __future__ import annotations

import base64
import contextlib
import datetime
import ipaddress
import selectors
import socket
import ssl
import threading
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self

UP, REFUSES, HANGS, DROPS = "up", "refuses", "hangs", "drops"
MODES: Final = (UP, REFUSES, HANGS, DROPS)
USER, PASSWORD = "user", "s3cr3t/pass:word"

_PAGE: Final = b"<title>Recorded</title>"


class Asked(NamedTuple):
    """A request to the proxy."""

    kind: str
    """GET (or another method), CONNECT or SOCKS."""
    target: str
    """The host and port that were named."""
    is_name: bool
    """Whether the host was sent as a name; a SOCKS client could also have resolved it."""
    authorized: bool


class _Listener:
    """A thread that accepts connections, each served by a thread of its own."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port: int = self._socket.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept)

    def serve(self, connection: socket.socket) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._accepting.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._accepting.join()
        with self._lock:
            for each in self._open:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                thread = threading.Thread(target=self._run, args=(connection,))
                self._threads.append(thread)
                with self._lock:
                    self._open.add(connection)
                thread.start()

    def _run(self, connection: socket.socket) -> None:
        used = connection
        with contextlib.suppress(OSError, ValueError, EOFError):
            if self._tls is not None:
                used = self._tls.wrap_socket(connection, server_side=True)
                with self._lock:
                    self._open.discard(connection)
                    self._open.add(used)
            self.serve(used)
        with self._lock:
            self._open.discard(connection)
            self._open.discard(used)
        used.close()
        connection.close()


class RecordingSite(_Listener):
    """Answers every request with a small page. `peers` are the ports from which connections came."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(tls)
        self.peers: list[int] = []
        self.requests: list[dict[str, str]] = []
        self.last_peer = 0
        """The port from which the last request came."""

    def serve(self, connection: socket.socket) -> None:
        reader = connection.makefile("rb")
        while line := reader.readline():
            headers = {"": line.decode("latin-1").strip()} | _headers(reader)
            self.last_peer = connection.getpeername()[1]
            reader.read(int(headers.get("content-length", 0)))
            self.requests.append(headers)
            location = "/landed" if "/redirect" in headers[""] else ""
            status = b"302 Found" if location else b"200 OK"
            extra = f"Location: {location}\r\n".encode() if location else b""
            connection.sendall(
                b"HTTP/1.1 %b\r\nContent-Type: text/html\r\n%bContent-Length: %d\r\n\r\n%b"
                % (status, extra, len(_PAGE), _PAGE)
            )

    def _run(self, connection: socket.socket) -> None:
        self.peers.append(connection.getpeername()[1])
        super()._run(connection)


class RecordingProxy(_Listener):
    """`plain` and `secure` are the ports of the web servers behind it, for HTTP and for TLS."""

    def __init__(
        self, plain: int, secure: int, mode: str = UP, *, locked: bool = False, tls: ssl.SSLContext | None = None
    ) -> None:
        super().__init__(tls)
        self._plain, self._secure, self.mode, self._locked = plain, secure, mode, locked
        self.asked: list[Asked] = []
        self.ports: set[int] = set()
        """The ports from which the proxy has connected to the web servers."""

    def url(self, scheme: str) -> str:
        user = f"{USER}:{PASSWORD.replace('/', '%2F').replace(':', '%3A')}@" if self._locked else ""
        return f"{scheme}://{user}127.0.0.1:{self.port}"

    def serve(self, connection: socket.socket) -> None:
        reader = connection.makefile("rb", buffering=0)  # what follows a CONNECT belongs to the tunnel
        first = reader.read(1) or b""
        if first == b"\x05":
            self._socks(connection, reader)
        elif first:
            self._http(connection, first, reader)

    def _http(self, connection: socket.socket, first: bytes, reader: socket.SocketIO) -> None:
        lines = _head(first, reader)
        method, target, _ = lines[0].split(" ")
        headers = dict(_field(line) for line in lines[1:])
        wanted = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        authorized = headers.pop("proxy-authorization", None) == wanted
        place = target if method == "CONNECT" else target.split("/")[2]
        self.asked.append(Asked(method, place, not place[0].isdigit(), authorized))
        if self.mode == HANGS:
            _wait_for_end(connection)
        elif self.mode == REFUSES or (self._locked and not authorized):
            status = b"407 Unauthorized" if self.mode != REFUSES else b"403 Forbidden"
            connection.sendall(b"HTTP/1.1 %b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status)
        elif method == "CONNECT":
            connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            self._tunnel(connection, self._secure if place.endswith(f":{self._secure}") else self._plain)
        elif self.mode == DROPS:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        else:
            path = "/" + target.split("/", 3)[3]
            kept = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            self._tunnel(connection, self._plain, f"{method} {path} HTTP/1.1\r\n{kept}\r\n".encode("latin-1"))

    def _socks(self, connection: socket.socket, reader: socket.SocketIO) -> None:
        methods = _exactly(reader, _exactly(reader, 1)[0])
        authorized = False
        if self._locked and 2 in methods:
            connection.sendall(b"\x05\x02")
            _exactly(reader, 1)
            user = _exactly(reader, _exactly(reader, 1)[0])
            password = _exactly(reader, _exactly(reader, 1)[0])
            authorized = (user, password) == (USER.encode(), PASSWORD.encode())
            connection.sendall(b"\x01\x00" if authorized else b"\x01\x01")
        else:
            connection.sendall(b"\x05\xff" if self._locked else b"\x05\x00")
        _, _, _, kind = _exactly(reader, 4)
        host = _exactly(reader, _exactly(reader, 1)[0] if kind == 3 else 4 if kind == 1 else 16)
        port = int.from_bytes(_exactly(reader, 2))
        name = host.decode() if kind == 3 else str(ipaddress.ip_address(host))
        self.asked.append(Asked("SOCKS", f"{name}:{port}", kind == 3, authorized))
        if self.mode == HANGS:
            _wait_for_end(connection)
        elif self.mode == REFUSES or (self._locked and not authorized):
            connection.sendall(b"\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00")
        else:
            connection.sendall(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
            self._tunnel(connection, self._secure if port == self._secure else self._plain)

    def _tunnel(self, connection: socket.socket, port: int, head: bytes = b"") -> None:
        if self.mode == DROPS:
            connection.recv(16)  # the client has begun to speak
            return
        with socket.create_connection(("127.0.0.1", port)) as there:
            self.ports.add(there.getsockname()[1])
            there.sendall(head)
            _pass_on(connection, there)


def certificate(folder: Path) -> tuple[ssl.SSLContext, Path]:
    """The context of a server for 127.0.0.1 and site.test, and the file with its certificate."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "site.test")])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("site.test"), x509.IPAddress(ipaddress.IPv4Address("127.0.0.1"))]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    file, secret = folder / "site.pem", folder / "site.key"
    file.write_bytes(built.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, secret)
    return context, file


def _head(first: bytes, reader: socket.SocketIO) -> list[str]:
    data = bytearray(first)
    while not data.endswith(b"\r\n\r\n"):
        data += _exactly(reader, 1)
    return data.decode("latin-1").split("\r\n")[:-2]


def _headers(reader: object) -> dict[str, str]:
    found: dict[str, str] = {}
    while (line := reader.readline().decode("latin-1").strip()) != "":  # type: ignore[attr-defined]
        name, value = _field(line)
        found[name] = value
    return found


def _field(line: str) -> tuple[str, str]:
    name, _, value = line.partition(":")
    return name.lower(), value.strip()


def _exactly(reader: socket.SocketIO, count: int) -> bytes:
    data = b""
    while len(data) < count:
        if not (more := reader.read(count - len(data))):
            raise EOFError
        data += more
    return data


def _wait_for_end(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with selectors.DefaultSelector() as ready:
        ready.register(one, selectors.EVENT_READ, other)
        ready.register(other, selectors.EVENT_READ, one)
        while True:
            for key, _ in ready.select():
                source, target = key.fileobj, key.data
                data = source.recv(65536)  # type: ignore[union-attr]
                if not data:
                    return
                target.sendall(data)
                while isinstance(source, ssl.SSLSocket) and source.pending():
                    target.sendall(source.recv(65536))
