"""The command status: the profile, and which engines and extensions are running for it, and where."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from hatbox.cli.arguments.profile_options import JsonOption, ProfileOption, run_with_profile
from hatbox.cli.terminal.engine_notice import find_running_engines
from hatbox.cli.terminal.output import print_json, print_line, print_rows
from hatbox.cli.terminal.sizes import size_text
from hatbox.engines.endpoint_records import OpenEndpoint, open_endpoints
from hatbox.engines.running_engines import RunningEngine
from hatbox.errors import InvalidIdentity
from hatbox.extension_data.run_records import RunRecord
from hatbox.identity.ids import DEFAULT_COOKIE_STORE_ID
from hatbox.maintenance import ProfileInfo, profile_info
from hatbox.plurals import number_of
from hatbox.profile import Profile

__all__ = ["status"]


class _Status(NamedTuple):
    engines: Sequence[RunningEngine]
    names: Mapping[str, str]
    """The names of the identities of these engines, by cookieStoreId."""
    extensions: Sequence[RunRecord]
    endpoints: Sequence[OpenEndpoint]
    address: str
    known_extensions: int
    """Those that `hatbox extensions list` shows; the profile also has the data of temporary installations."""


def status(profile: ProfileOption = None, as_json: JsonOption = False) -> None:
    """Show the profile, its store and size, and which engines, endpoints and extensions are running for it.

    For each engine: for which identities, on which machine, in which process and since when. For each endpoint: which
    programs are connected.
    """

    async def read(opened: Profile) -> _Status:
        engines = await find_running_engines(opened, as_json=as_json)
        endpoints = await open_endpoints(opened.store)
        stores = {store for each in engines for store in each.identities or ()}
        stores = (stores | {each.cookie_store_id for each in endpoints}) - {DEFAULT_COOKIE_STORE_ID}
        names = await asyncio.gather(*(_name(opened, store) for store in stores))
        known = await opened.extensions.known()
        running = [record for _, record in known if record]
        return _Status(engines, dict(zip(stores, names, strict=True)), running, endpoints, opened.address, len(known))

    found = run_with_profile(profile, read)
    about = profile_info(found.address)  # not while the profile is open here: it lists the programs that have it open
    if as_json:
        print_json({"profile": _profile_document(about, found.known_extensions), **_document(found)}, sys.stdout)
        return
    print_rows(("Property", "Value"), _profile_rows(about, found.known_extensions), sys.stdout, unwrapped="Property")
    if found.engines:
        sys.stdout.write("\n")
        header = ("Engine", "Identities", "Machine", "Process", "Since")
        print_rows(header, [_engine_row(each, found) for each in found.engines], sys.stdout, unwrapped="Process")
    else:
        print_line("No engine is running. Start one with: hatbox browse", sys.stderr)
    if found.endpoints:
        sys.stdout.write("\n")
        header = ("Endpoint of", "Connected program", "Connections", "Grant", "Process")
        print_rows(
            header,
            [row for each in found.endpoints for row in _endpoint_rows(each, found)],
            sys.stdout,
            unwrapped="Process",
        )
    if found.extensions:
        sys.stdout.write("\n")
        rows = [_extension_row(each) for each in found.extensions]
        print_rows(("Extension", "Id", "Machine", "Process"), rows, sys.stdout, unwrapped="Process")


def _profile_rows(about: ProfileInfo, extensions: int) -> list[tuple[str, str]]:
    size = "size not known" if about.size is None else size_text(about.size)
    encrypted = "encrypted" if about.is_encrypted else "not encrypted"
    names = {"identities": "identity", "cookies": "cookie", "tabs": "tab"}
    counts = [number_of(about.rows.get(several, 0), one, several) for several, one in names.items()]
    contents = ", ".join([*counts, number_of(extensions, "extension")])
    programs = "not known" if about.programs is None else ", ".join(about.programs) or "no other program"
    return [
        ("Profile", about.label),
        ("Store", f"{about.store}, format {about.format}, {size}, {encrypted}"),
        ("Contents", contents),
        ("Open in", programs),
    ]


def _profile_document(about: ProfileInfo, extensions: int) -> dict[str, object]:
    return {
        "label": about.label,
        "store": about.store,
        "format": about.format,
        "size": about.size,
        "encrypted": about.is_encrypted,
        "identities": about.rows.get("identities"),
        "cookies": about.rows.get("cookies"),
        "tabs": about.rows.get("tabs"),
        "extensions": extensions,
        "programs": about.programs,
    }


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


def _endpoint_rows(endpoint: OpenEndpoint, found: _Status) -> list[tuple[str, ...]]:
    name = found.names.get(endpoint.cookie_store_id) or endpoint.cookie_store_id
    process = str(endpoint.process.pid)
    connected = [(each.name, str(each.connections), each.grant) for each in endpoint.programs] or [("none", "0", "")]
    return [(name, *each, process) for each in connected]


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
                "background": each.background,
            }
            for each in found.engines
        ],
        "endpoints": [
            {
                "identity": {
                    "name": found.names.get(each.cookie_store_id) or None,
                    "cookieStoreId": each.cookie_store_id,
                },
                "machine": each.process.machine,
                "pid": each.process.pid,
                "port": each.port,
                "programs": [
                    {"name": program.name, "grant": program.grant or None, "connections": program.connections}
                    for program in each.programs
                ],
            }
            for each in found.endpoints
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
