"""The settings of an identity: proxy, user agent, locale and time zone, as transaction functions.

Stored as JSON, under one name in the table of settings. A field that this version does not know stays stored. A stored
value that it cannot use raises an error: a request must not go out as if the setting did not exist.

The change log has the topic SETTINGS_CHANGED with the cookieStoreId, and never a value: a proxy may have a password.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from hatbox.errors import InvalidSetting
from hatbox.identity.ids import cookie_store_id_of
from hatbox.identity.model import SETTINGS_CHANGED
from hatbox.store.base import Transaction

if TYPE_CHECKING:
    from hatbox.identity.proxy_url import ProxyUrl

__all__ = [
    "NO_SETTINGS",
    "SETTINGS_CHANGED",
    "SETTING_NAMES",
    "IdentitySettings",
    "SettingValue",
    "change_settings",
    "checked_settings",
    "decode_settings_change",
    "read_settings",
    "write_settings",
]

SettingValue = str | None | msgspec.UnsetType
"""An argument: a value, None to unset it, UNSET to leave it as it is."""

_NAME: Final = "settings"


class IdentitySettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The settings of an identity. None: not set."""

    proxy: str | None = None
    """`direct`, or a URL: http://, https:// or socks5://, with a port and maybe with USER:PASSWORD@."""
    user_agent: str | None = None
    """The User-Agent header."""
    locale: str | None = None
    """A BCP 47 language tag, such as de-DE."""
    timezone: str | None = None
    """A name of the time zone database, such as Europe/Berlin. Only browsers can use it."""

    @property
    def proxy_url(self) -> ProxyUrl | None:
        """The parsed proxy; None if it is not set, or `direct`: see is_direct."""
        from hatbox.identity.proxy_url import parse_proxy  # imported late: most programs set no proxy

        return None if self.proxy is None else parse_proxy(self.proxy)

    @property
    def is_direct(self) -> bool:
        """Whether requests use no proxy, whatever the environment says."""
        return self.proxy == "direct"

    @property
    def masked(self) -> IdentitySettings:
        """The settings for output: `***` replaces the password of the proxy."""
        from hatbox.identity.proxy_url import hide_password

        return msgspec.structs.replace(self, proxy=None if self.proxy is None else hide_password(self.proxy))

    def __repr__(self) -> str:
        shown = msgspec.structs.asdict(self.masked)
        return f"IdentitySettings({', '.join(f'{name}={value!r}' for name, value in shown.items() if value)})"


NO_SETTINGS: Final = IdentitySettings()
"""The settings of an identity for which nothing was set, and of the default store."""

SETTING_NAMES: Final = IdentitySettings.__struct_fields__
"""proxy, user_agent, locale, timezone."""


def checked_settings(
    *,
    proxy: SettingValue = msgspec.UNSET,
    user_agent: SettingValue = msgspec.UNSET,
    locale: SettingValue = msgspec.UNSET,
    timezone: SettingValue = msgspec.UNSET,
) -> dict[str, str | None]:
    """The given settings, normalised; None unsets one. Raises InvalidSetting, or TypeError for what is no text."""
    from hatbox.identity import setting_values

    accepted = {
        "proxy": setting_values.accepted_proxy,
        "user_agent": setting_values.accepted_user_agent,
        "locale": setting_values.accepted_locale,
        "timezone": setting_values.accepted_timezone,
    }
    given = {"proxy": proxy, "user_agent": user_agent, "locale": locale, "timezone": timezone}
    checked: dict[str, str | None] = {}
    for name, value in given.items():
        if isinstance(value, msgspec.UnsetType):
            continue
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be a string or None, not {type(value).__name__}")
        checked[name] = None if value is None else accepted[name](value)
    return checked


def read_settings(transaction: Transaction, user_context_id: int) -> IdentitySettings:
    """The settings of an identity. Raises InvalidSetting if this version cannot use a stored value."""
    stored = transaction.settings.get(user_context_id, _NAME) if user_context_id else None
    return NO_SETTINGS if stored is None else _settings(user_context_id, _fields(user_context_id, stored))


def change_settings(
    transaction: Transaction, user_context_id: int, changed: Mapping[str, str | None]
) -> IdentitySettings:
    """Change what checked_settings() has returned, and append a change record if something differs."""
    stored = transaction.settings.get(user_context_id, _NAME)
    old = {} if stored is None else _fields(user_context_id, stored)
    new = {name: value for name, value in {**old, **changed}.items() if value is not None}
    settings = _settings(user_context_id, new)
    if new != old:
        _put(transaction, user_context_id, new)
    return settings


def write_settings(transaction: Transaction, user_context_id: int, settings: IdentitySettings) -> None:
    """Replace the settings of an identity, which must exist, and append a change record. Unknown fields stay."""
    stored = transaction.settings.get(user_context_id, _NAME)
    old = {} if stored is None else _fields(user_context_id, stored)
    unknown = {name: value for name, value in old.items() if name not in SETTING_NAMES}
    known = {name: value for name, value in msgspec.structs.asdict(settings).items() if value is not None}
    _put(transaction, user_context_id, {**unknown, **known})


def decode_settings_change(payload: bytes) -> str:
    """The cookieStoreId of a change record."""
    return msgspec.json.decode(payload, type=str)


def _put(transaction: Transaction, user_context_id: int, fields: Mapping[str, Any]) -> None:
    if fields:
        transaction.settings.put(user_context_id, _NAME, msgspec.json.encode(fields))
    else:
        transaction.settings.delete(user_context_id, _NAME)
    transaction.changes.append(SETTINGS_CHANGED, msgspec.json.encode(cookie_store_id_of(user_context_id)))


def _fields(user_context_id: int, stored: bytes) -> dict[str, Any]:
    try:
        return msgspec.json.decode(stored, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise _unusable(user_context_id, "cannot be decoded. Check the profile with: hatbox check") from error


def _settings(user_context_id: int, fields: Mapping[str, Any]) -> IdentitySettings:
    try:
        settings = msgspec.convert(fields, IdentitySettings)
        _ = settings.proxy_url  # parses it
    except (msgspec.ValidationError, InvalidSetting) as error:
        reason = f"have a value that this version of Hatbox cannot use: {error} Set or unset it with: hatbox settings"
        raise _unusable(user_context_id, reason) from error
    return settings


def _unusable(user_context_id: int, reason: str) -> InvalidSetting:
    return InvalidSetting("settings", cookie_store_id_of(user_context_id), f"They {reason}")
