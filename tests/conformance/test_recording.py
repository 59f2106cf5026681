"""The recordings are what a real Firefox says, asked now."""

from __future__ import annotations

import os

import pytest

from tests.conformance.record import EXTENSION_SUITES, SUITES, Suite, changed_answers, record
from tests.firefox import find_firefox, firefox_version


def installed_firefox(suite: Suite) -> str:
    """A Firefox of the release that was recorded; skips where there is none, fails where there must be one."""
    binary = find_firefox()
    if binary is None:
        missing = "no Firefox is installed: `firefox-esr` or `firefox` on the path, or $FIREFOX"
        if os.environ.get("HATBOX_REQUIRE_BROWSERS"):
            pytest.fail(missing)
        pytest.skip(missing)
    recorded = suite.recorded()["firefox"]
    version = firefox_version(binary)
    if version.partition(".")[0] != recorded.partition(".")[0]:
        pytest.skip(f"Firefox {version} is not the recorded {recorded}: python -m tests.conformance.record --check")
    return binary


@pytest.mark.browser
@pytest.mark.parametrize("suite", [*SUITES, *EXTENSION_SUITES], ids=lambda suite: suite.name)
def test_firefox_still_answers_as_recorded(suite: Suite) -> None:
    installed_firefox(suite)
    changed = changed_answers(suite, record([suite])[suite])
    if changed:  # Firefox itself has races, which a busy machine shows: an answer that has changed differs every time
        again = changed_answers(suite, record([suite])[suite])
        changed = [case for case in changed if case in again]
    assert changed == []
