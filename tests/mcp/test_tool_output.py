"""Bounds and marks of outputs."""

from __future__ import annotations

from hatbox.mcp.tool_output import bounded, untrusted


def test_a_long_text_is_cut_with_a_note() -> None:
    text = bounded("line\n" * 1000, 100, "Use depth.")
    assert len(text) < 200
    assert text.endswith("[4901 of 5000 characters are omitted. Use depth.]")
    assert bounded("short", 100) == "short"
    assert bounded("x" * 101, 100).startswith("x" * 100 + "\n[1 of")


def test_a_page_cannot_know_the_marker_of_its_text() -> None:
    first, second = untrusted("a"), untrusted("a")
    assert first != second
    assert first.endswith(f"</{first.splitlines()[1][1:]}")
