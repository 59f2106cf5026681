"""Documents that a frame may never show, and whose requests are paused in the meantime."""

from __future__ import annotations

from typing import Any

from hatbox.engines.chromium.pending_documents import PendingDocuments

FRAMES = ("F",)
OLD, NEW = "old", "new"


def pending(status: int = 200) -> PendingDocuments:
    documents = PendingDocuments()
    response = {"url": "https://site.test/", "status": status}
    event = {"type": "Document", "frameId": "F", "loaderId": NEW, "response": response}
    assert not documents.on_event("Network.responseReceived", event, FRAMES)
    return documents


def request(documents: PendingDocuments, request_id: str, loader_id: str, kind: str = "Image") -> bool:
    event: dict[str, Any] = {"type": kind, "frameId": "F", "requestId": request_id, "loaderId": loader_id}
    return documents.on_event("Network.requestWillBeSent", event, FRAMES)


def test_the_loader_of_a_request_decides_which_document_has_sent_it() -> None:
    documents = pending()
    assert documents.is_undecided("F", "1")
    assert request(documents, "1", OLD)
    assert request(documents, "2", NEW)
    assert not request(documents, NEW, NEW, "Document")
    assert [documents.is_undecided("F", each) for each in ("1", "2", NEW, None)] == [False, False, True, True]
    assert [documents.url_of_request("F", each) for each in ("1", "2", "3")] == [None, "https://site.test/", None]
    assert not documents.is_undecided("other", "3")


def test_nothing_is_undecided_after_the_document_is_shown_or_its_load_has_failed() -> None:
    documents = pending()
    documents.commit("F", OLD)
    assert documents.is_undecided("F", "1")
    documents.commit("F", NEW)
    assert not documents.is_undecided("F", "1")
    documents = pending()
    assert not documents.on_event("Network.loadingFailed", {"type": "Document", "requestId": OLD}, FRAMES)
    assert documents.on_event("Network.loadingFailed", {"type": "Document", "requestId": NEW}, FRAMES)
    assert not documents.is_undecided("F", "1")


def test_responses_without_a_document_and_of_unknown_frames_count_as_none() -> None:
    assert not pending(204).is_undecided("F", "1")
    documents = PendingDocuments()
    event = {"type": "Document", "frameId": "gone", "loaderId": NEW, "response": {"url": "https://a/", "status": 200}}
    documents.on_event("Network.responseReceived", event, FRAMES)
    assert not documents.is_undecided("gone", "1")


def test_the_requests_that_are_stored_for_a_frame_are_bounded() -> None:
    documents = pending()
    for number in range(5000):
        request(documents, str(number), OLD)
    assert len(documents._pending["F"].is_requested) == 1000
