"""What scripts get without waiting: answered in the child, from what it was told at the start."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.extensions.runtime import boot
from tests.extensions.runtime.lab import CAMEL, Lab, in_lab, needs_deno

pytestmark = needs_deno


def test_a_file_of_members_can_say_how_listeners_are_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    members = """
        host => ({
          members: {answer: 42, later: () => host.call("contextualIdentities.query", [{}]), absent() {}},
          events: {onCreated: (listener, args) => listener(...args, host.data.extra)},
        })
    """
    monkeypatch.setattr(boot, "_members", lambda: [(CAMEL, members)])

    async def use(lab: Lab) -> None:
        runtime = await lab.start(data={"extra": "more"})
        await runtime.evaluate("browser.contextualIdentities.onCreated.addListener((...args) => args)")
        assert await runtime.dispatch_event(f"{CAMEL}.onCreated", [1]) == [[1, "more"]]
        assert await runtime.evaluate("browser.contextualIdentities.answer") == 42
        # A function that the schema does not name is not there, whoever has written it.
        assert await runtime.evaluate("'absent' in browser.contextualIdentities") is False

    in_lab(tmp_path, use)
