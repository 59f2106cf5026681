"""What `hatbox fetch` writes: the response, byte for byte, or as a JSON document."""

from __future__ import annotations

import base64
import codecs
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.output import print_json
from hatbox.cli.terminal.terminal_text import visible
from hatbox.new_files import refuse_foreign

if TYPE_CHECKING:
    import httpx

__all__ = ["STANDARD", "ResponsePrinter"]

STANDARD: Final = "-"
"""The name of standard input or output as a file."""

_SLOW_CHARSETS: Final = frozenset({"punycode", "idna"})  # encodings of host names, which take quadratic time


class ResponsePrinter:
    """Writes a response to the output: a file, or standard output."""

    def __init__(self, *, include: bool, output: str, fail: bool, as_json: bool) -> None:
        self._include = include
        self._output = output
        self._fail = fail
        self._as_json = as_json

    async def print(self, response: httpx.Response) -> None:
        """Write the body as it arrives. Raises CommandError for a status of 400 or above with --fail."""
        if self._fail and response.is_error:
            message = f"{response.url}: {response.status_code} {response.reason_phrase}".rstrip()
            raise CommandError("HttpError", message, details={"status": response.status_code})
        if self._as_json:
            await self._print_document(response)
            return
        with self._sink() as (sink, is_terminal):
            if self._include:
                for each in (*response.history, response):
                    sink.write(_head(each, is_terminal=is_terminal))
            await _copy(response, sink, is_terminal=is_terminal and self._output != STANDARD)

    async def _print_document(self, response: httpx.Response) -> None:
        body = await response.aread()
        document: dict[str, Any] = {
            "status": response.status_code,
            "url": str(response.url),
            "headers": [[name.decode("latin-1"), _readable(value)] for name, value in response.headers.raw],
        }
        if self._output not in ("", STANDARD):
            with self._sink() as (sink, _):
                sink.write(body)
            document["body"] = None
        else:
            document |= _body(body, response.charset_encoding or "utf-8")
        print_json(document, sys.stdout)

    @contextlib.contextmanager
    def _sink(self) -> Iterator[tuple[BinaryIO, bool]]:
        """The stream to write to, and whether it is a terminal."""
        if self._output in ("", STANDARD):
            sys.stdout.flush()
            yield sys.stdout.buffer, sys.stdout.isatty()
            sys.stdout.buffer.flush()
            return
        try:
            refuse_foreign(Path(self._output))
            sink = Path(self._output).open("wb")  # noqa: SIM115 - closed below; only errors of open() are caught
        except OSError as error:
            raise CommandError("FileNotWritable", f"{self._output}: {error.strerror}") from error
        with sink:
            yield sink, False


async def _copy(response: httpx.Response, sink: BinaryIO, *, is_terminal: bool) -> None:
    """Write the body to the sink as it arrives, byte for byte."""
    async for chunk in response.aiter_raw():
        if is_terminal and b"\0" in chunk:
            sink.flush()
            raise CommandError(
                "BinaryOutput",
                "response body is binary. Save it with -o FILE, or print it with -o -",
            )
        sink.write(chunk)


def _head(response: httpx.Response, *, is_terminal: bool) -> bytes:
    """The status line and the headers, unchanged; for a terminal, with control characters escaped."""
    status = f"{response.http_version} {response.status_code} {response.reason_phrase}".rstrip()
    lines = [status.encode("latin-1", "replace"), *(name + b": " + value for name, value in response.headers.raw)]
    if not is_terminal:
        return b"".join(line + b"\r\n" for line in [*lines, b""])
    encoding = sys.stdout.encoding or "utf-8"
    return "".join(visible(_readable(line), encoding) + "\n" for line in [*lines, b""]).encode(encoding)


def _body(body: bytes, charset: str) -> dict[str, str]:
    try:
        if codecs.lookup(charset).name not in _SLOW_CHARSETS:
            return {"body": body.decode(charset)}
    except (UnicodeError, LookupError):
        pass
    return {"body": base64.b64encode(body).decode("ascii"), "encoding": "base64"}


def _readable(header: bytes) -> str:
    try:
        return header.decode()
    except UnicodeDecodeError:
        return header.decode("latin-1")
