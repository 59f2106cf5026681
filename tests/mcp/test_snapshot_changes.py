"""After an action, an agent gets what has changed. With the snapshot before, that is the whole one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hatbox.mcp.snapshot_changes import changes_of
from tests.mcp.agent_client import reference
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run

PAGE = """- generic [ref=e1]:
  - banner [ref=e2]:
    - link "Home" [ref=e3]
  - list [ref=e4]:
    - listitem [ref=e5]: one
    - listitem [ref=e6]: two
  - contentinfo [ref=e7]: a long text at the end of the page, which is the same after each step"""


def test_new_lines_are_shown_below_their_parents() -> None:
    after = PAGE.replace("    - listitem [ref=e6]: two", "    - listitem [ref=e8]: three")
    assert changes_of(PAGE, after) == "\n".join(
        ("- generic [ref=e1]:", "  - list [ref=e4]:", "    - listitem [ref=e8]: three")
    )
    assert changes_of(PAGE, PAGE) == ""
    fewer = changes_of(PAGE, PAGE.replace("    - listitem [ref=e6]: two\n", ""))
    assert fewer == "[1 line fewer than before.]\n"
    assert changes_of(PAGE, "- text: another page") is None
    assert changes_of("", PAGE) is None
    many = [f"- text: {number % 2}" for number in range(2000)]
    assert changes_of("\n".join(many), "\n".join([*many[1:], "- text: new"])) is None  # comparing would take a minute
    assert changes_of("\n".join(many), "\n".join([*many, "- text: new"])) == "- text: new"


_trees = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abcd")), max_size=30).map(
    lambda lines: "\n".join(f"{'  ' * depth}- {text} {'x' * 50}" for depth, text in lines)
)


@given(before=_trees, after=_trees)
def test_each_line_that_is_new_is_shown(before: str, after: str) -> None:
    changes = changes_of(before, after)
    if changes is None:
        return
    assert set(after.splitlines()) - set(before.splitlines()) <= set(changes.splitlines())
    assert len(changes) <= len(after)
    shown = [line for line in changes.splitlines() if line and not line.startswith("[")]
    lines = iter(after.splitlines())
    assert all(line in lines for line in shown)  # in their order


@pytest.mark.browser
def test_an_action_returns_what_has_changed(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        page = await call("browser_navigate", url=site.url("/form"))
        assert "New lines" not in page
        target = reference(page, "Text")
        typed = await call("browser_type", target=target, text="Anna")
        assert "New lines since the last snapshot" in typed
        assert "Anna" in typed
        assert len(typed) < len(page)
        assert "same as before" in await call("browser_hover", target=target)
        assert "New lines" not in await call("browser_snapshot")

    run(tmp_path, test)
