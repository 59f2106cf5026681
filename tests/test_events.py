from __future__ import annotations

import asyncio
import logging

import pytest

from hatbox.events import Event, ResponseEvent


def test_listeners_are_called_in_the_order_in_which_they_were_added() -> None:
    event: Event[str] = Event("test")
    heard: list[str] = []
    event.add_listener(lambda what: heard.append(f"first {what}"))
    event.add_listener(lambda what: heard.append(f"second {what}"))
    event.emit("bell")
    assert heard == ["first bell", "second bell"]


def test_a_listener_that_raises_is_reported_and_the_next_is_called(caplog: pytest.LogCaptureFixture) -> None:
    event: Event[str] = Event("identities.on_created")
    heard: list[str] = []

    def broken(_: str) -> None:
        raise ValueError("on purpose")

    event.add_listener(broken)
    event.add_listener(heard.append)
    with caplog.at_level(logging.ERROR, "hatbox.events"):
        event.emit("bell")
    assert heard == ["bell"]
    assert "identities.on_created" in caplog.text
    assert "on purpose" in caplog.text


def test_adding_twice_calls_once_and_removing_stops() -> None:
    event: Event[str] = Event("test")
    heard: list[str] = []
    listener = heard.append
    event.add_listener(listener)
    event.add_listener(listener)
    assert event.has_listener(listener)
    event.emit("one")
    event.remove_listener(listener)
    event.remove_listener(listener)
    event.emit("two")
    assert heard == ["one"]
    assert not event.has_listener(listener)


def test_a_listener_removed_by_an_earlier_one_is_not_called_any_more() -> None:
    event: Event[str] = Event("test")
    heard: list[str] = []
    second = heard.append
    event.add_listener(lambda _: event.remove_listener(second))
    event.add_listener(second)
    event.emit("bell")
    assert heard == []


def test_only_listeners_from_before_the_call_hear_of_what_it_caused() -> None:
    now = 0
    event: Event[str] = Event("test", call_counter=lambda: now)
    early: list[str] = []
    late: list[str] = []
    event.add_listener(early.append)
    now = 5
    event.add_listener(late.append)
    event.emit("of call 5", caused_by=5)
    event.emit("of call 6", caused_by=6)
    event.emit("from elsewhere", caused_by=None)
    assert early == ["of call 5", "of call 6", "from elsewhere"]
    assert late == ["of call 6", "from elsewhere"]


def test_a_coroutine_function_may_listen_and_its_failure_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> list[str]:
        event: Event[str] = Event("test")
        heard: list[str] = []
        done = asyncio.Event()

        async def listener(what: str) -> None:
            await asyncio.sleep(0)
            heard.append(what)
            done.set()
            raise ValueError("late, on purpose")

        event.add_listener(listener)
        event.emit("bell")
        assert heard == []
        await done.wait()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        return heard

    with caplog.at_level(logging.ERROR, "hatbox.events"):
        assert asyncio.run(main()) == ["bell"]
    assert "late, on purpose" in caplog.text


def test_what_cannot_be_called_is_no_listener() -> None:
    with pytest.raises(TypeError, match="listener must be callable"):
        Event[str]("test").add_listener(3)  # type: ignore[arg-type]


def test_a_listener_that_could_not_be_registered_can_be_added_again() -> None:
    def fail() -> None:
        raise RuntimeError("not now")

    event: Event[str] = Event("test", on_listeners_changed=fail)
    with pytest.raises(RuntimeError):
        event.add_listener(print)
    assert not event.has_listener(print)


def test_answers_come_one_by_one_and_nobody_waits_for_the_slow(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        question: ResponseEvent[str] = ResponseEvent("test")
        asked: list[str] = []

        async def never(what: str) -> None:
            asked.append(f"never {what}")
            await asyncio.Event().wait()

        def fails(_: str) -> None:
            raise ValueError("on purpose")

        question.add_listener(lambda what: f"at once {what}")
        question.add_listener(fails)
        question.add_listener(never)
        first, second, third = question.dispatch("bell")
        assert (await first, await second) == ("at once bell", None)
        await asyncio.sleep(0)
        assert asked == ["never bell"]
        assert third.cancel()

    asyncio.run(main())
    assert "on purpose" in caplog.text
