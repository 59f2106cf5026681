"""Damage in a write-ahead log, found in its bytes alone. Knows the file format of SQLite, and no table.

SQLite reads a log up to the first frame that does not match its checksum and ignores the rest. That is right for a tail
that a crash has torn, and silent loss of commits where a byte in the middle has changed. With `synchronous = FULL` a
transaction is written only after the one before it has reached the disk. A frame that was appended to a later commit
therefore proves that the bad frame was once valid: this is damage, and SQLite must not open the file.

A change in the newest transaction looks like a torn tail. It is reported only while the log's index (`-shm`) survives,
which names the last commit: after the end of a process it does, after a power cut it does not.

SQLite also reads a log beside any database that has its name, such as an older copy that was put there: the result is a
mixture of both. So the logs of a profile are numbered. The first commit of a log writes the next number into the first
page, which reaches the database with a checkpoint. A database belongs to a log if it has the number before the first
one, or one that the log has.
"""

from __future__ import annotations

import contextlib
import itertools
import struct
import sys
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final, Literal, NamedTuple, TypeAlias

from hatbox.store.sqlite.schema import next_log, number_of_log

if sys.platform != "win32":
    import fcntl

__all__ = ["Commits", "LoggedPage", "commits_in", "committed_pages", "damage_in"]

_Order: TypeAlias = Literal["little", "big"]
_Checksum: TypeAlias = tuple[int, int]

_MAGIC: Final[dict[int, _Order]] = {0x377F0682: "little", 0x377F0683: "big"}
_VERSION: Final = 3007000
_PAGE_SIZES: Final = tuple(2**power for power in range(9, 17))
_HEADER: Final = struct.Struct(">III4x8sII")  # magic, version, page size, (checkpoint number,) salts, checksum
_FRAME: Final = struct.Struct(">II8sII")  # page, size of the database after a commit or 0, salts, checksum
_INDEX: Final = struct.Struct("=I8xBBHI4xII8sII")  # version, initialised, order, page size, frames, checksums, salts
_INDEX_SUMMED: Final = 40
_USER_VERSION: Final = 60  # its offset in the first page
_CHUNK: Final = 4 * 2**20
_WRITE_AND_CHECKPOINT: Final = (2, 120)  # locks of SQLite: how many, and the first of their bytes in the index


class _Format(NamedTuple):
    """The properties that all frames of a log share."""

    order: _Order
    page_size: int
    salts: bytes


class LoggedPage(NamedTuple):
    """A page in the log: its number in the database, where its bytes start, and whether they match their checksum."""

    number: int
    offset: int
    valid: bool


class Commits(NamedTuple):
    """The commits of a log, as a checkpoint would write them into the database."""

    page_size: int
    size: int
    """Of the database, in pages."""
    pages: dict[int, int]
    """Where in the log the newest bytes of each page start."""


class _Frame(NamedTuple):
    page: int
    size: int
    """Of the database after this commit, in pages; 0 if it is not the last frame of a commit."""
    valid: bool
    """Whether it has the salts of this log, so is not an older frame from before a restart of the log, and was appended
    to the frame before it."""
    stored: _Checksum
    computed: _Checksum
    """From the frame's bytes and the checksum that is stored in the frame before it."""


class _Index(NamedTuple):
    """The newest commit according to the index."""

    frames: int
    checksum: _Checksum
    salts: bytes


class _Findings(NamedTuple):
    log: _Format
    seed: _Checksum
    damage: str | None
    committed: int
    """How many frames belong to commits; behind damage, those of commits that were lost are counted too."""


def damage_in(path: Path) -> str | None:
    """Describe the damage of a database's log ("has a damaged …"); None if SQLite reads it to its last commit.

    Only for a database that this process does not have open: it is read with an ordinary descriptor. A program that
    reads it does not matter. While one writes, the answer is None.
    """
    wal = path.with_name(f"{path.name}-wal")
    try:
        with _no_writer(path) as is_still, wal.open("rb") as file:
            if not is_still:
                return None
            found = _inspect(file, wal)
            if found is None or found.damage:
                return found and found.damage
            versions = list(_user_versions(file, found))
    except FileNotFoundError:
        return None
    with path.open("rb") as database:
        own = _user_version_at(database, 0)
    if not versions or number_of_log(own) in (number_of_log(each) for each in versions):
        return None
    if number_of_log(next_log(own)) == number_of_log(versions[0]):
        return None
    return (
        f"is not the file that its write-ahead log {wal.name} was written for: one of them was replaced, as by an "
        f"older copy. To use the file without the log, move {wal.name} away"
    )


@contextlib.contextmanager
def _no_writer(path: Path) -> Iterator[bool]:
    """Lock the log against writers, which lock a byte of its index; yields whether that succeeded."""
    with contextlib.ExitStack() as stack:
        is_locked = True
        with contextlib.suppress(OSError):  # no program has opened it, or the index belongs to another user
            index = stack.enter_context(path.with_name(f"{path.name}-shm").open("rb"))
            if sys.platform != "win32":
                is_locked = _try_lock(index)
        yield is_locked


