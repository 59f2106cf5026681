"""The commands on cookies: list, get, set, remove, clear.

A cookie's value can be as sensitive as a password: tables show it only with --show-values.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeVar

from hatbox import schema
from hatbox.api.namespaces.cookies.cookie_views import cookie_view, to_octets
from hatbox.cli.arguments.identity_arguments import StoreArgument, find_store
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.confirm import confirm
from hatbox.cli.terminal.output import print_cookies, print_json, print_line
from hatbox.cli.terminal.terminal_text import visible
from hatbox.cookies import Cookie, Jar, SameSite
from hatbox.cookies.cookie_stores import CookieStore
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.plurals import number_of
from hatbox.profile import Profile
from hatbox.urls.match_patterns import ALL_URLS

if TYPE_CHECKING:
    from hatbox.api.typed import CookiesNamespace

__all__ = ["clear", "get", "list_", "remove", "set_"]

T = TypeVar("T")

_SAME_SITE: Final = {"none": SameSite.NONE, "lax": SameSite.LAX, "strict": SameSite.STRICT}
_DAY_SECONDS: Final = 86400

UrlArgument = Annotated[str, Argument(metavar="URL", help="URL that the cookie is sent to.")]
NameArgument = Annotated[str, Argument(metavar="NAME", help="Name of the cookie.")]
DomainOption = Annotated[
    str | None,
    Option("--domain", metavar="DOMAIN", help="Domain of the cookies, including subdomains. Default: all."),
]


def list_(
    identity: StoreArgument,
    domain: DomainOption = None,
    show_values: Annotated[bool, Option("--show-values", help="Show the values. JSON always has them.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the cookies of an identity."""

    async def query(selected: _SelectedStore) -> list[Any]:
        return list(await selected.api.getAll({"storeId": selected.id, "domain": domain, "partitionKey": {}}))

    found = _run_with_store(profile, identity, query)
    if as_json:
        print_json(found, sys.stdout)
    else:
        print_cookies(found, sys.stdout, show_values=show_values)


