"""The documents of frames, as matching sees them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from hatbox.extensions.content_scripts.page_frames import PageFrames


@pytest.mark.parametrize(
    ("opener_url", "origin", "creator_url"),
    [
        ("https://site.example/path", "https://site.example", "https://site.example/path"),
        ("https://victim.example/", "https://evil.example", "https://evil.example/"),
        ("https://evil.example.victim.example/", "https://evil.example", "https://evil.example/"),
        ("https://site.example/path", "://", "https://site.example/path"),
    ],
)
def test_a_blank_document_has_the_origin_of_its_creator_after_that_has_navigated(
    opener_url: str, origin: str, creator_url: str
) -> None:
    frames = PageFrames()
    opener, popup = _session("opener"), _session("popup", opener="opener")
    for session, url in ((opener, opener_url), (popup, "about:blank")):
        frames.attach(session, None)
        frames.on_event(session, "Page.frameNavigated", {"frame": {"id": session.target_id, "url": url}})
    details = {"frameId": "popup", "isDefault": True}
    context = {"id": 1, "uniqueId": "1", "name": "", "origin": origin, "auxData": details}
    frames.on_event(popup, "Runtime.executionContextCreated", {"context": context})
    frame = frames.get("popup")
    assert frame is not None
    assert frames.document(frame, "").creator_url == creator_url


def test_frames_end_with_the_document_that_contains_them_also_if_the_next_one_is_in_another_process() -> None:
    frames, session = PageFrames(), _session("page")
    frames.attach(session, None)
    navigated = {"frame": {"id": "page", "url": "https://one.example/"}}
    frames.on_event(session, "Page.frameNavigated", navigated)
    for number in range(3):
        child = f"child {number}"
        frames.on_event(session, "Page.frameAttached", {"frameId": child, "parentFrameId": "page"})
        frames.on_event(session, "Page.frameAttached", {"frameId": f"inner {number}", "parentFrameId": child})
        details = {"frameId": child, "isDefault": True}
        context = {"id": number, "uniqueId": str(number), "name": "", "origin": "null", "auxData": details}
        frames.on_event(session, "Runtime.executionContextCreated", {"context": context})
        restored = {**navigated, "type": "BackForwardCacheRestore"}
        assert frames.on_event(session, "Page.frameNavigated", restored) == []
        assert frames.get(child) is not None
        # No Page.frameDetached: Chromium sends none if the main frame moves to another process.
        ended = frames.on_event(session, "Page.frameNavigated", navigated)
        assert [context.unique_id for context in ended] == [str(number)]
    main = frames.get("page")
    assert main is not None
    assert [*frames.in_page(main)] == [main]
    assert frames.matching(lambda _: True) == [main]


def _session(target_id: str, opener: str | None = None) -> Any:
    return SimpleNamespace(id=target_id, target_id=target_id, parent_id=None, opener_id=opener, url="")
