from __future__ import annotations

import asyncio

import pytest

import hatbox
from hatbox.errors import InvalidIdentity, InvalidName
from hatbox.store.base import Transaction
from tests.archive.contents import fill_profile, uuid_of


def test_a_clone_has_everything_but_tabs_and_rules_and_is_another_identity(address: str) -> None:
    def check(transaction: Transaction) -> None:
        assert [row[1] for row in transaction.identities.find()][:4] == ["Shopping", "Personal", "Work", "Work 2"]
        assert sorted(transaction.cookies.load(7)) == sorted(transaction.cookies.load(2))
        assert transaction.site_data.load(7) == transaction.site_data.load(2)
        assert transaction.settings.load(7) == [("settings", b'{"locale":"de-a"}')]
        assert transaction.tabs.find(store=7) == []
        assert len(transaction.tabs.find(store=2)) == 3
        assert uuid_of(transaction, 7) != uuid_of(transaction, 2)
        assert not [rule for _, rule in transaction.rules.find() if b"firefox-container-7" in rule]

    async def main() -> None:
        async with hatbox.open(address) as profile:
            await profile.store.write(fill_profile)
            await profile.store.write(lambda each: each.settings.put(2, "maker", b'"one@example"'))
            created: list[str] = []
            profile.identities.on_created.add_listener(lambda identity: created.append(identity.name))
            clone = await profile.identities.clone("Work", "Work 2")
            assert (clone.icon, clone.color, clone.hidden) == ("briefcase", "orange", False)
            assert created == ["Work 2"]
            await profile.store.read(check)
            await (await profile.cookie_store(clone)).clear()
            assert len(await (await profile.cookie_store("Work")).cookies()) == 3

    asyncio.run(main())


def test_the_name_of_a_clone_is_free_and_can_be_given(address: str) -> None:
    async def main() -> None:
        async with hatbox.open(address) as profile:
            names = [(await profile.identities.clone(each)).name for each in ("Work", "Work", "Work 2")]
            assert names == ["Work 2", "Work 3", "Work 4"]
            with pytest.raises(InvalidName):
                await profile.identities.clone("Work", " ")
            with pytest.raises(InvalidIdentity):
                await profile.identities.clone("firefox-container-99")
            assert len(await profile.identities.query()) == 7

    asyncio.run(main())
