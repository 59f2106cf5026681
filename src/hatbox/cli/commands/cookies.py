"""The commands on cookies: list, get, set, remove, clear. How things look is not decided here.

A cookie's value may be as good as a password: tables do not show it unless they are asked to.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeVar

import typer

from hatbox import schema
from hatbox.api.namespaces.cookies.cookie_views import cookie_view, to_octets
from hatbox.cli.commands.identities import find, run_with_profile
from hatbox.cli.options import JsonOption, ProfileOption
from hatbox.cli.terminal.command_errors import CommandError
from hatbox.cli.terminal.confirm import confirm
from hatbox.cli.terminal.output import print_cookies, print_json, print_line
from hatbox.cli.terminal.terminal_text import visible
from hatbox.cookies import Cookie, Jar, SameSite
from hatbox.cookies.cookie_stores import CookieStore
from hatbox.identities.ids import DEFAULT_STORE
from hatbox.profile import Profile
from hatbox.urls.match_patterns import ALL_URLS

if TYPE_CHECKING:
    from hatbox.api.typed import CookiesNamespace

__all__ = ["clear", "get", "list_", "remove", "set_"]

T = TypeVar("T")

_SAME_SITE: Final = {"none": SameSite.NONE, "lax": SameSite.LAX, "strict": SameSite.STRICT}
_DAY_SECONDS: Final = 86400

Whose = Annotated[
    str,
    typer.Argument(
        metavar="NAME-OR-ID",
        help=f"The identity: its name or its id. {DEFAULT_STORE} is the store of no identity.",
    ),
]
Url = Annotated[str, typer.Argument(metavar="URL", help="An address that the cookie goes with.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="The cookie's name.")]
Domain = Annotated[
    str | None, typer.Option("--domain", metavar="DOMAIN", help="Only those of this domain and of what is below it.")
]


def list_(
    identity: Whose,
    domain: Domain = None,
    show_values: Annotated[bool, typer.Option("--show-values", help="Show the values. JSON always has them.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the cookies of an identity."""

    async def listed(place: _SelectedStore) -> list[Any]:
        return list(await place.api.getAll({"storeId": place.id, "domain": domain, "partitionKey": {}}))

    found = _at(profile, identity, listed)
    if as_json:
        print_json(found, sys.stdout)
    else:
        print_cookies(found, sys.stdout, show_values=show_values)


