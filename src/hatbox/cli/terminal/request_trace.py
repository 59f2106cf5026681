"""What `hatbox fetch --verbose` prints to standard error: connections, and the headers of requests and responses.

Values of cookies and credentials are replaced: this output is pasted into bug reports.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

from hatbox.cli.terminal.output import print_line
from hatbox.cli.terminal.terminal_text import without_passwords

__all__ = ["masked_header", "trace_request"]

_CREDENTIALS: Final = frozenset({b"authorization", b"proxy-authorization"})


async def trace_request(event: str, info: Mapping[str, Any]) -> None:
    """Print an event of httpcore's trace extension."""
    if event == "connection.connect_tcp.started":
        _print(f"* Connecting to {info['host']}:{info['port']}")
    elif event.endswith("send_request_headers.started"):
        request = info["request"]
        _print(f"> {request.method.decode('ascii')} {_text(request.url.target)} {_protocol(event)}")
        _print_headers(">", request.headers)
    elif event.endswith("receive_response_headers.complete"):
        _print_response(event, info["return_value"])
    elif event.endswith(".failed") and event.startswith("connection."):
        _print(f"* Failed: {info.get('exception')}")


def masked_header(name: bytes, value: bytes) -> str:
    """A header as text, without the values of cookies and credentials."""
    kind = name.lower()
    text = _text(value)
    if kind == b"cookie":
        text = re.sub(r"=[^;]*", "=…", text)
    elif kind == b"set-cookie":
        text = re.sub(r"^([^=;]*=)[^;]*", r"\1…", text)
    elif kind in _CREDENTIALS:
        text = f"{text.partition(' ')[0]} …"
    return f"{_text(name)}: {text}"


def _print_response(event: str, answer: Any) -> None:
    if "http2" in event:
        status, headers = answer
        _print(f"< HTTP/2 {status}")
    else:
        version, status, reason, headers, *_ = answer
        _print(f"< {_text(version)} {status} {_text(reason)}".rstrip())
    _print_headers("<", headers)


def _print_headers(mark: str, headers: Iterable[tuple[bytes, bytes]]) -> None:
    for name, value in headers:
        _print(f"{mark} {masked_header(name, value)}")
    _print(mark)


def _protocol(event: str) -> str:
    return "HTTP/2" if "http2" in event else "HTTP/1.1"


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _print(line: str) -> None:
    print_line(without_passwords(line), sys.stderr)
