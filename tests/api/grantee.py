"""Two identities with something to protect, and a program with a grant for the first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import hatbox
from hatbox import Grant, Profile
from hatbox.api.browser import Browser, dispatcher_and_caller
from hatbox.grants.grant import ACTIONS
from tests.postgres import address_of

SECRET = "SECRET"
OWNER = ["contextualIdentities", "cookies", "tabs", "<all_urls>"]


class Grantee(NamedTuple):
    """The owner of the profile, and the `browser` of a grantee for Work. Banking is not in the grant."""

    profile: Profile
    owner: Browser
    browser: Browser
    grant: Grant
    work: str
    banking: str

    async def call(self, path: str, *arguments: Any) -> Any:
        """Call any function as the grantee, through the dispatcher."""
        dispatcher, caller = dispatcher_and_caller(self.browser)
        namespace, _, member = path.rpartition(".")
        reply = dispatcher.call(caller, namespace, member, arguments)
        return None if reply is None else await reply

    async def tab(self, store: str, url: str, title: str = "") -> int:
        """A tab with this page, without an engine."""
        made = await self.owner.tabs.create(
            {"url": url, "title": title or url, "cookieStoreId": store, "discarded": True, "active": False}
        )
        return int(made["id"])

    async def cookie(self, store: str, url: str, name: str, value: str, **more: Any) -> None:
        details: Any = {"url": url, "name": name, "value": value, "storeId": store, **more}
        await self.owner.cookies.set(details)


@asynccontextmanager
async def grantee(
    path: Path, hosts: Sequence[str] | None = None, actions: Iterable[str] = frozenset(ACTIONS)
) -> AsyncIterator[Grantee]:
    async with hatbox.open(address_of(path / "profile.db")) as profile:
        work = await profile.identities.find("Work")
        banking = await profile.identities.create(f"{SECRET} Banking")
        grant, token = await profile.grants.create(identities="Work", hosts=hosts, actions=actions)
        browser = await profile.browser(grant=token)
        owner = profile.browser(OWNER)
        yield Grantee(profile, owner, browser, grant, work.cookie_store_id, banking.cookie_store_id)