def get(identity: Whose, url: Url, name: Name, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Print the value of one cookie: of several, that with the longest path, then the oldest."""

    async def got(place: _SelectedStore) -> Any:
        return _existing(await place.api.get({"storeId": place.id, "url": url, "name": name}), url, name)

    found = _at(profile, identity, got)
    if as_json:
        print_json(found, sys.stdout)
    else:
        print_line(found["value"], sys.stdout)


def set_(
    identity: Whose,
    url: Annotated[str, typer.Argument(metavar="URL", help="The address that sets it.")],
    name: Name,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="The cookie's value.")],
    domain: Annotated[
        str | None,
        typer.Option(metavar="DOMAIN", help="Share it with this domain and what is below it. Without: the host's own."),
    ] = None,
    path: Annotated[str, typer.Option(metavar="PATH", help="Only for this path and what is below it.")] = "/",
    secure: Annotated[bool, typer.Option("--secure", help="Send it over https only.")] = False,
    http_only: Annotated[bool, typer.Option("--http-only", help="Hide it from the scripts of pages.")] = False,
    same_site: Annotated[
        str | None,
        typer.Option(metavar="none|lax|strict", help="Which requests of other sites it goes with."),
    ] = None,
    expires_in_days: Annotated[
        float | None,
        typer.Option(metavar="DAYS", help="Keep it so long, 400 days at most. Without: a session cookie."),
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Set a cookie, by the rules that hold for the site itself."""
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
    # What is wrong is told before the profile is touched, and what is right is known as it will be.
    cookie = Jar().set(url, now, **fields)[0].cookie

    async def done(place: _SelectedStore) -> _SelectedStore:
        await place.store.set(url, **fields)
        return place

    place = _at(profile, identity, done)
    if as_json:
        print_json(_document(cookie, place.id), sys.stdout)
    else:
        print_line(f"Set {name} of {cookie.domain} in {place.name} ({place.id})", sys.stdout)


def remove(identity: Whose, url: Url, name: Name, profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Remove one cookie: the one that get would print."""

    async def removed(place: _SelectedStore) -> tuple[Any, _SelectedStore]:
        return _existing(await place.api.remove({"storeId": place.id, "url": url, "name": name}), url, name), place

    gone, place = _at(profile, identity, removed)
    if as_json:
        print_json(gone, sys.stdout)
    else:
        print_line(f"Removed {name} from {place.name} ({place.id})", sys.stdout)


def clear(
    identity: Whose,
    domain: Domain = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Remove all cookies of an identity, or those of a domain. The identity stays."""
    if domain == "":  # a variable of the shell that was not set: neither all nor none is what was meant
        raise typer.BadParameter("it is empty", param_hint="--domain")
    if not yes:
        _confirm(_at(profile, identity, _itself), domain)

    async def cleared(place: _SelectedStore) -> tuple[list[Any], _SelectedStore]:
        changes = await place.store.clear(domain)
        return [_document(change.cookie, place.id) for change in changes], place

    gone, place = _at(profile, identity, cleared)
    if as_json:
        print_json(gone, sys.stdout)
    else:
        cookies = "1 cookie" if len(gone) == 1 else f"{len(gone)} cookies"
        print_line(f"Removed {cookies} from {place.name} ({place.id})", sys.stdout)


class _SelectedStore(NamedTuple):
    """Whose cookies a command is about."""

    id: str
    name: str
    store: CookieStore
    api: CookiesNamespace


def _at(profile: str | None, identity: str, work: Callable[[_SelectedStore], Awaitable[T]]) -> T:
    """Open the profile, do the work on an identity's cookies, and return what came of it."""

    async def worked(opened: Profile) -> T:
        store_id, name = DEFAULT_STORE, "the store of no identity"
        if identity != DEFAULT_STORE:
            found = await find(opened, identity)
            store_id, name = found.cookie_store_id, found.name
        api = opened.browser(["cookies", ALL_URLS]).cookies
        return await work(_SelectedStore(store_id, name, await opened.cookies.open(store_id), api))

    return run_with_profile(profile, worked)


async def _itself(place: _SelectedStore) -> _SelectedStore:
    return place


def _existing(found: T | None, url: str, name: str) -> T:
    if found is None:
        raise CommandError("NoSuchCookie", f'no cookie "{name}" goes with {url}')
    return found


def _same_site(given: str | None) -> SameSite:
    if given is None:
        return SameSite.UNSPECIFIED
    if given not in _SAME_SITE:
        allowed = ", ".join(_SAME_SITE)
        raise typer.BadParameter(f"{visible(given)} is not one of {allowed}", param_hint="--same-site")
    return _SAME_SITE[given]


def _expiry(days: float | None, now: float) -> float | None:
    if days is None:
        return None
    if not days > 0:
        raise typer.BadParameter("it would be gone at once; use remove for that", param_hint="--expires-in-days")
    return now + days * _DAY_SECONDS


def _document(cookie: Cookie, store_id: str) -> Any:
    """A cookie as JSON shows it: as the cookies API does."""
    (surface,) = (each for each in schema.load() if each.namespace == "cookies")
    return surface.functions["get"].shape(cookie_view(cookie, store_id))


def _confirm(place: _SelectedStore, domain: str | None) -> None:
    which = "all cookies" if domain is None else f"the cookies of {visible(domain, sys.stderr.encoding)}"
    confirm(f'Remove {which} from "{visible(place.name, sys.stderr.encoding)}" ({place.id})? ')
