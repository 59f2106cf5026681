"""Which engine was started: one of some identities is never taken for it."""

from __future__ import annotations

import pytest

from tests.extensions.runtime.lab import needs_deno
from tests.ui.static_modules import value_of

pytestmark = needs_deno

PARTIAL = "{id: 'p', name: 'chromium', status: 'running', identities: ['firefox-container-2']}"
WHOLE = "{id: 'w', name: 'chromium', status: 'running'}"
STARTING = "{id: 'chromium', name: 'chromium', status: 'starting', tabId: 5}"
FAILED = "{id: 'chromium', name: 'chromium', status: 'failed', tabId: 5, error: 'No browser.'}"
STOPPED = "{id: 'http', name: 'http', status: 'stopped', error: ''}"


@pytest.mark.parametrize(
    ("engines", "started", "outcome"),
    [
        (f"{PARTIAL}, {STARTING}", "{name: 'chromium'}", None),
        (f"{PARTIAL}, {STARTING}", "{tabId: 5}", None),
        (f"{PARTIAL}, {WHOLE}", "{name: 'chromium'}", "w"),
        (f"{PARTIAL}, {WHOLE}", "{tabId: 5}", "w"),
        (f"{PARTIAL}, {FAILED}", "{tabId: 5}", "No browser."),
        (f"{PARTIAL}, {FAILED}", "{name: 'chromium'}", "No browser."),
        (f"{PARTIAL}, {FAILED}", "{tabId: 6}", "No browser."),  # of another tab
        (f"{PARTIAL}, {STOPPED}", "{tabId: 5}", True),
    ],
)
def test_the_engine_that_was_started_is_found(engines: str, started: str, outcome: object) -> None:
    body = f"""
    const found = startOutcome([{engines}], {started});
    return found && (found.running?.id ?? found.error ?? found.ended);
    """
    assert value_of("engine_outcome.js", "startOutcome", body) == outcome
