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


def _session(target_id: str, opener: str | None = None) -> Any:
    return SimpleNamespace(id=target_id, target_id=target_id, parent_id=None, opener_id=opener, url="")
