from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hatbox.engines.chromium.page_snapshot import (
    PageSnapshot,
    decode_snapshot,
    encode_snapshot,
    from_navigation_history,
)

A, B, C = "https://a.example/", "https://b.example/", "https://c.example/"


def history(*urls: str, at: int) -> dict[str, Any]:
    return {"currentIndex": at, "entries": [{"id": index, "url": url} for index, url in enumerate(urls)]}


def test_the_current_entry_is_saved() -> None:
    assert from_navigation_history(history(A, B, C, at=1), (0, 7)) == PageSnapshot([A, B, C], 1, (0, 7))


def test_a_blank_page_is_not_saved() -> None:
    assert from_navigation_history(history("about:blank", at=0), (0, 0)) is None
    assert from_navigation_history(history("about:blank", A, at=1), (0, 0)) == PageSnapshot([A], 0)


def test_entries_of_one_document_are_merged_and_the_current_one_wins() -> None:
    assert from_navigation_history(history(A, A + "#1", A + "#2", B, at=1), (0, 0)) == PageSnapshot([A + "#1", B], 0)
    assert from_navigation_history(history(A, A + "#1", B, at=2), (0, 0)) == PageSnapshot([A + "#1", B], 1)


def test_only_entries_near_the_current_one_are_saved() -> None:
    urls = [f"https://site.example/{number}" for number in range(40)]
    snapshot = from_navigation_history(history(*urls, at=20), (0, 0))
    assert snapshot is not None
    assert snapshot.url == urls[20]
    assert len(snapshot.entries) <= 10


def test_a_snapshot_is_used_only_for_its_url() -> None:
    snapshot = PageSnapshot([A, B], 1, (1, 2))
    assert decode_snapshot(encode_snapshot(snapshot), B) == snapshot
    assert decode_snapshot(encode_snapshot(snapshot), A) is None


@given(st.binary() | st.just(b'{"entries":[],"index":0}') | st.just(b'{"entries":["x"],"index":-1}'))
def test_the_snapshot_of_another_engine_is_ignored(data: bytes) -> None:
    assert decode_snapshot(data, A) is None
    assert decode_snapshot(None, A) is None


def test_a_navigation_adds_an_entry_and_removes_the_forward_entries() -> None:
    assert PageSnapshot([A, B, C], 1, (1, 2)).with_navigation("https://d.example/") == PageSnapshot(
        [A, B, "https://d.example/"], 2
    )
    assert PageSnapshot([A, B, C], 1).with_navigation(B + "#x") == PageSnapshot([A, B + "#x"], 1)


_urls = st.sampled_from([A, B, C, A + "#x", B + "#y", "about:blank", "data:,x"])


@given(st.lists(_urls, min_size=1, max_size=30), st.data())
def test_whatever_the_history_the_current_page_stays_current(urls: list[str], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(urls) - 1))
    snapshot = from_navigation_history(history(*urls, at=at), (0, 0))
    if urls[at].startswith("https:"):
        assert snapshot is not None
        assert snapshot.url == urls[at]
        documents = [url.partition("#")[0] for url in snapshot.entries]
        assert all(one != other for one, other in itertools.pairwise(documents))
    else:
        assert snapshot is None
