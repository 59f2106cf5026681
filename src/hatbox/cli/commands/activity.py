"""hatbox activity: what programs did with identities."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final

from hatbox.activity_log.action_words import action_text
from hatbox.activity_log.activity_rows import OTHER_HOSTS
from hatbox.cli.arguments.identity_arguments import IdentityFilterOption, find_store
from hatbox.cli.arguments.parameters import Option
from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.arguments.time_arguments import parse_time_or_age
from hatbox.cli.terminal.output import print_json, print_rows
from hatbox.identity.ids import user_context_id_of
from hatbox.profile import Profile

if TYPE_CHECKING:
    from hatbox.activity_log.activity_service import RecordedAction

__all__ = ["activity"]

_EMPTY: Final = "No activity. Programs without a grant are listed after: hatbox settings NAME-OR-ID --activity on"


def activity(
    identity: IdentityFilterOption = None,
    grant: Annotated[str | None, Option("--grant", metavar="GRANT", help="Only of the grant with this id.")] = None,
    since: Annotated[
        str | None, Option("--since", metavar="TIME", help="Only since this time, such as 2h, 7d or 2026-12-31T18:00.")
    ] = None,
    limit: Annotated[int, Option("--limit", "-n", metavar="NUMBER", min=1, max=100_000, help="At most so many.")] = 100,
    profile: ProfileOption = None,
    as_json: JsonOption = False,
) -> None:
    """List what programs did with identities, the latest first: which grant or program, which action on which host.

    Recorded for grants always, and for identities after `hatbox settings NAME-OR-ID --activity on`. Without contents,
    paths and values of cookies. What exceeds 100 different entries of one grant in a minute is counted ("and 1,234
    more"). Entries are deleted after 30 days, and with their identity.
    """
    start = None if since is None else parse_time_or_age(since, "--since", time.time())

    async def read(opened: Profile) -> tuple[list[RecordedAction], Mapping[str, str]]:
        chosen = identity
        if identity is not None and user_context_id_of(identity) is None:  # an id may be that of a removed identity
            found = await find_store(opened, identity)
            chosen = found.cookie_store_id if found is not None else identity
        entries = await opened.activity_log.query(identity=chosen, grant=grant, since=start, limit=limit)
        return entries, {each.cookie_store_id: each.name for each in await opened.identities.query()}

    entries, names = run_with_profile(profile, read)
    if as_json:
        print_json([_document(each) for each in entries], sys.stdout)
        return
    rows = [
        (
            datetime.fromtimestamp(each.at, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S"),
            names.get(each.identity or "", each.identity or ""),
            action_text(each.action, each.host, each.times),
            "(not listed)" if each.host == OTHER_HOSTS else each.host,
            each.outcome,
            each.grant,
            f"{each.program} on {each.machine}" if each.program else each.machine,
        )
        for each in entries
    ]
    header = ("Time", "Identity", "Action", "Host", "Outcome", "Grant", "Program")
    print_rows(header, rows, sys.stdout, unwrapped="Time", narrow=("Time", "Identity", "Action", "Host"), empty=_EMPTY)


def _document(entry: RecordedAction) -> dict[str, object]:
    """An entry as JSON. Programs rely on these names."""
    return {
        "time": datetime.fromtimestamp(entry.at, UTC).isoformat("T", "milliseconds"),
        "cookieStoreId": entry.identity,
        "action": entry.action,
        "host": entry.host,
        "outcome": entry.outcome,
        "times": entry.times,
        "grant": entry.grant,
        "program": entry.program,
        "machine": entry.machine,
    }
