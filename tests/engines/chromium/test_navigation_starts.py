"""How navigations start, from CDP events. Without a browser."""

from __future__ import annotations

import pytest

from hatbox.engines.chromium.rule_checks import NavigationStarts

URL = "http://site.example/?q=1"


def requested(starts: NavigationStarts, reason: str, url: str = URL, frame: str = "f") -> None:
    starts.on_event("Page.frameRequestedNavigation", {"frameId": frame, "reason": reason, "url": url})


def started(starts: NavigationStarts, kind: str = "differentDocument", url: str = URL, loader: str = "l") -> None:
    event = {"frameId": "f", "navigationType": kind, "url": url, "loaderId": loader}
    starts.on_event("Page.frameStartedNavigating", event)


@pytest.mark.parametrize("kind", ["reload", "reloadBypassingCache", "historyDifferentDocument", "restore"])
def test_reload_and_history_load_a_page_again(kind: str) -> None:
    starts = NavigationStarts()
    started(starts, kind)
    assert starts.start_of("l") == "again"
    assert starts.start_of("other") == starts.start_of(None) == "other"


def test_only_the_navigation_that_a_form_has_started_is_a_form_submission() -> None:
    starts = NavigationStarts()
    requested(starts, "formSubmissionGet")
    started(starts)
    started(starts, loader="next")
    assert (starts.start_of("l"), starts.start_of("next")) == ("form", "other")
    requested(starts, "formSubmissionGet")
    requested(starts, "anchorClick")  # a click that replaces the submission
    started(starts, loader="click")
    requested(starts, "formSubmissionPost", frame="other")
    started(starts, loader="frame")
    requested(starts, "formSubmissionGet")
    started(starts, url="http://other.example/", loader="url")
    assert {starts.start_of(loader) for loader in ("click", "frame", "url")} == {"other"}


def test_the_number_of_navigations_in_memory_is_limited() -> None:
    starts = NavigationStarts()
    for number in range(2000):
        requested(starts, "formSubmissionGet", frame=f"frame {number}")
        started(starts, "reload", loader=str(number))
    assert starts.start_of("0") == "other"
    assert starts.start_of("1999") == "again"
    assert len(starts._starts) + len(starts._forms) <= 1024
