"""api.js in a browser while the server stops and starts again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hatbox.ui.server import ManagerServer
from tests.ui.manager import Manager
from tests.waiting import until_awaited

if TYPE_CHECKING:
    from playwright.async_api import Page

WATCH = """async () => {
    const {browser, connection} = await import("./api.js");
    globalThis.log = [];
    globalThis.created = [];
    connection.onStatus((online) => { if (log.at(-1) !== online) log.push(online); });
    connection.onResync(() => log.push("resync"));
    browser.contextualIdentities.onCreated.addListener(({contextualIdentity}) => created.push(contextualIdentity.name));
    globalThis.create = (name) => browser.contextualIdentities.create({name, color: "red", icon: "gift"});
    globalThis.connection = connection;
    await create("Before");
    log.length = 0;
}"""


async def test_a_page_reconnects_sends_what_waited_once_and_loads_again(manager: Manager, manager_page: Page) -> None:
    await manager_page.evaluate(WATCH)
    await manager.server.stop()
    await until_awaited(lambda: manager_page.evaluate("!connection.online"))
    await manager_page.evaluate("globalThis.waiting = [create('Offline 1'), create('Offline 2')]; null")
    again = ManagerServer(manager.profile, port=manager.server.port)
    again.keys = manager.server.keys
    async with again:
        await manager_page.evaluate("connection.retry()")
        await manager_page.evaluate("Promise.all(waiting)")
        await manager.profile.identities.create("By a script", color="blue", icon="fruit")
        await until_awaited(lambda: manager_page.evaluate("created.length === 4"))
        assert await manager_page.evaluate("log") == [False, True, "resync"]
        names = ["Before", "Offline 1", "Offline 2", "By a script"]
        assert await manager_page.evaluate("created") == names
        assert [each.name for each in await manager.profile.identities.query()][4:] == names
    async with ManagerServer(manager.profile, port=manager.server.port):  # another start, which has no such cookie
        await until_awaited(lambda: manager_page.evaluate("connection.refused"))
        assert not await manager_page.evaluate("connection.online")
    await manager.server.start()
