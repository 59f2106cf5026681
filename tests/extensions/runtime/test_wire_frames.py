from __future__ import annotations

import json
import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.extensions.runtime.wire_frames import FrameDecoder, ProtocolError, encode_frame
from hatbox.javascript.wire_codec import UNDEFINED, Opaque

# A key that begins with NUL is a mark (hatbox/values.py): a script's own get one NUL more on their way here.
keys = st.text().filter(lambda key: not key.startswith("\0"))
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=8,
)


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "little") + payload


@given(st.lists(st.lists(json_values, max_size=4), max_size=5), st.lists(st.integers(1, 40), min_size=1))
def test_messages_come_out_as_they_went_in_however_the_bytes_are_cut(frames: list[list[Any]], cuts: list[int]) -> None:
    wire = b"".join(encode_frame(each) for each in frames)
    decoder, seen, at = FrameDecoder(1 << 20), [], 0
    while at < len(wire):
        size = cuts[at % len(cuts)]
        seen += [frame.messages for frame in decoder.feed(wire[at : at + size])]
        at += size
    assert json.dumps(seen) == json.dumps(frames)


def test_a_frame_that_is_too_large_is_refused_before_it_has_come() -> None:
    with pytest.raises(ProtocolError, match="frame of 101 bytes exceeds the limit of 100"):
        FrameDecoder(100).feed((101).to_bytes(4, "little"))
    with pytest.raises(ProtocolError):
        FrameDecoder(100).feed(framed(b'["%s"]' % (b"x" * 97)))


@pytest.mark.parametrize("payload", [b"", b"{}", b"1", b"[1", b'["\xff"]', b"[" * 100000, b"[NaN]", b"nothing"])
def test_what_is_no_array_of_json_is_refused(payload: bytes) -> None:
    with pytest.raises(ProtocolError):
        FrameDecoder(1 << 20).feed(framed(payload))


def test_many_small_pieces_of_a_large_frame_cost_no_more_than_their_sum() -> None:
    def seconds(size: int) -> float:
        wire, decoder = framed(b'["%s"]' % (b"x" * size)), FrameDecoder(1 << 26)
        start = time.process_time()
        for at in range(0, len(wire), 1024):
            decoder.feed(wire[at : at + 1024])
        return time.process_time() - start

    small, large = min(seconds(1 << 18) for _ in range(5)), min(seconds(1 << 22) for _ in range(3))
    assert large < 16 * 8 * small  # 16 times the bytes; quadratic would be 256 times the time


def test_what_json_has_no_word_for_comes_through_and_goes_back() -> None:
    special = [
        ["undefined"],
        ["number", "NaN"],
        ["number", "-Infinity"],
        ["number", "-0"],
        ["bigint", "12"],
        ["function"],
    ]
    wire = framed(
        json.dumps([[{"\0": each} for each in special] + [{"\0": ["object", "Date", 5]}, {"\0\0k": 1}]]).encode()
    )
    (frame,) = FrameDecoder(1 << 20).feed(wire)
    ((undefined, nan, infinity, zero, bigint, function, date, keyed),) = frame.messages
    assert undefined is UNDEFINED
    assert not undefined
    assert math.isnan(nan)
    assert infinity == -math.inf
    assert math.copysign(1, zero) == -1
    assert callable(function)
    assert isinstance(bigint, Opaque)
    assert (type(date).__name__, date.clone) == ("Date", 5)
    assert keyed == {"\0\0k": 1}
    assert encode_frame(frame.messages) == framed(json.dumps(json.loads(wire[4:]), separators=(",", ":")).encode())


@given(json_values)
def test_no_mark_that_a_script_forges_does_more_than_be_nothing(value: Any) -> None:
    FrameDecoder(1 << 20).feed(framed(json.dumps([{"\0": value}]).encode()))


def test_half_a_pair_of_surrogates_comes_through_and_goes_back() -> None:
    (frame,) = FrameDecoder(1 << 20).feed(framed(rb'[["c","\ud800","\ud83d\ude00"]]'))
    assert frame.messages == [["c", "\ud800", "\U0001f600"]]
    assert FrameDecoder(1 << 20).feed(encode_frame(frame.messages))[0].messages == frame.messages
    with pytest.raises(ProtocolError):
        FrameDecoder(1 << 20).feed(framed(rb'["\ud800",NaN]'))
