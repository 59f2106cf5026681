from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import hatbox
from hatbox.extensions.package_repository import url_secret
from hatbox.store.profile_settings import PROFILE, URL_SECRET
from tests.extensions.made import make


def test_every_profile_has_other_urls_for_an_extension_and_they_stay(tmp_path: Path) -> None:
    made = make(tmp_path)

    async def uuids(name: str) -> list[str]:
        found = []
        for _ in range(2):
            async with hatbox.open(tmp_path / name) as profile:
                loaded = await profile.extensions.packages.load(made)
                candidate = await profile.extensions.packages.candidate(made)
                assert candidate.manifest.uuid == loaded.manifest.uuid
                found.append(loaded.manifest.uuid)
        return found

    async def main() -> None:
        first, second = await uuids("first.db"), await uuids("second.db")
        assert len({*first}) == len({*second}) == 1
        assert first != second

    asyncio.run(main())


@pytest.mark.parametrize("damaged", [b"", b"{", b"5", b'""', b'"short"'])
def test_a_damaged_secret_is_replaced(tmp_path: Path, damaged: bytes) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "p.db") as profile:
            await profile.store.write(lambda each: each.settings.put(PROFILE, URL_SECRET, damaged))
            secret = await url_secret(profile.store)
            assert len(secret) == 64
            assert await url_secret(profile.store) == secret

    asyncio.run(main())


def test_programs_that_create_the_secret_at_the_same_time_have_the_same_one(tmp_path: Path) -> None:
    async def main() -> None:
        async with hatbox.open(tmp_path / "p.db") as one, hatbox.open(tmp_path / "p.db") as two:
            stores = (one._store, two._store)
            assert len({*await asyncio.gather(*(url_secret(store) for store in stores * 5))}) == 1

    asyncio.run(main())
