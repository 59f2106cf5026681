from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.store.server_clock import ServerClock

LABEL = "postgresql://db.example/identities"
NOW = 1_790_000_000.0


class Local:
    """A local clock that a test sets."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def local() -> Local:
    return Local()


@pytest.fixture
def clock(local: Local) -> ServerClock:
    return ServerClock(LABEL, local)


def test_without_a_reading_it_is_the_local_time(clock: ServerClock) -> None:
    assert clock.time() == NOW


def test_it_runs_with_the_local_clock_at_the_measured_offset(clock: ServerClock, local: Local) -> None:
    clock.add_reading(NOW, NOW + 10.5, NOW + 1)
    assert clock.offset == 10
    local.now += 100
    assert clock.time() == NOW + 110


def test_the_shortest_round_trip_counts(clock: ServerClock) -> None:
    clock.add_reading(NOW, NOW + 10.9, NOW + 1)
    clock.add_reading(NOW + 2, NOW + 12.05, NOW + 2.1)
    assert clock.offset == pytest.approx(10)
    clock.add_reading(NOW + 3, NOW + 13.1, NOW + 4)
    assert clock.offset == pytest.approx(10)


def test_a_clock_that_was_set_is_noticed_by_the_next_reading_however_slow(clock: ServerClock) -> None:
    clock.add_reading(NOW, NOW + 10, NOW)
    clock.add_reading(NOW + 5, NOW - 3594, NOW + 7)
    assert clock.offset == -3600


def test_a_reading_during_which_the_local_clock_was_set_back_is_not_used(clock: ServerClock) -> None:
    clock.add_reading(NOW, NOW + 10, NOW - 3600)
    assert clock.offset == 0


@pytest.mark.parametrize(("offset", "direction"), [(90.0, "90 seconds behind"), (-3600.0, "3600 seconds ahead of")])
def test_a_skew_of_more_than_a_minute_is_logged_once(
    clock: ServerClock, caplog: pytest.LogCaptureFixture, offset: float, direction: str
) -> None:
    with caplog.at_level(logging.WARNING):
        for second in range(5):
            clock.add_reading(NOW + second, NOW + second + offset * (1 + second / 100), NOW + second)
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{LABEL}: the clock of this machine is {direction} the server's clock")
    assert "Set the clock" in record.getMessage()


@pytest.mark.parametrize("offset", [-60.0, -1.0, 0.0, 59.0, 60.0])
def test_a_smaller_skew_is_not_logged(clock: ServerClock, caplog: pytest.LogCaptureFixture, offset: float) -> None:
    clock.add_reading(NOW, NOW + offset, NOW)
    assert not caplog.records


def test_a_slow_trip_is_not_mistaken_for_a_skew(clock: ServerClock, caplog: pytest.LogCaptureFixture) -> None:
    clock.add_reading(NOW, NOW + 200, NOW + 200)
    assert not caplog.records


@given(
    st.floats(-1e5, 1e5),
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20),
)
def test_it_is_never_further_off_than_half_of_the_shortest_trip(
    offset: float, trips: list[tuple[float, float, float]]
) -> None:
    local = Local()
    clock = ServerClock(LABEL, local)
    for pause, there, back in trips:
        local.now += pause
        clock.add_reading(local.now, local.now + there + offset, local.now + there + back)
        local.now += there + back
    shortest = min(there + back for _, there, back in trips)
    assert abs(clock.time() - (local.now + offset)) <= shortest / 2 + 1e-5
