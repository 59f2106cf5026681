"""The command status: which engines and extensions are running for a profile, and where."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.engine_notice import find_running_engines
from hatbox.cli.terminal.output import print_json, print_line, print_rows
from hatbox.engines.running_engines import RunningEngine
from hatbox.errors import InvalidIdentity
from hatbox.extension_data.run_records import RunRecord
from hatbox.identities.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.profile import Profile

__all__ = ["status"]


class _Status(NamedTuple):
    engines: Sequence[RunningEngine]
    names: Mapping[str, str]
    """The names of the identities of these engines, by cookieStoreId."""
    extensions: Sequence[RunRecord]


def status(profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Show which engines and extensions are running for the profile: for which identities, on which machine, in which
    process and since when.
    """

    async def read(opened: Profile) -> _Status:
        engines = await find_running_engines(opened, as_json=as_json)
        stores = {store for each in engines for store in each.identities or ()} - {DEFAULT_COOKIE_STORE_ID}
        names = await asyncio.gather(*(_name(opened, store) for store in stores))
        known = await opened.extensions.known()
        return _Status(engines, dict(zip(stores, names, strict=True)), [running for _, running in known if running])

    found = run_with_profile(profile, read)
    if as_json:
        print_json(_document(found), sys.stdout)
        return
    if found.engines:
        header = ("Engine", "Identities", "Machine", "Process", "Since")
        print_rows(header, [_engine_row(each, found) for each in found.engines], sys.stdout, unwrapped="Process")
    else:
        print_line("No engine is running. Start one with: hatbox browse", sys.stderr)
    if found.extensions:
        if found.engines:
            sys.stdout.write("\n")
        rows = [_extension_row(each) for each in found.extensions]
        print_rows(("Extension", "Id", "Machine", "Process"), rows, sys.stdout, unwrapped="Process")


async def _name(opened: Profile, cookie_store_id: str) -> str:
    try:
        return (await opened.identities.get(cookie_store_id)).name
    except InvalidIdentity:  # removed
        return ""


def _engine_row(engine: RunningEngine, found: _Status) -> tuple[str, ...]:
    process = "" if engine.pid is None else str(engine.pid)
    return (engine.engine, _identities(engine, found), engine.machine, process, _local_time(engine.since))


def _extension_row(extension: RunRecord) -> tuple[str, ...]:
    process = extension.process_id
    return (extension.name, extension.extension_id or extension.id, process.machine, str(process.pid))


def _local_time(seconds: float | None) -> str:
    return "" if seconds is None else datetime.fromtimestamp(seconds, UTC).astimezone().strftime("%Y-%m-%d %H:%M")


def _identities(engine: RunningEngine, found: _Status) -> str:
    if engine.identities is None:
        return "all" if all(each.identities is None for each in found.engines) else "all others"
    return ", ".join(found.names.get(each) or each for each in engine.identities)


def _document(found: _Status) -> dict[str, object]:
    return {
        "engines": [
            {
                "engine": each.engine,
                "identities": None
                if each.identities is None
                else [{"name": found.names.get(store) or None, "cookieStoreId": store} for store in each.identities],
                "machine": each.machine or None,
                "pid": each.pid,
                "since": each.since,
            }
            for each in found.engines
        ],
        "extensions": [
            {
                "id": each.extension_id or each.id,
                "name": each.name,
                "machine": each.process_id.machine,
                "pid": each.process_id.pid,
            }
            for each in found.extensions
        ],
    }
