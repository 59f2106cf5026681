from __future__ import annotations

import io
import random
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.archive import block_file
from hatbox.archive.block_file import BlockReader, BlockWriter
from hatbox.errors import ArchiveDamaged, ArchiveError

BLOCKS = [(1, b"manifest"), (2, b"a" * 500), (2, b""), (9, random.Random(1).randbytes(300)), (2, bytes(100_000))]


def written(blocks: list[tuple[int, bytes]]) -> tuple[bytes, list[int]]:
    """A file, and the ends of its blocks."""
    file, ends = io.BytesIO(), []
    writer = BlockWriter(file)
    for block in blocks:
        ends.append(file.tell())
        writer.write(*block)
    ends.append(file.tell())
    writer.finish()
    return file.getvalue(), ends


def read(data: bytes) -> list[tuple[int, bytes]]:
    return [*BlockReader(io.BytesIO(data), "file").blocks()]


def test_blocks_are_read_as_they_were_written() -> None:
    data, _ = written(BLOCKS)
    assert read(data) == BLOCKS
    assert data.startswith(b"hatbox archive 2\n")


@given(st.lists(st.tuples(st.integers(1, 255), st.binary(max_size=2000))))
def test_any_blocks_are_read_as_they_were_written(blocks: list[tuple[int, bytes]]) -> None:
    assert read(written(blocks)[0]) == blocks


def test_every_changed_byte_is_refused() -> None:
    data, _ = written(BLOCKS[:4])
    for place in range(len(data)):
        for bit in (1, 128):
            with pytest.raises(ArchiveError):
                read(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])


def test_a_truncated_or_extended_file_is_refused() -> None:
    data, ends = written(BLOCKS)
    for end in {*ends, *(end + 1 for end in ends), *(end - 1 for end in ends), *range(60), len(data) - 1}:
        with pytest.raises(ArchiveDamaged):
            read(data[:end])
    for more in (b"\0", b"\n", data):
        with pytest.raises(ArchiveDamaged, match="continues after its end"):
            read(data + more)


def test_blocks_cannot_be_removed_repeated_or_exchanged() -> None:
    data, ends = written(BLOCKS[:4])
    start, *parts = [data[a:b] for a, b in zip([0, *ends], [*ends, len(data)], strict=True)]
    assert start + b"".join(parts) == data
    for changed in (parts[1:], [parts[0], *parts], [parts[1], parts[0], *parts[2:]], parts[-1:]):
        with pytest.raises(ArchiveDamaged):
            read(start + b"".join(changed))


@given(st.binary(max_size=300), st.integers(0, 200))
def test_garbage_is_refused(garbage: bytes, end: int) -> None:
    for data in (garbage, written(BLOCKS)[0][:end] + garbage):
        with pytest.raises(ArchiveError):
            read(data)


def crafted(header: tuple[int, int, int, int], stored: bytes) -> bytes:
    """A file with one block, whose checksums are right."""
    file = io.BytesIO()
    writer = BlockWriter(file)
    writer._write(struct.pack(">BBII", *header), stored)
    writer.finish()
    return file.getvalue()


@pytest.mark.slow
def test_a_small_file_cannot_expand_to_fill_the_memory() -> None:
    bomb = zlib.compress(bytes(50_000_000), 9)
    for size in (50_000_000, len(bomb) * 100, 2**32 - 1, len(bomb)):
        with pytest.raises(ArchiveDamaged, match="invalid size"):
            read(crafted((2, 1, len(bomb), size), bomb))
    assert read(crafted((2, 1, len(zlib.compress(b"ab" * 20)), 40), zlib.compress(b"ab" * 20))) == [(2, b"ab" * 20)]


def test_what_compresses_too_well_is_stored_as_it_is() -> None:
    data, _ = written([(2, bytes(100_000))])
    assert len(data) > 100_000
    assert len(written([(2, b"name=value; " * 5000)])[0]) > 60_000 / block_file._MAX_RATIO


@pytest.mark.parametrize(
    "header", [(2, 2, 3, 3), (2, 0, 3, 4), (2, 0, 4, 3), (2, 1, 3, 3), (0, 0, 3, 3), (2, 0, 2**31, 2**31)]
)
def test_crafted_headers_are_refused(header: tuple[int, int, int, int]) -> None:
    with pytest.raises(ArchiveDamaged):
        read(crafted(header, b"abc"))


@pytest.mark.slow
def test_a_large_block_has_its_size_in_the_file() -> None:
    large = b"large " * (2**25 // 6 + 1)
    data, _ = written([(1, large)])
    assert len(data) > len(large)
    assert read(data) == [(1, large)]
    stored = zlib.compress(bytes(range(256)) * (2**17 + 1), 1)
    stored += random.Random(1).randbytes(2**19)
    with pytest.raises(ArchiveDamaged, match="compressed block"):
        read(crafted((1, 1, len(stored), 256 * (2**17 + 1)), stored))
