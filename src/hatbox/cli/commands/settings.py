"""The command settings: shows and changes the proxy, user agent, locale and time zone of an identity."""

from __future__ import annotations

import sys
from typing import Annotated, Final, NamedTuple

import msgspec

from hatbox.cli.arguments.identity_arguments import IdentityArgument, find_identity
from hatbox.cli.arguments.parameters import Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.output import print_identity, print_json, print_rows
from hatbox.cli.terminal.terminal_text import visible
from hatbox.identity.model import ContextualIdentity
from hatbox.identity.settings import SETTING_NAMES, IdentitySettings, SettingValue
from hatbox.profile import Profile

__all__ = ["settings"]

_STANDARD_INPUT: Final = "-"
_OPTIONS: Final = {name: name.replace("_", "-") for name in SETTING_NAMES}
_USED_BY: Final = {
    "proxy": "clients, HTTP engine, Chromium",
    "user_agent": "clients, HTTP engine, Chromium",
    "locale": "clients (Accept-Language), HTTP engine, Chromium",
    "timezone": "Chromium only",
}


class _Found(NamedTuple):
    identity: ContextualIdentity
    settings: IdentitySettings
    is_recorded: bool


def settings(
    identity: IdentityArgument,
    proxy: Annotated[
        str | None,
        Option(
            metavar="URL",
            help="Proxy: direct, http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT, with USER:PASSWORD@ if "
            "needed; - reads it from standard input.",
        ),
    ] = None,
    user_agent: Annotated[str | None, Option(metavar="TEXT", help="User-Agent of requests.")] = None,
    locale: Annotated[
        str | None, Option(metavar="TAG", help="Locale, such as de-DE: the Accept-Language of requests.")
    ] = None,
    timezone: Annotated[
        str | None, Option(metavar="ZONE", help="Time zone, such as Europe/Berlin. Only Chromium uses it.")
    ] = None,
    activity: Annotated[
        str | None,
        Option(metavar="on|off", help="Record what programs do with the identity: see hatbox activity. Default: off."),
    ] = None,
    unset: Annotated[
        list[str] | None,
        Option(metavar="SETTING", help=f"Setting to unset: {', '.join(_OPTIONS.values())}. Repeatable."),
    ] = None,
    force: Annotated[bool, Option("--force", help="Change settings even if an open browser loses typed text.")] = False,
    show_secrets: Annotated[
        bool, Option("--show-secrets", help="Print the password of the proxy instead of ***.")
    ] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show or change the settings of an identity: proxy, user agent, locale, time zone, activity log.

    Every client and engine uses new settings for its next request. An open browser opens the pages of the identity
    anew. With a proxy, no request and no lookup of a host name goes out another way.
    """
    if proxy == _STANDARD_INPUT:
        proxy = sys.stdin.readline().strip() if sys.stdin else ""
    given = {"proxy": proxy, "user_agent": user_agent, "locale": locale, "timezone": timezone}
    changed: dict[str, SettingValue] = {name: value for name, value in given.items() if value is not None}
    for name in map(_setting, unset or []):
        if name in changed:
            option = _OPTIONS[name]
            raise bad_parameter(f"specify one of --{option} and --unset {option}", param_hint="--unset")
        changed[name] = None

    if activity not in (None, "on", "off"):
        raise bad_parameter(f"{visible(activity)} is not one of on, off", param_hint="--activity")

    async def apply(opened: Profile) -> _Found:
        found = await find_identity(opened, identity)
        if changed:
            new = await opened.change_identity_settings(found, force=force, **changed)
        else:
            new = await opened.identities.settings(found)
        if activity is not None:
            await opened.activity_log.set_recorded(found, activity == "on")
        return _Found(found, new, await opened.activity_log.is_recorded(found))

    found = run_with_profile(profile, apply)
    shown = found.settings if show_secrets else found.settings.masked
    if as_json:
        print_json(_document(found.identity, shown, is_recorded=found.is_recorded), sys.stdout)
        return
    if changed or activity is not None:
        print_identity("Changed settings of", found.identity, sys.stdout)
    values = msgspec.structs.asdict(shown)
    rows = [(_OPTIONS[name], values[name] or "not set", _USED_BY[name]) for name in SETTING_NAMES]
    rows.append(("activity", "on" if found.is_recorded else "off", "activity log"))
    print_rows(("Setting", "Value", "Used by"), rows, sys.stdout, unwrapped="Setting")


def _setting(option: str) -> str:
    """The name of a setting that was given to --unset."""
    name = option.strip().lower().replace("-", "_")
    if name not in _OPTIONS:
        allowed = ", ".join(_OPTIONS.values())
        raise bad_parameter(f"{visible(option)} is not one of {allowed}", param_hint="--unset")
    return name


def _document(identity: ContextualIdentity, shown: IdentitySettings, *, is_recorded: bool) -> dict[str, object]:
    return {
        "name": identity.name,
        "cookieStoreId": identity.cookie_store_id,
        "proxy": shown.proxy,
        "userAgent": shown.user_agent,
        "locale": shown.locale,
        "timezone": shown.timezone,
        "activity": is_recorded,
    }
