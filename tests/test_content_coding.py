from __future__ import annotations

import contextlib
import gzip
import tracemalloc
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.content_coding import BodyTooLarge, ContentCodingError, ContentDecoder, accept_encoding
from tests.coded_site import BOMB_BYTES, gzip_bomb

ENCODE: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:]),
    "deflate": zlib.compress,
}


def encode(coding: str, data: bytes) -> bytes:
    if coding == "br":
        data = pytest.importorskip("brotli", minversion="1.2").compress(data, quality=5)
    elif coding == "zstd":
        data = pytest.importorskip("backports.zstd").compress(data)
    else:
        data = ENCODE[coding](data)
    return data


def decoded(coding: str, body: bytes, most_bytes: int | None = None, chunk: int = 1000) -> bytes:
    decoder = ContentDecoder(coding, most_bytes)
    return b"".join(
        piece for start in range(0, len(body), chunk) for piece in decoder.decode(body[start : start + chunk])
    )


@pytest.mark.parametrize("size", [0, 1, 200, 65536, pytest.param(3_000_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "br", "zstd"])
def test_what_was_encoded_is_decoded(coding: str, size: int) -> None:
    data = bytes(number * number % 251 for number in range(size))
    body = encode(coding, data)
    assert decoded(coding, body) == data
    assert decoded(coding.upper() + ", identity", body, chunk=10_000_000) == data
    assert decoded(f"gzip, {coding}", encode(coding, gzip.compress(data))) == data


@given(st.binary(max_size=3000), st.integers(1, 50), st.sampled_from([["gzip"], ["deflate"], ["gzip", "deflate"]]))
def test_the_parts_in_which_a_body_comes_do_not_matter(data: bytes, chunk: int, codings: list[str]) -> None:
    body = data
    for coding in codings:
        body = ENCODE[coding](body)
    assert decoded(", ".join(codings), body, chunk=chunk) == data


@given(st.binary(), st.sampled_from(["gzip", "deflate", "gzip, deflate"]))
def test_any_bytes_are_decoded_or_refused(body: bytes, coding: str) -> None:
    with contextlib.suppress(ContentCodingError):
        decoded(coding, body)


def test_raw_deflate_is_decoded_too() -> None:
    raw = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    assert decoded("deflate", raw.compress(b"x" * 5000) + raw.flush()) == b"x" * 5000


@pytest.mark.parametrize("coding", ["", "identity", "aws-chunked", "utf-8"])
def test_what_is_no_coding_changes_nothing(coding: str) -> None:
    assert decoded(coding, b"body") == b"body"


def test_three_codings_are_refused() -> None:
    with pytest.raises(ContentCodingError, match="encoded 3 times"):
        ContentDecoder("gzip, gzip, gzip")


@pytest.mark.parametrize(("coding", "times"), [("gzip", 1), ("gzip, gzip", 2)])
def test_no_more_is_decoded_than_a_limit_allows(coding: str, times: int) -> None:
    bomb = gzip_bomb(times)
    tracemalloc.start()
    try:
        decoder = ContentDecoder(coding, most_bytes=1_000_000)
        with pytest.raises(BodyTooLarge):
            for _ in decoder.decode(bomb):
                pass
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize("coding", ["br", "zstd"])
def test_other_codings_keep_to_the_limit_as_well(coding: str) -> None:
    bomb = encode(coding, bytes(64 << 20))
    with pytest.raises(BodyTooLarge):
        for piece in ContentDecoder(coding, most_bytes=1_000_000).decode(bomb):
            assert len(piece) < 1 << 20


def test_output_that_the_next_coding_swallows_counts_too() -> None:
    nothing = gzip.compress(b"")
    swallowed = gzip.compress(nothing * 100_000)
    with pytest.raises(BodyTooLarge):
        for _ in ContentDecoder("gzip, gzip", most_bytes=100_000).decode(swallowed):
            pass
    with pytest.raises(BodyTooLarge):
        decoded("gzip", nothing * 10_000, most_bytes=100_000)


@pytest.mark.slow
def test_without_a_limit_one_coding_is_decoded_whole_and_a_nested_bomb_is_not() -> None:
    assert sum(map(len, ContentDecoder("gzip").decode(gzip_bomb(1)))) == BOMB_BYTES
    with pytest.raises(BodyTooLarge):
        for _ in ContentDecoder("gzip, gzip").decode(gzip_bomb(2)):
            pass


def test_only_codings_that_can_be_decoded_are_asked_for() -> None:
    assert accept_encoding().split(", ")[:2] == ["gzip", "deflate"]
    for coding in ("br", "zstd", "compress"):
        if coding not in accept_encoding().split(", "):
            with pytest.raises(ContentCodingError, match=coding):
                ContentDecoder(coding)