def _try_lock(index: BinaryIO) -> bool:
    try:
        fcntl.lockf(index, fcntl.LOCK_SH | fcntl.LOCK_NB, *_WRITE_AND_CHECKPOINT)
    except OSError:
        return False
    return True


def _user_versions(file: BinaryIO, found: _Findings) -> Iterator[int]:
    """The values that the commits of a log have written into the first page of the database."""
    for number in range(found.committed):
        offset = _HEADER.size + number * (_FRAME.size + found.log.page_size)
        file.seek(offset)
        if file.read(4) == b"\0\0\0\1":
            yield _user_version_at(file, offset + _FRAME.size)


def _user_version_at(file: BinaryIO, page: int) -> int:
    file.seek(page + _USER_VERSION)
    return int.from_bytes(file.read(4), "big")


def committed_pages(wal: Path) -> tuple[int, list[LoggedPage]]:
    """The size of a page, and every page that a commit has written to the log, the oldest first; also behind damage.

    Only for a log that no process has open.
    """
    try:
        with wal.open("rb") as file:
            found = _inspect(file, wal)
            if found is None:
                return 0, []
            frames = itertools.islice(_frames(file, found.log, found.seed), found.committed)
            first, stride = _HEADER.size + _FRAME.size, _FRAME.size + found.log.page_size
            pages = [LoggedPage(frame.page, first + n * stride, frame.valid) for n, frame in enumerate(frames)]
            return found.log.page_size, pages
    except FileNotFoundError:
        return 0, []


def commits_in(file: BinaryIO) -> Commits | None:
    """The commits that SQLite reads from a log, which ends for it at the first invalid frame; None without any."""
    header = file.read(_HEADER.size)
    log = _format_of(header) if len(header) == _HEADER.size else None
    if log is None:
        return None
    size, pages, open_pages = 0, dict[int, int](), dict[int, int]()
    for number, frame in enumerate(_frames(file, log, _HEADER.unpack(header)[4:])):
        if not frame.valid:
            break
        open_pages[frame.page] = _HEADER.size + _FRAME.size + number * (_FRAME.size + log.page_size)
        if frame.size:
            size = frame.size
            pages |= open_pages
            open_pages.clear()
    return Commits(log.page_size, size, pages) if size else None


def _inspect(file: BinaryIO, wal: Path) -> _Findings | None:
    """None where the file has no frame that counts."""
    header = file.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None  # torn before the first frame was written
    log = _format_of(header)
    if log is None:
        return _behind_damaged_header(file, header)
    return _between_frames(file, log, _HEADER.unpack(header)[4:], _index_of(wal))


def _between_frames(file: BinaryIO, log: _Format, seed: _Checksum, index: _Index | None) -> _Findings:
    bad = committed = last = 0  # numbers of frames, from 1 as SQLite counts: the first bad one, the last commits
    commits, is_damaged, ended = 0, False, False
    for number, frame in enumerate(_frames(file, log, seed), start=1):
        if not bad and frame.valid:
            committed = number if frame.size else committed
            continue
        bad = bad or number
        if frame.valid and frame.size:
            commits, last = commits + 1, number
        is_damaged |= frame.valid and ended  # it was appended to a commit, which had reached the disk by then
        ended = frame.size > 0
        if index and number == index.frames and index.salts == log.salts:
            is_damaged |= index.checksum in (frame.stored, frame.computed)
            last = number if is_damaged else last
    # With the index, which names the newest commit, others behind it are of calls that failed: the disk did not take
    # them, and later ones were written over them in part.
    is_whole = index is not None and index.salts == log.salts and committed >= index.frames
    if not is_damaged and (commits < 2 or is_whole):
        return _Findings(log, seed, None, committed)
    offset = _HEADER.size + (bad - 1) * (_FRAME.size + log.page_size)
    damage = (
        f"has a damaged write-ahead log: frame {bad} (byte {offset:,}) is not as it was written, and commits follow it"
    )
    return _Findings(log, seed, damage, max(committed, last))


def _behind_damaged_header(file: BinaryIO, header: bytes) -> _Findings | None:
    """SQLite takes a log with a damaged header for an empty one. The header is synced before the first frame."""
    stored: _Checksum = _HEADER.unpack(header)[4:]
    for page_size, salts in _likely_formats(file):
        for order in _MAGIC.values():
            log = _Format(order, page_size, salts)
            for seed in (stored, _checksum(header[:24], order)):
                frames = enumerate(_frames(file, log, seed), start=1)
                committed = max((number for number, frame in frames if frame.valid and frame.size), default=0)
                if committed:
                    damage = "has a damaged write-ahead log: its header is not as it was written, and commits follow it"
                    return _Findings(log, seed, damage, committed)
    return None


def _likely_formats(file: BinaryIO) -> list[tuple[int, bytes]]:
    """Page sizes with which frames have salts in common, and those salts; the likeliest first."""
    likely = []
    for page_size in _PAGE_SIZES:
        found = Counter(_salts(file, page_size))
        frames = found.total()
        del found[bytes(8)]
        for salts, count in found.most_common(1):
            if count > 1 or frames <= 2:
                likely.append((count / frames, page_size, salts))
    return [(page_size, salts) for _, page_size, salts in sorted(likely, reverse=True)]


