"""Which targets a client sees while a person uses the identity."""

from __future__ import annotations

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