def get(
    identity: StoreArgument,
    url: UrlArgument,
    name: NameArgument,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the value of one cookie. Of several, that with the longest path, then the oldest."""

    async def get_one(selected: _SelectedStore) -> Any:
        return _existing(await selected.api.get({"storeId": selected.id, "url": url, "name": name}), url, name)

    found = _run_with_store(profile, identity, get_one)
    if as_json:
        print_json(found, sys.stdout)
    else:
        print_line(found["value"], sys.stdout)


def set_(
    identity: StoreArgument,
    url: Annotated[str, Argument(metavar="URL", help="URL that sets the cookie.")],
    name: NameArgument,
    value: Annotated[str, Argument(metavar="VALUE", help="Value of the cookie.")],
    domain: Annotated[
        str | None,
        Option(
            metavar="DOMAIN",
            help="Domain attribute: the cookie is sent to its subdomains too. Default: a host-only cookie.",
        ),
    ] = None,
    path: Annotated[
        str, Option(metavar="PATH", help="Path attribute: the cookie is sent to this path and below.")
    ] = "/",
    secure: Annotated[
        bool, Option("--secure", help="Set the Secure attribute: the cookie is sent over https only.")
    ] = False,
    http_only: Annotated[
        bool, Option("--http-only", help="Set the HttpOnly attribute: scripts of pages cannot read the cookie.")
    ] = False,
    same_site: Annotated[
        str | None,
        Option(
            metavar="none|lax|strict",
            help="SameSite attribute: the cross-site requests that the cookie is sent with. Default: unspecified.",
        ),
    ] = None,
    expires_in_days: Annotated[
        float | None,
        Option(metavar="DAYS", help="Days until the cookie expires, at most 400. Default: a session cookie."),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set a cookie, with the same checks as for a Set-Cookie header of the site."""
    now = time.time()
    fields: dict[str, Any] = {
        "name": to_octets(name),
        "value": to_octets(value),
        "domain": domain or "",
        "path": path,
        "secure": secure,
        "http_only": http_only,
        "same_site": _same_site(same_site),
        "expires": _expiry(expires_in_days, now),
    }
    Jar().set(url, now, **fields)  # checks the cookie before the profile is opened

    async def set_one(selected: _SelectedStore) -> tuple[Cookie, _SelectedStore]:
        fields["expires"] = _expiry(expires_in_days, selected.time)
        await selected.store.set(url, **fields)
        return Jar().set(url, selected.time, **fields)[0].cookie, selected

    cookie, selected = _run_with_store(profile, identity, set_one)
    if as_json:
        print_json(_document(cookie, selected.id), sys.stdout)
    else:
        print_line(f"Set {name} of {cookie.domain} in {selected.name} ({selected.id})", sys.stdout)


def remove(
    identity: StoreArgument,
    url: UrlArgument,
    name: NameArgument,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove one cookie: the cookie whose value `get` prints."""

    async def remove_one(selected: _SelectedStore) -> tuple[Any, _SelectedStore]:
        found = await selected.api.remove({"storeId": selected.id, "url": url, "name": name})
        return _existing(found, url, name), selected

    removed, selected = _run_with_store(profile, identity, remove_one)
    if as_json:
        print_json(removed, sys.stdout)
    else:
        print_line(f"Removed {name} from {selected.name} ({selected.id})", sys.stdout)


def clear(
    identity: StoreArgument,
    domain: DomainOption = None,
    yes: Annotated[bool, Option("--yes", "-y", help="Skip the confirmation.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove all cookies of an identity, or those of a domain. The identity stays."""
    if domain == "":  # probably an unset shell variable
        raise bad_parameter("must not be empty", param_hint="--domain")
    if not yes:
        _confirm(_run_with_store(profile, identity, _unchanged), domain)

    async def clear_all(selected: _SelectedStore) -> tuple[list[Any], _SelectedStore]:
        changes = await selected.store.clear(domain)
        return [_document(change.cookie, selected.id) for change in changes], selected

    removed, selected = _run_with_store(profile, identity, clear_all)
    if as_json:
        print_json(removed, sys.stdout)
    else:
        cookies = number_of(len(removed), "cookie")
        print_line(f"Removed {cookies} from {selected.name} ({selected.id})", sys.stdout)


class _SelectedStore(NamedTuple):
    """The cookie store that a command works on."""

    id: str
    name: str
    store: CookieStore
    api: CookiesNamespace
    time: float
    """The profile's time."""


def _run_with_store(profile: str | None, identity: str, work: Callable[[_SelectedStore], Awaitable[T]]) -> T:
    """Open the profile and the cookie store of an identity, and return the result of `work`."""

    async def run(opened: Profile) -> T:
        found = await find_store(opened, identity)
        store_id, name = (
            (found.cookie_store_id, found.name) if found else (DEFAULT_COOKIE_STORE_ID, "the default store")
        )
        api = opened.browser(["cookies", ALL_URLS]).cookies
        store = await opened.cookies.open(store_id)
        return await work(_SelectedStore(store_id, name, store, api, opened.store.time()))

    return run_with_profile(profile, run)


async def _unchanged(selected: _SelectedStore) -> _SelectedStore:
    return selected


def _existing(found: T | None, url: str, name: str) -> T:
    if found is None:
        raise CommandError("CookieNotFound", f'no cookie "{name}" is sent to {url}')
    return found


def _same_site(given: str | None) -> SameSite:
    if given is None:
        return SameSite.UNSPECIFIED
    if given not in _SAME_SITE:
        allowed = ", ".join(_SAME_SITE)
        raise bad_parameter(f"invalid value: {visible(given)}. Allowed values: {allowed}", param_hint="--same-site")
    return _SAME_SITE[given]


def _expiry(days: float | None, now: float) -> float | None:
    if days is None:
        return None
    if not days > 0:
        raise bad_parameter(
            "must be positive; to delete a cookie, use: hatbox cookies remove", param_hint="--expires-in-days"
        )
    return now + days * _DAY_SECONDS


def _document(cookie: Cookie, store_id: str) -> Any:
    """A cookie as JSON, as the cookies API returns it."""
    (surface,) = (each for each in schema.load() if each.namespace == "cookies")
    return surface.functions["get"].convert_result(cookie_view(cookie, store_id))


def _confirm(selected: _SelectedStore, domain: str | None) -> None:
    which = "all cookies" if domain is None else f"the cookies of {visible(domain, sys.stderr.encoding)}"
    confirm(f'Remove {which} from "{visible(selected.name, sys.stderr.encoding)}" ({selected.id})? ')
