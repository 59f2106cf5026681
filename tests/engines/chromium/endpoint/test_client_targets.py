"""Which targets a client sees while a person uses the identity, and what finding the parts of a page costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hatbox.engines.chromium.endpoint.client_targets import ClientTargets

CONTEXT = "context"


def info(target_id: str, kind: str = "page", **more: Any) -> dict[str, Any]:
    url = "https://site.example/"
    return {"targetId": target_id, "type": kind, "url": url, "title": "", "browserContextId": CONTEXT, **more}


def test_while_a_person_uses_the_identity_a_client_sees_only_what_it_saw_and_its_own_popups() -> None:
    targets = ClientTargets(CONTEXT)
    for each in (info("page"), info("worker", "service_worker"), info("shared", "shared_worker")):
        targets.observe(each)
    targets.opened.add("page")
    targets.withhold(CONTEXT)
    new = [info("person"), info("frame", "iframe"), info("dedicated", "worker"), info("popup", openerId="page")]
    for each in (*new, info("tab", "tab"), info("own frame", "iframe"), info("sw", "service_worker")):
        targets.observe(each)
    targets.allow("own frame")  # attached through the session of a visible page
    assert targets.is_limited
    assert set(targets.visible([{}])) == {"page", "popup", "own frame"}
    targets.withhold(CONTEXT)  # again: what has appeared meanwhile is not known
    assert set(targets.visible([{}])) == {"page", "popup", "own frame"}
    targets.release(CONTEXT)
    assert not targets.is_limited
    assert set(targets.visible([{}])) == set(targets.ids())


def test_a_client_that_connects_while_a_person_uses_the_identity_sees_nothing_until_the_end() -> None:
    targets = ClientTargets(CONTEXT)
    targets.withhold(CONTEXT)
    targets.withhold("another context")
    targets.observe(info("page"))
    assert list(targets.visible([{}])) == []
    targets.release(CONTEXT)
    assert list(targets.visible([{}])) == ["page"]


class Counter:
    """Counts steps, and fails beyond a limit: an algorithm that is too slow does not have to end."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        assert self.steps <= self.limit


def counted(counter: Counter, count: int, parent: Callable[[int], str]) -> ClientTargets:
    """Targets of which each comparison of ids and each access to a description is a step."""

    class Id(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            counter.step()
            return str.__eq__(self, other)

    class Info(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            counter.step()
            return super().__getitem__(key)

        def get(self, key: str, default: Any = None) -> Any:
            counter.step()
            return super().get(key, default)

    targets = ClientTargets(CONTEXT)
    for number in range(count):
        of = {"parentId": Id(parent(number)), "parentFrameId": Id(parent(number))} if number else {}
        targets.observe(Info(info(Id(f"T{number}"), "iframe" if number else "page", **of)))
    return targets


def test_the_parts_of_a_page_are_found_in_linear_time() -> None:
    """A page can start thousands of workers, and each change of its URL looks for them."""
    count = 5000
    counter = Counter(100 * count)
    targets = counted(counter, count, lambda _: "T0")
    assert targets.related("T0") == [f"T{number}" for number in range(count)]
    targets = counted(counter, count, lambda number: f"T{number - 1}")
    assert len(targets.related("T0")) == count


def test_nested_frames_are_visited_once() -> None:
    """Chromium names the page that contains a frame twice, so that the number of ways to the top doubles."""
    targets = counted(Counter(10_000), 45, lambda number: f"T{number - 1}")
    assert targets.is_visible("T44")
    targets.withhold("T0")
    assert not targets.is_visible("T44")
    targets.release("T0")
    assert not counted(Counter(10_000), 60, lambda number: f"T{number - 1}").is_visible("T59")  # too deep


def test_closed_and_moved_targets_are_no_parts_any_more() -> None:
    targets = ClientTargets(CONTEXT)
    for each in (info("A"), info("B"), info("frame", "iframe", parentId="A"), info("popup", openerId="frame")):
        targets.observe(each)
    assert targets.related("A") == ["A", "frame", "popup"]
    targets.observe(info("frame", "iframe", parentId="B", parentFrameId="B"))
    assert targets.related("A") == ["A"]
    assert targets.related("B") == ["B", "frame", "popup"]
    targets.remove("frame")
    assert targets.related("B") == ["B"]
    assert targets.related("frame") == ["frame", "popup"]
