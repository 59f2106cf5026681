"""proxy.settings: what Firefox answers an extension that has no private windows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import hatbox
from hatbox.errors import HatboxError
from tests.api.caller import extension_browser
from tests.store.in_loop import in_loop

REFUSED = [
    ("get", (), "Incorrect argument types for types.Setting.get."),
    ("get", ("x",), "Incorrect argument types for types.Setting.get."),
    (
        "get",
        ({"foo": False},),
        'Type error for parameter details (Unexpected property "foo") for types.Setting.get.',
    ),
    ("set", (), "Incorrect argument types for types.Setting.set."),
    ("set", ({},), 'Type error for parameter details (Property "value" is required) for types.Setting.set.'),
    (
        "set",
        ({"value": {}, "scope": "foo"},),
        "Type error for parameter details (Error processing scope: Invalid enumeration value "
        '"foo") for types.Setting.set.',
    ),
    ("set", ({"value": {"proxyType": "none"}},), "proxy.settings requires private browsing permission."),
    ("set", ({"value": 5},), "proxy.settings requires private browsing permission."),
    ("clear", (), "Incorrect argument types for types.Setting.clear."),
    ("clear", ({"scope": "regular_only"},), "Firefox does not support the regular_only settings scope."),
]


@pytest.mark.parametrize(("member", "arguments", "message"), REFUSED)
@in_loop
async def test_calls_that_firefox_rejects_are_rejected_with_its_message(
    tmp_path: Path, member: str, arguments: tuple[Any, ...], message: str
) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser: Any = extension_browser(profile, ["proxy"])
        settings = browser.proxy.settings
        with pytest.raises(HatboxError) as raised:
            await getattr(settings, member)(*arguments)
        assert str(raised.value) == message


@in_loop
async def test_the_default_is_no_proxy_and_clear_changes_nothing(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        browser: Any = extension_browser(profile, ["proxy"])
        settings = browser.proxy.settings
        found = await settings.get({})
        assert found["levelOfControl"] == "controllable_by_this_extension"
        assert found["value"] == {
            "proxyType": "none",
            "autoConfigUrl": "",
            "autoLogin": False,
            "proxyDNS": True,
            "httpProxyAll": False,
            "socksVersion": 5,
            "passthrough": "",
            "http": "",
            "ssl": "",
            "socks": "",
        }
        assert (await settings.get({"incognito": True}))["levelOfControl"] == "not_controllable"
        assert await settings.clear({}) is False
        settings.onChange.addListener(print)
        assert settings.onChange.hasListener(print)


@in_loop
async def test_it_needs_the_permission(tmp_path: Path) -> None:
    async with hatbox.open(tmp_path / "profile.db") as profile:
        assert not hasattr(extension_browser(profile, ["storage"]), "proxy")
