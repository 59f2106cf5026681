"""Decodes Content-Encoding (RFC 9110, 8.4) within a limit. Knows no client and makes no request.

A server chooses how far a body expands: 271 bytes of nested gzip are 1.5 GB. So each coding produces its output in
chunks, on demand, and all output counts towards the limit, also that between two codings.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Final, Protocol

from hatbox.errors import HatboxError

__all__ = ["BodyTooLarge", "ContentCodingError", "ContentDecoder", "accept_encoding", "check_expansion", "codings_of"]

_MOST_CODINGS: Final = 2
_PIECE: Final = 1 << 14  # bytes of input, and of output, of a coding at a time
_ALWAYS: Final = 64 << 20  # bytes that a body may always have if there is no limit
_RATIO: Final = 1100  # gzip expands by 1032 at most
_ZSTD_WINDOW_LOG: Final = 23  # 8 MB, the largest window on the web (RFC 9659)


class ContentCodingError(HatboxError):
    """A body cannot be decoded: it is damaged, in a coding that is not supported, or in more than two."""


class BodyTooLarge(ContentCodingError):
    """The decoded body is larger than the limit."""


class ContentDecoder:
    """Decodes one body. `most_bytes` is the limit of the encoded and of the decoded size.

    Without a limit, the size is up to the server, but nested codings cannot multiply it: from 64 MB on, a body may
    expand at most as far as one gzip coding can.
    """

    def __init__(self, content_encoding: str, most_bytes: int | None = None) -> None:
        self._stages: Sequence[_Coding] = [_codings()[name]() for name in reversed(codings_of(content_encoding))]
        self._made = [0] * len(self._stages)
        self._most_bytes = most_bytes
        self._received = 0

    def decode(self, data: bytes) -> Iterator[bytes]:
        """Decode the next bytes of the body. Consume the chunks before the next call."""
        self._received += len(data)
        self._check(self._received)
        for start in range(0, len(data), _PIECE):
            yield from self._through(0, data[start : start + _PIECE])

    def _through(self, stage: int, data: bytes) -> Iterator[bytes]:
        if stage == len(self._stages):
            yield data
            return
        for piece in self._stages[stage].pieces(data):
            self._made[stage] += len(piece)
            self._check(self._made[stage])
            yield from self._through(stage + 1, piece)

    def _check(self, size: int) -> None:
        if self._most_bytes is None:
            check_expansion(self._received, size)
        elif size > self._most_bytes:
            raise BodyTooLarge(f"the body is larger than {self._most_bytes} bytes")


def check_expansion(received: int, decoded: int) -> None:
    """Raise BodyTooLarge if a large body expands further than one gzip coding can."""
    if decoded > max(_ALWAYS, _RATIO * received):
        raise BodyTooLarge(f"{received} bytes of the body expand to more than {_RATIO} times as much")


def codings_of(content_encoding: str) -> list[str]:
    """The codings that the header names, in the order in which they were applied; ContentCodingError if too many.

    Names without an effect, such as `identity` and `aws-chunked`, are ignored.
    """
    names = [name for each in content_encoding.split(",") if (name := each.strip().lower()) in _codings()]
    if len(names) > _MOST_CODINGS:
        raise ContentCodingError(f"the body is encoded {len(names)} times; at most {_MOST_CODINGS} codings are decoded")
    return names


class _Coding(Protocol):
    def pieces(self, data: bytes) -> Iterator[bytes]:
        """Decode these bytes, in chunks of at most `_PIECE` bytes."""


class _Gzip:
    """gzip: one or more members. Data after the last member is ignored, as in browsers."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(zlib.MAX_WBITS | 16)
        self._is_over = False

    def pieces(self, data: bytes) -> Iterator[bytes]:
        while data and not self._is_over:
            if self._inner.eof:
                self._inner = zlib.decompressobj(zlib.MAX_WBITS | 16)
                if data[0] != 0x1F:
                    self._is_over = True
                    return
            yield from _inflated(self._inner, data)
            data = self._inner.unused_data


class _Deflate:
    """deflate, with or without the zlib header: servers send both."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj()
        self._is_first = True

    def pieces(self, data: bytes) -> Iterator[bytes]:
        if self._is_first:
            self._is_first = False
            try:
                zlib.decompressobj().decompress(data, 1)
            except zlib.error:
                self._inner = zlib.decompressobj(-zlib.MAX_WBITS)
        if not self._inner.eof:
            yield from _inflated(self._inner, data)


def _inflated(inner: Any, data: bytes) -> Iterator[bytes]:
    try:
        while data and not inner.eof:  # at the end the rest is in unused_data
            if piece := inner.decompress(data, _PIECE):
                yield piece
            data = inner.unconsumed_tail
        while not inner.eof and (piece := inner.decompress(b"", _PIECE)):  # output that did not fit into the last chunk
            yield piece
    except zlib.error as error:
        raise ContentCodingError(f"the body is damaged ({error})") from error


class _Brotli:
    def __init__(self, library: Any) -> None:
        self._inner = library.Decompressor()
        self._error = library.error

    def pieces(self, data: bytes) -> Iterator[bytes]:
        try:
            while not self._inner.is_finished():
                piece = self._inner.process(data, output_buffer_limit=_PIECE)
                data = b""
                if not piece:
                    return
                yield piece
        except self._error as error:
            raise ContentCodingError(f"the body is damaged ({error})") from error


class _Zstandard:
    """zstd: one or more frames."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._inner = self._frame()

    def pieces(self, data: bytes) -> Iterator[bytes]:
        try:
            while True:
                if self._inner.eof:
                    if not data:
                        return
                    self._inner = self._frame()
                piece = self._inner.decompress(data, _PIECE)
                data = self._inner.unused_data if self._inner.eof else b""
                if piece:
                    yield piece
                if self._inner.needs_input and not self._inner.eof:
                    return
        except self._library.ZstdError as error:
            raise ContentCodingError(f"the body is damaged ({error})") from error

    def _frame(self) -> Any:
        parameter = self._library.DecompressionParameter.window_log_max
        return self._library.ZstdDecompressor(options={parameter: _ZSTD_WINDOW_LOG})


def _brotli() -> Callable[[], _Coding] | None:
    """Brotli, if the installed library can limit its output: from 1.2 on."""
    for name in ("brotli", "brotlicffi"):
        library = _imported(name)
        if library is not None and hasattr(library.Decompressor, "can_accept_more_data"):
            return lambda: _Brotli(library)
    return None


def _zstandard() -> Callable[[], _Coding] | None:
    """Zstandard, if Python (3.14) or its backport has it. The package zstandard cannot limit its output."""
    for name in ("compression.zstd", "backports.zstd"):
        if (library := _imported(name)) is not None:
            return lambda: _Zstandard(library)
    return None


def _imported(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        return None


def _missing(name: str) -> Callable[[], _Coding]:
    def refuse() -> _Coding:
        raise ContentCodingError(f"the body is encoded as {name}, which was not requested")

    return refuse


@cache
def _found() -> dict[str, Callable[[], _Coding] | None]:
    """The codings that can be decoded here. Libraries are imported only now: not each time a program starts."""
    return {"gzip": _Gzip, "deflate": _Deflate, "br": _brotli(), "zstd": _zstandard()}


@cache
def _codings() -> dict[str, Callable[[], _Coding]]:
    names = (*_found().items(), ("x-gzip", _Gzip), ("compress", None))
    return {name: make or _missing(name) for name, make in names}


def accept_encoding() -> str:
    """The value of Accept-Encoding: the codings that can be decoded within a limit."""
    return ", ".join(name for name, make in _found().items() if make is not None)
