from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.tabs.site_data import (
    DATABASES,
    LOCAL_STORAGE,
    SiteDataRemoval,
    clear_site_data,
    decode_site_data,
    encode_site_data,
    parts_of,
)
from tests.store.in_loop import in_loop

BOTH = {"local": [["k", "v"]], "databases": [{"name": "d"}]}


@pytest.mark.parametrize(
    ("hosts", "origin", "is_about"),
    [
        (None, "https://a.example", True),
        ([], "https://a.example", False),
        (["a.example"], "https://a.example", True),
        (["a.example"], "http://a.example", True),
        (["a.example"], "https://a.example:8443", False),
        (["a.example:8443"], "https://a.example:8443", True),
        (["a.example"], "https://b.a.example", False),
    ],
)
def test_a_host_is_compared_with_its_port(hosts: list[str] | None, origin: str, is_about: bool) -> None:
    assert SiteDataRemoval(0, [LOCAL_STORAGE], hosts).is_about(origin) == is_about


@pytest.mark.parametrize(
    ("before", "parts", "after"),
    [
        (BOTH, [LOCAL_STORAGE], BOTH | {"local": []}),
        (BOTH, [DATABASES], BOTH | {"databases": []}),
        (BOTH, [LOCAL_STORAGE, DATABASES], None),
        (BOTH | {"local": []}, [DATABASES], None),
        (BOTH | {"left": 5}, [LOCAL_STORAGE], BOTH | {"local": [], "left": 5}),
    ],
)
@in_loop
async def test_what_is_left_stays_as_it_was(tmp_path: Path, before: Any, parts: list[str], after: Any) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:

        def forget(transaction: Any) -> list[Any]:
            transaction.site_data.put(1, "https://a.example", json.dumps(before).encode())
            clear_site_data(transaction, 1, parts)
            return [json.loads(data) for _, data in transaction.site_data.load(1)]

        assert await profile.store.write(forget) == ([] if after is None else [after])


@pytest.mark.parametrize("part", ["local", "databases"])
@in_loop
async def test_data_that_a_page_has_nested_too_deeply_can_be_removed(tmp_path: Path, part: str) -> None:
    data = b'{"local":[["k","v"]],"databases":[' + b"[" * 20_000 + b"]" * 20_000 + b"]}"
    async with hatbox.open(tmp_path / "profile.db") as profile:
        await profile.store.write(lambda each: each.site_data.put(2, "https://site.example", data))
        assert parts_of(data) == {"local", "databases"}
        await profile.store.write(lambda each: clear_site_data(each, 2, [part]))
        assert await profile.store.read(lambda each: each.site_data.load(2)) == []


def test_text_of_javascript_with_lone_surrogates_is_stored_and_cleared() -> None:
    site_data = {"local": [["\ud800", "\udc00 and \u65e5"]], "databases": [{"name": "d"}]}
    data = encode_site_data(site_data)
    assert decode_site_data(data) == site_data
    assert parts_of(data) == {LOCAL_STORAGE, DATABASES}
    data.decode()  # the engine passes it on as text
