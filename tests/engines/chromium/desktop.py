"""A desktop for tests: a window manager and a keyboard. It speaks the X11 protocol, and needs no program but Xvfb.

The window manager does what Chromium expects of any (ICCCM 4.1.4, EWMH): windows that are mapped are shown and focused,
and those that are to be iconified are unmapped and marked as hidden.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import zlib
from types import TracebackType
from typing import Final, Self

_REDIRECT: Final = 0x180000  # SubstructureRedirect and SubstructureNotify
_EVENT_MASK: Final = 0x800
_ATOM, _CARDINAL, _WINDOW = 4, 6, 33
_ICONIC: Final = 3


class _Connection:
    """A connection to an X server without authorization."""

    def __init__(self, display: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(f"/tmp/.X11-unix/X{display.removeprefix(':')}")
        self._socket.sendall(struct.pack("<BxHHHH2x", ord("l"), 11, 0, 0, 0))
        (words,) = struct.unpack("<6xH", self._read(8))
        setup = self._read(4 * words)
        self.new_id, _, vendor, formats = struct.unpack_from("<4xII4xH3xB", setup)
        self.first_key, self.last_key = setup[26:28]
        (self.root,) = struct.unpack_from("<I", setup, 32 + (vendor + 3) // 4 * 4 + 8 * formats)
        self.events: list[bytes] = []

    def send(self, opcode: int, detail: int, body: bytes) -> None:
        body += bytes(-len(body) % 4)
        self._socket.sendall(struct.pack("<BBH", opcode, detail, 1 + len(body) // 4) + body)

    def request(self, opcode: int, detail: int, body: bytes) -> bytes:
        self.send(opcode, detail, body)
        while True:
            message = self.read()
            if message[0] == 1:
                return message
            self.events.append(message)

    def read(self) -> bytes:
        """The next reply, event or error."""
        message = self._read(32)
        return message + self._read(4 * struct.unpack_from("<I", message, 4)[0]) if message[0] == 1 else message

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _read(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            more = self._socket.recv(size - len(data))
            if not more:
                raise EOFError
            data += more
        return data


class WindowManager:
    """Manages the windows of a display while it is entered."""

    def __init__(self, display: str) -> None:
        self._x = _Connection(display)
        self._atoms: dict[str, int] = {}
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        x = self._x
        x.send(2, 0, struct.pack("<III", x.root, _EVENT_MASK, _REDIRECT))
        x.send(1, 0, struct.pack("<IIhhHHHHII", x.new_id, x.root, -1, -1, 1, 1, 0, 2, 0, 0))
        for window in (x.root, x.new_id):
            self._set(window, "_NET_SUPPORTING_WM_CHECK", _WINDOW, x.new_id)
        names = ("_NET_WM_STATE", "_NET_WM_STATE_HIDDEN", "_NET_ACTIVE_WINDOW")
        self._set(x.root, "_NET_SUPPORTED", _ATOM, *map(self._atom, names))
        self._atom("WM_STATE"), self._atom("WM_CHANGE_STATE")
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._x.close()
        self._thread.join()

    def _run(self) -> None:
        with contextlib.suppress(OSError, EOFError):
            while True:
                self._on_event(self._x.events.pop(0) if self._x.events else self._x.read())

    def _on_event(self, event: bytes) -> None:
        code = event[0] & 0x7F
        if code == 20:  # MapRequest
            self._show(*struct.unpack_from("<I", event, 8))
        elif code == 23:  # ConfigureRequest
            window, x, y, width, height, mask = struct.unpack_from("<I4xhhHH2xH", event, 8)
            chosen = [value for bit, value in enumerate((x, y, width, height)) if mask & 1 << bit]
            values = b"".join(struct.pack("<i", value) for value in chosen)
            self._x.send(12, 0, struct.pack("<IH2x", window, mask & 0xF) + values)
        elif code == 33:  # ClientMessage
            window, kind, first = struct.unpack_from("<III", event, 4)
            if kind == self._atom("WM_CHANGE_STATE") and first == _ICONIC:
                self._x.send(10, 0, struct.pack("<I", window))
                self._set(window, "WM_STATE", self._atom("WM_STATE"), _ICONIC, 0)
                self._set(window, "_NET_WM_STATE", _ATOM, self._atom("_NET_WM_STATE_HIDDEN"))
            elif kind == self._atom("_NET_ACTIVE_WINDOW"):
                self._show(window)

    def _show(self, window: int) -> None:
        self._set(window, "WM_STATE", self._atom("WM_STATE"), 1, 0)
        self._set(window, "_NET_WM_STATE", _ATOM)
        self._x.send(8, 0, struct.pack("<I", window))
        self._x.send(42, 1, struct.pack("<II", window, 0))
        self._set(self._x.root, "_NET_ACTIVE_WINDOW", _WINDOW, window)

    def _atom(self, name: str) -> int:
        if name not in self._atoms:
            reply = self._x.request(16, 0, struct.pack("<H2x", len(name)) + name.encode())
            (self._atoms[name],) = struct.unpack_from("<I", reply, 8)
        return self._atoms[name]

    def _set(self, window: int, name: str, kind: int, *values: int) -> None:
        data = struct.pack(f"<{len(values)}I", *values)
        self._x.send(18, 0, struct.pack("<IIIB3xI", window, self._atom(name), kind, 32, len(values)) + data)


class Keyboard:
    """Presses keys, as a user does (the XTEST extension). Characters without Shift, Tab, Return, and F6 as \\f."""

    _NAMED: Final = {"\t": 0xFF09, "\n": 0xFF0D, "\f": 0xFFC3}

    def __init__(self, display: str) -> None:
        self._x = x = _Connection(display)
        self._opcode = x.request(98, 0, struct.pack("<H2x", 5) + b"XTEST")[9]
        count = x.last_key - x.first_key + 1
        reply = x.request(101, 0, struct.pack("<BB2x", x.first_key, count))
        width = reply[1]
        symbols = struct.unpack_from(f"<{width * count}I", reply, 32)
        self._keys = {symbols[place * width]: x.first_key + place for place in reversed(range(count))}

    def type(self, text: str) -> None:
        """Press and release the key of each character."""
        for character in text:
            key = self._keys[self._NAMED.get(character, ord(character))]
            for press in (2, 3):
                self._x.send(self._opcode, 2, struct.pack("<BB2xII8xhh8x", press, key, 0, 0, 0, 0))
        self._x.request(43, 0, b"")  # GetInputFocus: its reply means that all requests are processed

    def close(self) -> None:
        """Close the connection to the display."""
        self._x.close()


class Screen:
    """Takes pictures of a display, as a user sees it."""

    def __init__(self, display: str, width: int = 1200, height: int = 800) -> None:
        self._display = display
        self._size = (width, height)

    def rows(self) -> list[bytes]:
        """The pixels of each row, three bytes (red, green, blue) each."""
        x = _Connection(self._display)
        width, height = self._size
        reply = x.request(73, 2, struct.pack("<IhhHHI", x.root, 0, 0, width, height, 0xFFFFFFFF))  # GetImage
        x.close()
        rows = []
        for start in range(32, 32 + 4 * width * height, 4 * width):
            line, row = reply[start : start + 4 * width], bytearray(3 * width)
            row[0::3], row[1::3], row[2::3] = line[2::4], line[1::4], line[0::4]
            rows.append(bytes(row))
        return rows

    def png(self) -> bytes:
        """The picture as a PNG file."""

        def chunk(kind: bytes, data: bytes) -> bytes:
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        header = struct.pack(">IIBBBBB", *self._size, 8, 2, 0, 0, 0)
        pixels = zlib.compress(b"".join(b"\0" + row for row in self.rows()))
        return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
