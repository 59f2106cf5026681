from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox import ApiError, Profile
from hatbox.api.browser import Browser
from hatbox.extension_data.storage.structured_clone import as_json, clone_size, cloned
from hatbox.javascript.text import stringify
from hatbox.javascript.wire_codec import UNDEFINED, decode
from hatbox.messaging.context import ExtensionContext
from tests.api.caller import extension_browser, extension_caller

AREAS = ("local", "sync", "session")
ID = "test@example.org"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def with_profile(tmp_path: Path, use: Callable[[Profile], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(30), hatbox.open(tmp_path / "profile.db") as profile:
            await use(profile)

    asyncio.run(main())


def storage_of(profile: Profile, extension_id: str = ID) -> Any:
    return extension_browser(profile, ["storage"], extension_id).storage


async def error_message(call: Awaitable[Any]) -> str:
    with pytest.raises(ApiError) as caught:
        await call
    return str(caught.value)


@pytest.mark.parametrize("area", AREAS)
def test_an_extension_reads_its_own_values_only(tmp_path: Path, area: str) -> None:
    async def use(profile: Profile) -> None:
        mine, other = getattr(storage_of(profile), area), getattr(storage_of(profile, "other@example.org"), area)
        received: list[Any] = []
        other.onChanged.addListener(received.append)
        await mine.set({"a": 1})
        assert await other.get() == {}
        assert await other.getBytesInUse() == 0
        await other.clear()
        await other.remove("a")
        assert await mine.get() == {"a": 1}
        assert [change for change in received if change] == []

    with_profile(tmp_path, use)


def test_the_areas_do_not_share_their_keys(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        storage = storage_of(profile)
        for area in AREAS:
            await getattr(storage, area).set({"a": area})
        await storage.session.clear()
        assert [await getattr(storage, area).get("a") for area in AREAS] == [{"a": "local"}, {"a": "sync"}, {}]

    with_profile(tmp_path, use)


@pytest.mark.parametrize("area", AREAS)
def test_calls_made_together_take_effect_in_their_order(tmp_path: Path, area: str) -> None:
    async def use(profile: Profile) -> None:
        area_api = getattr(storage_of(profile), area)
        calls = [
            area_api.set({"a": 1}),
            area_api.get("a"),
            area_api.set({"a": 2}),
            area_api.get("a"),
            area_api.clear(),
            area_api.get("a"),
        ]
        assert (await asyncio.gather(*calls))[1::2] == [{"a": 1}, {"a": 2}, {}]

    with_profile(tmp_path, use)


def test_a_content_script_observes_every_area_but_that_of_the_session(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        caller = extension_caller(["storage"], ID)
        script = caller.in_context(ExtensionContext(ID, "https://site.example/", "https://site.example", kind=None))
        received: dict[str, list[str]] = {"page": [], "script": []}
        for name, each in {"page": caller, "script": script}.items():
            browser: Any = Browser(profile._dispatcher, each)
            browser.storage.onChanged.addListener(lambda _, area, name=name: received[name].append(area))
        browser = Browser(profile._dispatcher, caller)
        for area in ("session", "local", "session", "sync"):
            await getattr(browser.storage, area).set({"token": area + str(len(received["page"]))})
        assert received == {"page": ["session", "local", "session", "sync"], "script": ["local", "sync"]}

    with_profile(tmp_path, use)


@pytest.mark.parametrize("area", AREAS)
def test_another_process_receives_changes(tmp_path: Path, area: str) -> None:
    async def main() -> None:
        path = tmp_path / "profile.db"
        async with asyncio.timeout(30), hatbox.open(path) as here, hatbox.open(path) as there:
            received: asyncio.Queue[Any] = asyncio.Queue()
            storage_of(here).onChanged.addListener(lambda *args: received.put_nowait(args))
            await getattr(storage_of(there), area).set({"a": "half \ud800 a pair"})
            changes, told_area = await received.get()
            assert (changes["a"]["newValue"], told_area) == ("half \ud800 a pair", area)
            assert await getattr(storage_of(here), area).get() == {"a": "half \ud800 a pair"}

    asyncio.run(main())


def test_two_listeners_get_objects_of_their_own(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        received: list[Any] = []
        for _ in range(2):
            storage_of(profile).local.onChanged.addListener(received.append)
        await storage_of(profile).local.set({"a": {}})
        assert received[0] == received[1]
        assert received[0] is not received[1]

    with_profile(tmp_path, use)


def test_storage_needs_the_permission_and_an_extension(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        caller = extension_caller(["storage"])
        browser = Browser(profile._dispatcher, caller)
        received: list[Any] = []
        browser.storage.local.onChanged.addListener(received.append)
        caller.permissions.clear()
        await storage_of(profile).local.set({"a": 1})
        assert received == []
        assert not hasattr(browser, "storage")
        assert not hasattr(profile.browser(["storage"]), "storage")

    with_profile(tmp_path, use)


def test_set_stores_nothing_if_one_value_cannot_be_stored(tmp_path: Path) -> None:
    async def use(profile: Profile) -> None:
        storage = storage_of(profile)
        words = "DataCloneError: Function object could not be cloned."
        assert await error_message(storage.local.set({"a": 1, "f": print})) == words
        assert await error_message(storage.session.set({"a": 1, "f": [{"f": print}]})) == words
        sync_words = "DataCloneError: The object could not be cloned."
        assert await error_message(storage.sync.set({"a": 1, "f": print})) == sync_words
        assert [await getattr(storage, area).getKeys() for area in AREAS] == [[], [], []]

    with_profile(tmp_path, use)


@pytest.mark.parametrize("area", AREAS)
def test_a_key_that_is_half_a_pair_of_surrogates_becomes_text(tmp_path: Path, area: str) -> None:
    async def use(profile: Profile) -> None:
        area_api = getattr(storage_of(profile), area)
        await area_api.set({"\ud800": 1})
        assert await area_api.get("\ud800") == {"\ufffd": 1}
        assert await area_api.get({"\ud800": 5}) == {"\ufffd": 1}
        await area_api.remove("\ud800")
        assert await area_api.get() == {}

    with_profile(tmp_path, use)


# ---------------------------------------------------------------------------------------------------- managed


def lay_down(tmp_path: Path, contents: str | bytes) -> None:
    folder = tmp_path / "managed-storage"
    folder.mkdir()
    (folder / f"{ID}.json").write_bytes(contents if isinstance(contents, bytes) else contents.encode())


def test_what_is_laid_down_is_found(tmp_path: Path) -> None:
    lay_down(tmp_path, '{"b": 1, "a": {"x": [null]}}')

    async def use(profile: Profile) -> None:
        managed = storage_of(profile).managed
        assert await managed.get() == {"b": 1, "a": {"x": [None]}}
        assert await managed.get("b") == {"b": 1}
        assert await managed.get(["a", "nope"]) == {"a": {"x": [None]}}
        assert await managed.get({"nope": 5, "b": 0}) == {"nope": 5, "b": 1}
        assert await managed.getKeys() == ["b", "a"]
        assert await managed.getBytesInUse() == 0
        assert await error_message(managed.set({"b": 2})) == "storage.managed is read-only"
        other = storage_of(profile, "other@example.org").managed
        assert await error_message(other.get()) == "Managed storage manifest not found"

    with_profile(tmp_path, use)


@pytest.mark.parametrize("contents", [b"", b"[]", b"{", b"null", b"\xff", b'{"a": "%s"}' % (b"x" * 5_242_880)])
def test_an_unreadable_file_is_logged_and_missing(
    tmp_path: Path, contents: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    lay_down(tmp_path, contents)

    async def use(profile: Profile) -> None:
        assert await error_message(storage_of(profile).managed.get()) == "Managed storage manifest not found"
        assert f"managed-storage/{ID}.json" in caplog.text.replace("\\", "/")

    with_profile(tmp_path, use)


def test_an_id_never_leads_out_of_the_folder(tmp_path: Path) -> None:
    lay_down(tmp_path, "{}")
    (tmp_path / "secret.json").write_text("{}")

    async def use(profile: Profile) -> None:
        managed = storage_of(profile, "../secret").managed
        assert await error_message(managed.get()) == "Managed storage manifest not found"

    with_profile(tmp_path, use)


def test_an_extension_cannot_fill_the_disk_unless_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hatbox.api.namespaces.storage._MAX_LOCAL_BYTES", 300_000)

    async def use(profile: Profile) -> None:
        local = storage_of(profile).local
        await local.set({"first": "x" * 200_000})
        expected = "QuotaExceededError: storage.local API call exceeded its quota limitations."
        assert await error_message(local.set({"second": "x" * 200_000})) == expected
        assert list(await local.get()) == ["first"]
        await local.set({"small": "x"})
        await local.remove("first")
        await local.set({"second": "x" * 200_000})
        unlimited = extension_browser(profile, ["storage", "unlimitedStorage"], ID).storage.local
        await unlimited.set({"third": "x" * 500_000})

    with_profile(tmp_path, use)


# ------------------------------------------------------------------------------------------- serialization


@given(json_values)
def test_every_area_stores_every_json_value(value: Any) -> None:
    assert cloned(value) is value
    assert stringify(as_json(value)) == stringify(value)


@pytest.mark.slow
@given(json_values)
def test_a_clone_is_never_much_larger_than_its_json(value: Any) -> None:
    # area_apis.py relies on it: below a sixteenth of the quota, clones are not measured.
    assert clone_size(value) <= 16 * len(json.dumps(value, separators=(",", ":")))


def special(text: str) -> Any:
    return decode(text.replace("~", "\\u0000").encode())


@pytest.mark.parametrize(
    ("value", "size"),  # as Firefox 153 counts them
    [
        (UNDEFINED, 16),
        (1.5, 16),
        ("12345678", 24),
        ("123456789", 32),
        ("éééééééé", 24),
        ("日本日本日", 32),
        ({"4294967295": 1}, 56),
        ({"123456789": 1}, 40),
        ({"日": 1}, 48),
        ({"a": {"b": [1, "x"]}}, 128),
        (special('{"~":["object","Date",5]}'), 24),
        (special('{"~":["object","RegExp",["abc","g"]]}'), 32),
        (special('{"~":["object","Map",[[1,2]]]}'), 40),
        (special('{"~":["object","Set",[1,2]]}'), 40),
        (special('{"~":["bigint","5"]}'), 24),
        (special('{"~":["bigint","0"]}'), 16),
        (special('{"~":["bigint","1180591620717411303424"]}'), 32),
        (special('{"~":["object","ArrayBuffer","AQID"]}'), 32),
        (special('{"~":["object","Uint8Array","AQI="]}'), 56),
        (special('{"~":["object","Uint16Array","AQACAAMABAAFAA=="]}'), 64),
    ],
)
def test_clones_are_as_large_as_firefox_makes_them(value: Any, size: int) -> None:
    assert clone_size(cloned(value)) == size


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"~":["object","Date",5]}', "1970-01-01T00:00:00.005Z"),
        ('{"~":["object","Date",{"~":["number","NaN"]}]}', None),
        ('{"~":["number","NaN"]}', None),
        ('{"~":["number","-0"]}', 0),
        ('{"~":["object","Map",[[1,2]]]}', {}),
        ('{"a":{"~":["undefined"]},"f":{"~":["function"]},"l":[{"~":["undefined"]}]}', {"l": [None]}),
        ('{"~":["undefined"]}', None),
    ],
)
def test_json_is_what_stringify_makes_of_a_value(text: str, expected: Any) -> None:
    assert as_json(special(text)) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"~":["function"]}', "DataCloneError: The object could not be cloned."),
        ('{"~":["object","Symbol",null]}', "DataCloneError: The object could not be cloned."),
        ('{"~":["bigint","5"]}', "BigInt value can't be serialized in JSON"),
        ('{"~":["object","BigInt",null]}', "BigInt value can't be serialized in JSON"),
        ('{"~":["object","Cycle",null]}', "cyclic object value"),
        ('{"~":["object","Error",null]}', "An unexpected error occurred"),
    ],
)
def test_values_that_stringify_rejects_are_rejected_with_firefoxs_message(text: str, words: str) -> None:
    with pytest.raises(ApiError) as caught:
        as_json(special(text))
    assert str(caught.value) == words
