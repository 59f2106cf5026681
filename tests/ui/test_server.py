"""The manager page in a browser: it loads, and calls the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.ui.manager import Manager
from tests.waiting import until_awaited

if TYPE_CHECKING:
    from playwright.async_api import Page

_LISTEN = """async () => {
    const {browser} = await import("./api.js");
    globalThis.names = [];
    browser.contextualIdentities.onCreated.addListener(({contextualIdentity}) => names.push(contextualIdentity.name));
    await browser.contextualIdentities.create({name: "From the page", color: "red", icon: "gift"});
}"""


async def test_the_page_calls_the_api_and_receives_events(manager: Manager, manager_page: Page) -> None:
    await manager_page.evaluate(_LISTEN)
    await manager.profile.identities.create("From a script", color="blue", icon="fruit")
    created = ["From the page", "From a script"]
    await until_awaited(lambda: manager_page.evaluate("names.length === 2"))
    assert await manager_page.evaluate("names") == created
    assert created == [each.name for each in await manager.profile.identities.query()][-2:]


async def test_an_error_of_a_call_is_a_rejection_with_its_message(manager: Manager, manager_page: Page) -> None:
    message, kind = await manager_page.evaluate("""async () => {
        const {browser} = await import("./api.js");
        const called = browser.contextualIdentities.get("firefox-container-999");
        return called.catch((error) => [error.message, error.kind]);
    }""")
    assert kind == "InvalidIdentity"
    assert message.startswith("This identity is gone. ")
