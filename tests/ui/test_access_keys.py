"""Tokens and cookies: used once, expiring, and stored as hashes."""

from __future__ import annotations

import json
from pathlib import Path

from hatbox.ui.access_keys import AccessKeys, StoredKeys
from hatbox.ui.stored_keys import KeyFile


def test_a_token_works_once() -> None:
    keys = AccessKeys()
    token, other = keys.create_token(), keys.create_token()
    cookie = keys.redeem(token)
    assert cookie is not None and keys.accepts(cookie)
    assert keys.redeem(token) is None
    assert keys.redeem(other) is not None


def test_a_link_expires_after_ten_minutes() -> None:
    now = 1000.0
    keys = AccessKeys(clock=lambda: now)
    first, second = keys.create_token(), keys.create_token()
    now += 599
    assert keys.redeem(first) is not None
    now += 1
    assert keys.redeem(second) is None


def test_other_texts_are_refused() -> None:
    keys = AccessKeys()
    token = keys.create_token()
    for text in ("", token[:-1], token + "=", token.swapcase(), "\ud800", "x" * 10_000):
        assert keys.redeem(text) is None
    cookie = keys.redeem(token)
    assert cookie is not None
    assert not any(keys.accepts(text) for text in ("", token, cookie[:-1], cookie.swapcase(), "\udfff"))
    other = AccessKeys()
    assert not other.accepts(cookie) and other.prefix != keys.prefix


def test_secrets_have_256_bits_and_differ() -> None:
    keys = AccessKeys()
    tokens = {keys.create_token() for _ in range(50)}
    assert len(tokens) == 50 and all(len(each) == 43 for each in tokens)


def test_a_cookie_expires_a_week_after_its_last_use() -> None:
    now, day = 1000.0, 24 * 3600
    keys = AccessKeys(clock=lambda: now)
    cookie = keys.redeem(keys.create_token())
    assert cookie is not None
    for _ in range(4):
        now += 6 * day
        assert keys.accepts(cookie)
    now += 7 * day
    assert not keys.accepts(cookie)


def test_a_server_on_the_same_port_accepts_the_cookies_of_the_last_one(tmp_path: Path) -> None:
    file = KeyFile(tmp_path / "profile.db-ui-1000-keys.json")
    assert (file.last_port, file.load(8000)) == (0, None)
    keys = AccessKeys(file.load(8000), lambda stored: file.save(8000, stored))
    cookie, token = keys.redeem(keys.create_token()), keys.create_token()
    assert cookie is not None
    assert (file.last_port, file.load(8001)) == (8000, None)
    again = AccessKeys(file.load(8000))
    assert again.prefix == keys.prefix and again.accepts(cookie)
    assert again.redeem(token) is None
    file.delete()
    assert file.load(8000) is None
    file.delete()


def test_the_file_of_keys_is_readable_by_its_user_only_and_has_no_secret(tmp_path: Path) -> None:
    path = tmp_path / "profile.db-ui-1000-keys.json"
    keys = AccessKeys(None, lambda stored: KeyFile(path).save(8000, stored))
    cookie = keys.redeem(keys.create_token())
    assert path.stat().st_mode & 0o777 == 0o600
    assert cookie is not None and cookie not in path.read_text()
    assert list(tmp_path.iterdir()) == [path]


def test_a_damaged_file_of_keys_counts_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    damaged = {"port": 8000, "keys": {"prefix": "x", "cookies": {"a": "b"}}}
    for text in ("", "{", "[]", '{"port": 2}', '{"port": 8000000}', json.dumps(damaged)):
        path.write_text(text)
        assert KeyFile(path).load(8000) is None
    short = StoredKeys("../short", {})
    assert AccessKeys(short).prefix != short.prefix


def test_the_number_of_tokens_and_cookies_is_bounded() -> None:
    stored: list[StoredKeys] = []
    keys = AccessKeys(None, stored.append)
    tokens = [keys.create_token() for _ in range(200)]
    assert keys.redeem(tokens[0]) is None
    for _ in range(200):
        keys.redeem(keys.create_token())
    assert len(stored[-1].cookies) <= 65
