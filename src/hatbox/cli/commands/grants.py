"""The commands of the group grant: create, list, revoke."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Final

from hatbox.cli.arguments.identity_arguments import find_identities
from hatbox.cli.arguments.parameters import Argument, Option, bad_parameter
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.arguments.time_arguments import parse_duration, parse_time
from hatbox.cli.terminal.output import print_json, print_line, print_rows
from hatbox.grants.grant import ACTIONS, DEFAULT_ACTIONS, DEFAULT_DURATION, Grant
from hatbox.profile import Profile

__all__ = ["create", "list_", "revoke"]

Names = Mapping[str, str]
"""The names of identities by cookieStoreId."""

_FOR_EVER: Final = "ever"


def create(
    identities: Annotated[
        list[str],
        Option("--identity", "-i", metavar="NAME-OR-ID", help="Identity that the program may use. Repeatable."),
    ],
    purpose: Annotated[str, Argument(metavar="[PURPOSE]", help="What it is for, such as -- 'nightly report'.")] = "",
    hosts: Annotated[
        list[str] | None,
        Option(
            "--host",
            metavar="PATTERN",
            help="Host that it may use: site.example, *.site.example, localhost:8000 or a match pattern. * is "
            "every public host, <all_urls> also those of private networks. Repeatable. Default: *.",
        ),
    ] = None,
    actions: Annotated[
        list[str] | None,
        Option("--action", metavar="ACTION", help=f"Allowed action: {', '.join(ACTIONS)}. Repeatable. Default: fetch."),
    ] = None,
    duration: Annotated[
        str | None,
        Option("--for", metavar="DURATION", help=f"Such as 30m, 8h or 7d, or {_FOR_EVER}: until revoked. Default: 8h."),
    ] = None,
    until: Annotated[
        str | None, Option("--until", metavar="TIME", help="When it expires: 2026-12-31 or 2026-12-31T18:00.")
    ] = None,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a program the right to use some identities, and nothing else. Prints a token, which is shown only once.

    A program that has the token may do what the grant allows, until it expires or is revoked. The profile stores only
    a hash of the token. A grant is no border against a program that can read your files.
    """
    if duration is not None and until is not None:
        raise bad_parameter("specify one of --for and --until", param_hint="--until")
    seconds = (
        None if duration == _FOR_EVER else DEFAULT_DURATION if duration is None else parse_duration(duration, "--for")
    )
    end = None if until is None else parse_time(until, "--until")

    async def create_grant(opened: Profile) -> tuple[Grant, str, Names, float]:
        found = await find_identities(opened, identities)
        chosen = DEFAULT_ACTIONS if actions is None else actions
        if end is None:
            made = await opened.grants.create(purpose, identities=found, hosts=hosts, actions=chosen, duration=seconds)
        else:
            made = await opened.grants.create(purpose, identities=found, hosts=hosts, actions=chosen, until=end)
        return *made, await _names(opened), opened.clock.time()

    grant, token, names, now = run_with_profile(profile, create_grant)
    if as_json:
        print_json({"grant": _document(grant, now), "token": token}, sys.stdout)
        return
    expires = "until it is revoked" if grant.expires is None else f"until {_time(grant.expires)}"
    allowed = f"{_shown_identities(grant, names)}: {_shown_actions(grant)} on {grant.shown_hosts}, {expires}"
    print_line(f"Created grant {grant.id}. {allowed}.", sys.stderr)
    print_line(f"The token is shown only now. To revoke it: hatbox grant revoke {grant.id}", sys.stderr)
    sys.stdout.write(f"{token}\n")


def list_(profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """List the grants, those created first first. Revoked and expired ones are listed for 30 days."""

    async def read(opened: Profile) -> tuple[list[Grant], Names, float]:
        return await opened.grants.list(), await _names(opened), opened.clock.time()

    grants, names, now = run_with_profile(profile, read)
    if as_json:
        print_json([_document(each, now) for each in grants], sys.stdout)
        return
    rows = [
        (
            each.id,
            _state(each, now),
            _shown_identities(each, names),
            _shown_actions(each),
            each.shown_hosts,
            each.purpose,
        )
        for each in grants
    ]
    header = ("Grant", "State", "Identities", "Actions", "Hosts", "Purpose")
    print_rows(header, rows, sys.stdout, unwrapped="Grant", narrow=("Grant", "State", "Purpose"), empty="No grants.")


def revoke(
    grants: Annotated[list[str], Argument(metavar="GRANT...", help="Grants: their ids, as hatbox grant list shows.")],
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """Revoke grants. Their tokens are invalid at once, and running connections end within a second, on all machines."""

    async def revoke_all(opened: Profile) -> tuple[list[Grant], float]:
        known = {each.id for each in await opened.grants.list()}
        for each in sorted(grants, key=known.__contains__):  # an unknown id first: then none is revoked
            await opened.grants.revoke(each)
        return [each for each in await opened.grants.list() if each.id in grants], opened.clock.time()

    revoked, now = run_with_profile(profile, revoke_all)
    if as_json:
        print_json([_document(each, now) for each in revoked], sys.stdout)
        return
    for each in revoked:
        print_line(
            f"Revoked grant {each.id}." if not each.purpose else f"Revoked grant {each.id}: {each.purpose}", sys.stdout
        )


async def _names(opened: Profile) -> Names:
    return {each.cookie_store_id: each.name for each in await opened.identities.query()}


def _shown_identities(grant: Grant, names: Names) -> str:
    return ", ".join(names.get(each, each) for each in grant.identities) or "(removed)"


def _shown_actions(grant: Grant) -> str:
    return ", ".join(each for each in ACTIONS if each in grant.actions) or "(none)"


def _state(grant: Grant, now: float) -> str:
    if grant.revoked is not None:
        return f"revoked {_time(grant.revoked)}"
    if grant.has_ended(now):
        return f"expired {_time(grant.expires or 0)}" if grant.identities else "unreadable"
    return "valid" if grant.expires is None else f"until {_time(grant.expires)}"


def _document(grant: Grant, now: float) -> dict[str, object]:
    """A grant as JSON. Programs rely on these names."""
    return {
        "id": grant.id,
        "purpose": grant.purpose,
        "identities": list(grant.identities),
        "hosts": None if grant.hosts is None else list(grant.hosts),
        "actions": [each for each in ACTIONS if each in grant.actions],
        "created": _iso(grant.created),
        "expires": None if grant.expires is None else _iso(grant.expires),
        "revoked": None if grant.revoked is None else _iso(grant.revoked),
        "isValid": not grant.has_ended(now),
        "program": grant.program,
        "machine": grant.machine,
    }


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat("T", "seconds")
