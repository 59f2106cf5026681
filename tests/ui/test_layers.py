"""Messages, errors and popovers of the manager page: where they are, what they close, and where the focus goes."""

from __future__ import annotations

from playwright.async_api import Page, expect

_SHOW = """async (what) => {
  const [layers, dom] = await Promise.all([import("./layers.js"), import("./dom.js")]);
  const button = document.querySelector("main h1 ~ * button, main button");
  if (what === "popover") {
    const name = dom.h("input", {"aria-label": "Draft", value: ""});
    layers.popover(button, name, {label: "Editor"});
    name.focus();
  } else if (what === "hidden") {
    const hidden = dom.h("button", {hidden: true});
    button.after(hidden);
    layers.problem(hidden, "At what is visible.");
  } else if (what === "problem") {
    layers.problem(button, "Late error.");
  } else {
    layers.toast("It worked.");
  }
}"""


async def test_an_error_leaves_open_what_is_edited_and_a_message_returns_the_focus(manager_page: Page) -> None:
    page = manager_page
    await page.get_by_role("button", name="New identity").wait_for()
    await page.evaluate(_SHOW, "popover")
    draft = page.get_by_label("Draft")
    await page.keyboard.type("typed")
    await page.evaluate(_SHOW, "problem")
    await expect(page.get_by_text("Late error.")).to_be_visible()
    await expect(draft).to_be_focused()
    await page.keyboard.press("Escape")  # closes only the error
    await expect(page.get_by_text("Late error.")).to_have_count(0)
    await expect(draft).to_have_value("typed")
    await page.keyboard.press("Escape")
    await expect(draft).to_have_count(0)

    # Beside an element that is not visible it would stand in the corner of the window.
    await page.evaluate(_SHOW, "hidden")
    box = await page.get_by_text("At what is visible.").bounding_box()
    assert box is not None
    assert box["x"] > 100
    await page.keyboard.press("Escape")

    search = page.get_by_role("searchbox")
    await search.focus()
    await page.evaluate(_SHOW, "toast")
    await page.get_by_role("button", name="Dismiss").focus()
    await page.keyboard.press("Enter")
    await expect(page.locator(".toast")).to_have_count(0)
    await expect(search).to_be_focused()