def _salts(file: BinaryIO, page_size: int) -> Iterator[bytes]:
    offset = _HEADER.size
    file.seek(offset)
    while len(frame := file.read(_FRAME.size)) == _FRAME.size:
        yield _FRAME.unpack(frame)[2]
        offset += _FRAME.size + page_size
        file.seek(offset)


def _format_of(header: bytes) -> _Format | None:
    """The format of the log with this header; None if SQLite would not accept the header."""
    magic, version, page_size, salts, *stored = _HEADER.unpack(header)
    order = _MAGIC.get(magic)
    if order is None or version != _VERSION or page_size not in _PAGE_SIZES:
        return None
    if _checksum(header[:24], order) != tuple(stored):
        return None
    return _Format(order, page_size, salts)


def _index_of(wal: Path) -> _Index | None:
    try:
        with wal.with_name(wal.name.removesuffix("-wal") + "-shm").open("rb") as file:
            first, second = file.read(_INDEX.size), file.read(_INDEX.size)
    except OSError:
        return None
    if first != second or len(first) < _INDEX.size:  # torn while it was written, or not there yet
        return None
    version, initialised, _, _, frames, *checksum, salts, sum0, sum1 = _INDEX.unpack(first)
    if version != _VERSION or not initialised or _checksum(first[:_INDEX_SUMMED], sys.byteorder) != (sum0, sum1):
        return None
    return _Index(frames, (checksum[0], checksum[1]), salts)


def _frames(file: BinaryIO, log: _Format, seed: _Checksum) -> Iterator[_Frame]:
    """The whole frames of a log. `seed` is what the checksum of the first one starts from."""
    layout = struct.Struct(f"{_FRAME.format}{log.page_size}x")
    file.seek(_HEADER.size)
    before, last = True, _Frame(page=0, size=0, valid=True, stored=seed, computed=seed)
    while data := file.read(max(1, _CHUNK // layout.size) * layout.size):
        whole = data[: len(data) // layout.size * layout.size]
        headers = list(layout.iter_unpack(whole))
        if not headers:
            return
        stored = [(sum0, sum1) for *_, sum0, sum1 in headers]
        # The bulk of a restarted log can be older frames, which SQLite ignores.
        is_old = all(salts != log.salts for _, _, salts, *_ in headers)
        computed = stored if is_old else _checksums(whole, layout.size, log.order, [last.stored, *stored[:-1]])
        for number, (page, size, salts, *_) in enumerate(headers):
            valid = salts == log.salts and page > 0
            if valid and computed[number] != stored[number]:
                # The checksum in the frame before may be what has changed: then its bytes still give the right one.
                frame = whole[number * layout.size : (number + 1) * layout.size]
                summed = frame[:8] + frame[_FRAME.size :]
                valid = before and not last.valid and _checksum(summed, log.order, last.computed) == stored[number]
            before, last = last.valid, _Frame(page, size, valid, stored[number], computed[number])
            yield last


def _checksums(frames: bytes, frame_size: int, order: _Order, seeds: Sequence[_Checksum]) -> list[_Checksum]:
    """The checksum of each frame, each started from its seed.

    All frames advance together, one word at a time: a big integer has a lane of 64 bits for each frame. Word by word
    and frame by frame, Python would take seconds for a log of 100 MB.
    """
    words = array("I", frames)
    if order != sys.byteorder:
        words.byteswap()
    column, per_frame = memoryview(words), frame_size // 4
    lanes = bytearray(8 * len(seeds))
    low_halves = memoryview(lanes).cast("I")[sys.byteorder == "big" :: 2]
    mask = int.from_bytes(array("Q", [0xFFFFFFFF] * len(seeds)).tobytes(), sys.byteorder)

    def lane_of(word: int) -> int:
        low_halves[:] = column[word::per_frame]
        return int.from_bytes(lanes, sys.byteorder)

    sum0, sum1 = (int.from_bytes(array("Q", half).tobytes(), sys.byteorder) for half in zip(*seeds, strict=True))
    # The sums cover the first two words of the frame's header and then the page.
    for step, word in enumerate((0, *range(_FRAME.size // 4, per_frame, 2))):
        sum0 += sum1 + lane_of(word)
        sum1 += sum0 + lane_of(word + 1)
        if step % 16 == 15:  # before a lane overflows: it grows by less than three times in a step
            sum0 &= mask
            sum1 &= mask
    halves = (array("Q", (half & mask).to_bytes(len(lanes), sys.byteorder)) for half in (sum0, sum1))
    return list(zip(*halves, strict=True))


def _checksum(data: bytes, order: _Order, seed: _Checksum = (0, 0)) -> _Checksum:
    sum0, sum1 = seed
    for word0, word1 in struct.iter_unpack("<II" if order == "little" else ">II", data):
        sum0 = (sum0 + sum1 + word0) & 0xFFFFFFFF
        sum1 = (sum1 + sum0 + word1) & 0xFFFFFFFF
    return sum0, sum1
