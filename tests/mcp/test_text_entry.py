"""Text that an agent types goes into the field, not into a frame that takes the focus."""

from __future__ import annotations

from pathlib import Path

import pytest

from hatbox.mcp.text_entry import character_of
from tests.mcp.agent_client import reference
from tests.mcp.agent_site import AgentSite
from tests.mcp.test_page_borders import Caller, run
from tests.waiting import until_awaited


@pytest.mark.browser
def test_a_frame_that_takes_the_focus_gets_no_text(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        page = await call("browser_navigate", url=site.url("/stolen"))
        tab = (await call.session.pages.current()).page
        thief = next(each for each in tab.frames if each.url.endswith("/thief"))

        async def is_stealing() -> bool:
            return bool(await tab.evaluate("document.activeElement.localName === 'iframe'"))

        for number in range(3):
            await until_awaited(is_stealing)
            text = f"secret {number}"
            await call("browser_type", target=reference(page, "Line"), text=text)
            fields = [{"target": reference(page, label), "value": text} for label in ("Area", "Editor")]
            await call("browser_fill_form", fields=fields)
            assert await tab.evaluate("[a.value, b.value, c.textContent]") == [text] * 3
            await call("browser_type", target=reference(page, "Code"), text="slow", slowly=True)
            await call("browser_click", target=reference(page, "Code"))
            await call("browser_press_key", key="k")
            assert await thief.evaluate("x.value") == ""
        assert sorted((await tab.evaluate("d.value")).replace("k", "")) == sorted("slow" * 3)
        await until_awaited(is_stealing)
        assert "a frame of another site has the focus" in await call("browser_press_key", key="k")
        page = await call("browser_snapshot")
        await call("browser_click", target=reference(page, "Thief"))
        await call("browser_press_key", key="Shift+k")  # into the field that the agent has clicked
        assert await thief.evaluate("x.value") == "K"

    run(tmp_path, test)


@pytest.mark.browser
def test_text_is_entered_as_by_a_person(tmp_path: Path) -> None:
    async def test(call: Caller, site: AgentSite) -> None:
        page = await call("browser_navigate", url=site.url("/typing"))
        assert page.startswith("HTTP status: 200\n")
        tab = (await call.session.pages.current()).page
        labels = {
            "Line": "new",
            "Area": "two\nlines",
            "Editor": "new",
            "Number": "42",
            "Date": "2026-11-19",
        }
        fields = [{"target": reference(page, each), "value": text} for each, text in labels.items()]
        await call("browser_fill_form", fields=fields)
        shown = await tab.evaluate("[a.value, b.value, c.textContent, d.value, e.value]")
        assert shown == ["new", "two\nlines", "new", "42", "2026-11-19"]
        changed = ["beforeinput", "input!"]
        for text, events in (("x", changed), ("", changed), ("", [])):
            await tab.evaluate("events.length = 0")
            await call("browser_type", target=reference(page, "Line"), text=text)
            assert await tab.evaluate("[a.value, events]") == [text, events]
        await call("browser_type", target=reference(page, "Line"), text="ab", slowly=True)
        assert await tab.evaluate("a.value") == "ab"
        assert await tab.evaluate("events.join(' ')") == " ".join(["keydown keypress beforeinput input! keyup"] * 2)
        await call("browser_press_key", key="c")
        await call("browser_press_key", key="Backspace")
        await call("browser_press_key", key="Shift+d")
        assert await tab.evaluate("a.value") == "abD"
        await call("browser_type", target=reference(page, "Code"), text="12", slowly=True)
        assert await tab.evaluate("[f.value, g.value]") == ["1", "2"]  # the page moves the focus to its next field

    run(tmp_path, test)


@pytest.mark.parametrize(
    ("key", "character"),
    [
        ("a", "a"),
        ("Shift+a", "A"),
        ("KeyA", "a"),
        ("Shift+KeyA", "A"),
        ("Digit1", "1"),
        ("Space", " "),
        ("+", "+"),
        ("\xe9", "\xe9"),
        ("Shift+Digit1", ""),
        ("Shift+1", ""),
        ("Control+a", ""),
        ("Enter", ""),
        ("F1", ""),
        ("Keyboard", ""),
    ],
)
def test_keys_that_type_a_character_are_known(key: str, character: str) -> None:
    assert character_of(key) == character
