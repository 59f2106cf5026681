"""Settings of identities: validation, storage, events. Nothing of a password ends up in a message or in the log."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hatbox
from hatbox import IdentitySettings, InvalidSetting
from hatbox.identity.proxy_url import hide_password, parse_proxy
from hatbox.identity.setting_values import (
    accept_language,
    accepted_locale,
    accepted_proxy,
    accepted_timezone,
    accepted_user_agent,
)
from hatbox.identity.settings import SETTINGS_CHANGED
from hatbox.store.base import ChangeRecord, Transaction
from tests.store.in_loop import in_loop

SECRET = "hunter2"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "profile.db"


# ---------------------------------------------------------------------------------------------------------- validation


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("direct", "direct"),
        (" DIRECT ", "direct"),
        ("http://Proxy.Example:8080/", "http://proxy.example:8080"),
        ("HTTPS://proxy.example:443", "https://proxy.example:443"),
        ("socks5h://[::1]:9050", "socks5://[::1]:9050"),
        ("socks5://u:p%40ss@127.0.0.1:9050", "socks5://u:p%40ss@127.0.0.1:9050"),
        ("http://a@b:c:d@h:1", "http://a%40b:c%3Ad@h:1"),
        ("http://u@h:1", "http://u@h:1"),
    ],
)
def test_a_proxy_is_stored_in_one_form(given: str, stored: str) -> None:
    assert accepted_proxy(given) == accepted_proxy(stored) == stored


@pytest.mark.parametrize(
    "given",
    [
        "",
        "proxy.example:8080",
        "http://proxy.example",
        "http://proxy.example:0",
        "http://proxy.example:99999",
        "http://:80",
        "http://h:80/path",
        "http://h:80?q",
        "http://h h:80",
        "http://[::1%eth0]:80",
        "socks4://h:1080",
        "socks://h:1080",
        "ftp://h:21",
        "http://h:80\r\nX: y",
        "http://@h:80",
        "http://u%00:p@h:80",
        "http://u:p%zz@h:80",
        "http://u:%ff@h:80",
        "socks5://u@h:1",
        f"socks5://{'u' * 256}:p@h:1",
        "http://" + "h" * 3000 + ":80",
    ],
)
def test_an_invalid_proxy_is_refused_with_what_is_allowed(given: str) -> None:
    with pytest.raises(InvalidSetting, match="Use direct, http://HOST:PORT"):
        accepted_proxy(given)


@pytest.mark.parametrize("port", ["0", "65536", "99999", "700000", "9" * 500])
def test_the_message_about_a_port_that_is_not_possible_says_which_are(port: str) -> None:
    with pytest.raises(InvalidSetting, match="The port must be 1 to 65535"):
        accepted_proxy(f"http://proxy.example:{port}")


@pytest.mark.parametrize(
    "given",
    [
        f"socks4://user:{SECRET}@h:1",
        f"http://user:{SECRET}@h",
        f"http://user:{SECRET}:h:80",
        f"user:{SECRET}@h:80",
        f"http://user:{SECRET}",
        f"http://user:a://{SECRET}@h",
        f"http://user:{SECRET}@h:80/path",
        f"http://user:%zz{SECRET}@h:80",
        f"http://user:{SECRET}\n@h:80",
    ],
)
def test_the_message_about_an_invalid_proxy_has_no_password(given: str) -> None:
    with pytest.raises(InvalidSetting) as caught:
        accepted_proxy(given)
    assert SECRET not in str(caught.value)
    assert SECRET not in hide_password(given.strip())


TEXT = st.text(string.printable + "äß😀", min_size=1, max_size=40).filter(lambda text: text.isprintable())


@given(TEXT.filter(lambda text: ":" not in text), TEXT, st.integers(1, 65535))
def test_any_credentials_survive_in_a_proxy_and_are_masked(user: str, password: str, port: int) -> None:
    from urllib.parse import quote

    text = f"http://{quote(user, safe='')}:{quote(password, safe='')}@h:{port}"
    parsed = parse_proxy(text)
    assert parsed is not None
    assert (parsed.username, parsed.password, parsed.port) == (user, password, port)
    assert parse_proxy(parsed.text) == parsed
    assert parsed.masked in repr(parsed)
    assert parsed.masked.partition("@")[0].endswith(":***")
    assert hide_password(parsed.text) == parsed.masked


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("http://user:12#34host", "http://user:***"),
        ("http://user:12?34host", "http://user:***"),
        ("http://user:12/34host", "http://user:***"),
        ("http://us/er:secret", "http://us/er:***"),
        ("http://user:12345678", "http://user:***"),
        ("user:a://b@h:1", "user:***@h:1"),
        ("http://user:pa@ss#word", "http://user:***@***"),
        ("http://user:pa@ss", "http://user:***@***"),
        ("http://h:80/", "http://h:80/"),
        ("http://h", "http://h"),
        ("http://[::1]:80", "http://[::1]:80"),
        ("http://u@h:1", "http://u@h:1"),
        ("direct", "direct"),
    ],
)
def test_everything_that_may_be_a_password_is_hidden_also_in_what_is_no_proxy(given: str, shown: str) -> None:
    assert hide_password(given) == shown


@given(st.text(max_size=60))
def test_any_text_is_a_normalised_proxy_or_refused(text: str) -> None:
    try:
        stored = accepted_proxy(text)
    except InvalidSetting:
        return
    assert accepted_proxy(stored) == stored


@pytest.mark.parametrize(
    ("given", "stored", "header"),
    [
        ("de", "de", "de"),
        ("de_de", "de-DE", "de-DE,de;q=0.9"),
        ("ZH-hant-tw", "zh-Hant-TW", "zh-Hant-TW,zh;q=0.9"),
        ("es-419", "es-419", "es-419,es;q=0.9"),
        ("ca-VALENCIA", "ca-valencia", "ca-valencia,ca;q=0.9"),
    ],
)
def test_a_locale_becomes_accept_language(given: str, stored: str, header: str) -> None:
    assert accepted_locale(given) == stored
    assert accept_language(stored) == header


@pytest.mark.parametrize("given", ["", "d", "deutsch-DE", "de-DE-u-co-phonebk", "de,en", "de\r\nX: y", "de-1996-1996"])
def test_an_invalid_locale_is_refused(given: str) -> None:
    with pytest.raises(InvalidSetting, match="Use a language tag"):
        accepted_locale(given)


def test_a_time_zone_is_a_name_of_the_database() -> None:
    assert accepted_timezone("europe/berlin") == "Europe/Berlin"
    assert accepted_timezone("UTC") == "UTC"
    with pytest.raises(InvalidSetting, match="Did you mean Europe/Berlin"):
        accepted_timezone("Berlin")
    for wrong in ("", "../../etc/passwd", "/etc/passwd", "Europe", "localtime", "Mars/Olympus", "x" * 10_000):
        with pytest.raises(InvalidSetting, match="invalid time zone"):
            accepted_timezone(wrong)


@pytest.mark.parametrize("given", ["", "  ", "a\r\nX: y", "a\0", "ä", "x" * 1025])
def test_a_user_agent_that_cannot_be_sent_is_refused(given: str) -> None:
    with pytest.raises(InvalidSetting, match="printable ASCII"):
        accepted_user_agent(given)


# ------------------------------------------------------------------------------------------------------------- service


@in_loop
async def test_settings_are_stored_changed_one_by_one_and_unset(path: Path) -> None:
    async with hatbox.open(path) as profile:
        identities = profile.identities
        assert await identities.settings("Work") == IdentitySettings()
        await identities.set_settings("Work", proxy="socks5h://h:1", locale="de_de")
        await identities.set_settings("Work", timezone="Europe/Berlin", user_agent=" agent ")
        expected = IdentitySettings(proxy="socks5://h:1", user_agent="agent", locale="de-DE", timezone="Europe/Berlin")
        assert await identities.settings("Work") == expected
        assert await identities.settings("Personal") == IdentitySettings()
        changed = await identities.set_settings("Work", proxy=None, user_agent=None, timezone=None)
        assert changed == IdentitySettings(locale="de-DE")
    async with hatbox.open(path) as profile:
        assert await profile.identities.settings("Work") == IdentitySettings(locale="de-DE")


@in_loop
async def test_an_invalid_value_changes_nothing(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.identities.set_settings("Work", proxy="direct")
        with pytest.raises(InvalidSetting):
            await profile.identities.set_settings("Work", proxy="http://h:1", locale="nonsense!")
        with pytest.raises(TypeError, match="proxy must be a string or None"):
            await profile.identities.set_settings("Work", proxy=1)  # type: ignore[arg-type]
        with pytest.raises(hatbox.IdentityNotFound):
            await profile.identities.set_settings("Wrok", proxy="direct")
        assert await profile.identities.settings("Work") == IdentitySettings(proxy="direct")


@in_loop
async def test_a_change_is_an_event_with_the_id_only_and_an_equal_value_is_none(path: Path) -> None:
    async with hatbox.open(path) as profile:
        work = await profile.identities.find("Work")
        events: list[str] = []
        records: list[ChangeRecord] = []
        profile.identities.on_settings_changed.add_listener(events.append)
        profile.store.subscribe(records.append)
        for _ in range(2):
            await profile.identities.set_settings("Work", proxy=f"http://u:{SECRET}@h:1")
        assert events == [work.cookie_store_id]
        assert [record.payload for record in records if record.topic == SETTINGS_CHANGED] == [
            msgspec.json.encode(work.cookie_store_id)
        ]
        assert SECRET not in repr(records)


@in_loop
async def test_settings_are_removed_with_the_identity(path: Path) -> None:
    async with hatbox.open(path) as profile:
        work = await profile.identities.find("Work")
        await profile.identities.set_settings(work, proxy="direct")
        assert await profile.identities.settings_cache.current(work.cookie_store_id) == IdentitySettings(proxy="direct")
        await profile.identities.remove(work)
        with pytest.raises(hatbox.InvalidIdentity):
            await profile.identities.settings(work)
        with pytest.raises(hatbox.InvalidIdentity):
            await profile.identities.settings_cache.current(work.cookie_store_id)
        number = int(work.cookie_store_id.rpartition("-")[2])
        assert await profile.store.read(lambda each: list(each.settings.load(number))) == []


def test_neither_repr_nor_masked_settings_have_the_password() -> None:
    settings = IdentitySettings(proxy=f"http://u:{SECRET}@h:1", locale="de")
    assert repr(settings) == "IdentitySettings(proxy='http://u:***@h:1', locale='de')"
    assert settings.masked.proxy == "http://u:***@h:1"
    assert SECRET not in str(settings.proxy_url)


# --------------------------------------------------------------------------------------------- damage, newer versions


def put(value: bytes) -> Any:
    def work(transaction: Transaction) -> None:
        transaction.settings.put(2, "settings", value)

    return work


@in_loop
async def test_a_field_of_a_newer_version_stays_when_others_change(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.store.write(put(b'{"locale":"de","quantum":{"a":1}}'))
        await profile.identities.set_settings("Work", locale="fr", proxy="direct")
        stored = await profile.store.read(lambda each: each.settings.get(2, "settings"))
        assert msgspec.json.decode(stored or b"") == {"locale": "fr", "proxy": "direct", "quantum": {"a": 1}}


@pytest.mark.parametrize("stored", [b'{"proxy":"masque://h:1"}', b'{"proxy":5}', b"garbage", b"[]", b'{"proxy":""}'])
@in_loop
async def test_a_stored_value_that_cannot_be_used_is_an_error_and_never_no_setting(path: Path, stored: bytes) -> None:
    async with hatbox.open(path) as profile:
        await profile.store.write(put(stored))
        with pytest.raises(InvalidSetting, match="firefox-container-2"):
            await profile.identities.settings("Work")
        async with profile.httpx("Work") as client:
            with pytest.raises(InvalidSetting):
                await client.get("http://127.0.0.1:9/")


@in_loop
async def test_a_proxy_of_a_newer_version_can_be_replaced(path: Path) -> None:
    async with hatbox.open(path) as profile:
        await profile.store.write(put(b'{"proxy":"masque://h:1","locale":"de"}'))
        changed = await profile.change_identity_settings("Work", proxy="direct")
        assert changed == IdentitySettings(proxy="direct", locale="de")


# ----------------------------------------------------------------------------------------------------- other processes


@in_loop
async def test_the_cache_sees_changes_of_another_process_at_once(path: Path) -> None:
    async with hatbox.open(path) as profile, hatbox.open(path) as other:
        work = (await profile.identities.find("Work")).cookie_store_id
        cache = profile.identities.settings_cache
        assert (await cache.current(work)).locale is None
        for locale in ("de", "fr", "it"):
            await other.identities.set_settings("Work", locale=locale)
            assert (await cache.current(work)).locale == locale


@in_loop
async def test_a_profile_that_was_closed_reads_settings_again(path: Path) -> None:
    profile = hatbox.open(path)
    async with profile:
        work = (await profile.identities.find("Work")).cookie_store_id
        assert (await profile.identities.settings_cache.current(work)).locale is None
    async with hatbox.open(path) as other:
        await other.identities.set_settings("Work", locale="de")
    async with profile:
        assert (await profile.identities.settings_cache.current(work)).locale == "de"


def test_a_synchronous_profile_has_settings(path: Path) -> None:
    with hatbox.open_sync(path) as profile:
        profile.identities.set_settings("Work", locale="de")
        assert profile.change_identity_settings("Work", timezone="UTC") == IdentitySettings(locale="de", timezone="UTC")
        assert profile.identities.settings("Work").locale == "de"
