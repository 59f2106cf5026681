"""The state of a page that its tab shows, without a browser."""

from __future__ import annotations

import pytest

from hatbox.engines.base import PageState
from hatbox.engines.chromium.navigation_responses import NavigationResponse, NavigationResponses
from hatbox.engines.chromium.navigation_state import NavigationState

URL = "https://site.example/page"


class RecordingReporter:
    """Records page states instead of sending them."""

    def __init__(self) -> None:
        self.tab_id = 1
        self.reports: list[tuple[PageState, bool]] = []

    def page_changed(self, page: PageState, *, done: bool) -> None:
        self.reports.append((page, done))


def state_with_reporter() -> tuple[NavigationState, RecordingReporter]:
    state = NavigationState(NavigationResponses(lambda *_: None), headless=True)
    reporter = RecordingReporter()
    state.reporter = reporter  # type: ignore[assignment]  # the rest is not needed
    return state, reporter


def test_a_committed_document_is_reported_before_it_has_loaded() -> None:
    state, reporter = state_with_reporter()
    state.set_loading()
    state.set_title_and_icon("Title", "icon.png")
    state.commit(URL)
    assert reporter.reports[-1] == (PageState(URL, "Title", "icon.png"), False)


def test_a_navigation_that_has_no_document_yet_is_not_reported() -> None:
    state, reporter = state_with_reporter()
    state.set_loading()
    state.is_committed = False
    state.set_title_and_icon("Title of the previous document", "")
    state.report()
    assert reporter.reports == []


@pytest.mark.parametrize("flag", ["is_internal", "is_requested"])
def test_internal_documents_and_documents_about_to_be_replaced_are_not_reported(flag: str) -> None:
    state, reporter = state_with_reporter()
    setattr(state, flag, True)
    state.commit(URL)
    assert reporter.reports == []


@pytest.mark.parametrize(
    ("is_download", "has_document", "stopped"), [(False, False, True), (True, True, True), (True, False, False)]
)
def test_a_tab_without_a_document_becomes_blank_after_a_download(
    is_download: bool, has_document: bool, stopped: bool
) -> None:
    state, reporter = state_with_reporter()
    state.is_committed = False
    state.is_download, state.has_document = is_download, has_document
    state.report()
    assert reporter.reports == [(PageState("about:blank", stopped=stopped), True)]


def test_a_response_after_the_commit_is_added_once_and_only_for_the_same_url() -> None:
    state, reporter = state_with_reporter()
    state.commit(f"{URL}#fragment")
    state.on_response("https://other.example/", NavigationResponse(500, "text/plain"))
    state.on_response(URL, NavigationResponse(200, "text/html"))
    state.on_response(URL, NavigationResponse(500, "text/plain"))
    assert [page.http_status for page, _ in reporter.reports] == [None, 200]


def test_the_restored_title_stays_until_the_page_has_one() -> None:
    state, reporter = state_with_reporter()
    state.restored_title = "Saved"
    state.commit(URL)
    for title in ("", "Own", ""):
        state.set_title_and_icon(title, "")
    assert [page.title for page, _ in reporter.reports] == ["Saved", "Saved", "Own", ""]


def test_a_failed_navigation_ends_loading_with_an_error() -> None:
    state, reporter = state_with_reporter()
    state.set_loading()
    state.is_requested = True
    state.fail(URL, "error")
    assert state.is_idle
    assert reporter.reports == [(PageState(URL, error="error"), True)]
