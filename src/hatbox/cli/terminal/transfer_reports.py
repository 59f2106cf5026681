"""The reports of imports and exports: what was transferred, what was skipped, and what a format does not contain."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

from hatbox.cli.terminal.output import print_line
from hatbox.cli.terminal.terminal_text import visible
from hatbox.formats import CookieName, ExportResult, ImportReport
from hatbox.plurals import number_of

__all__ = ["export_document", "print_export", "print_import"]

_MAX_NAMED: Final = 5


def print_import(report: ImportReport) -> None:
    """Print the report of an import to standard error."""
    print_line(
        f"Imported {_identities(report)} and {number_of(report.cookies_new, 'new cookie')} "
        f"({report.cookies_changed} changed, {report.cookies_unchanged} unchanged).",
        sys.stderr,
    )
    if report.origins_new or report.origins_changed or report.origins_unchanged:
        print_line(
            f"Imported site data of {number_of(report.origins_new, 'new origin')} "
            f"({report.origins_changed} changed, {report.origins_unchanged} unchanged).",
            sys.stderr,
        )
    _print_tallies(report.skipped, report.dropped)


def print_export(identities: int, written: ExportResult, output: str | None) -> None:
    """Print the report of an export to standard error. Without `output`, the data went to standard output."""
    if output is not None:
        print_line(_exported(identities, written, output), sys.stderr)
    _print_tallies({}, written.dropped, written.left_out)


def export_document(identities: int, written: ExportResult) -> dict[str, Any]:
    """The report of an export, for JSON."""
    return {
        "identities": identities,
        "cookies": written.cookies,
        "origins": written.origins,
        "dropped": written.dropped,
        "leftOut": written.left_out,
    }


def _identities(report: ImportReport) -> str:
    matched = f" ({report.identities_matched} existing)" if report.identities_matched else ""
    return number_of(report.identities_new, "new identity", "new identities") + matched


def _exported(named: int, written: ExportResult, output: str) -> str:
    parts = [number_of(named, "identity", "identities"), number_of(written.cookies, "cookie")]
    if written.origins:
        parts.append(f"site data of {number_of(written.origins, 'origin')}")
    listed = f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"Exported {listed} to {output}."


def _print_tallies(
    skipped: dict[str, int], dropped: dict[str, int], left_out: dict[str, list[CookieName]] | None = None
) -> None:
    for what, tally in (("Skipped", skipped), ("Not supported", dropped)):
        for description, count in tally.items():
            names = _named((left_out or {}).get(description, []))
            print_line(f"{what}: {description} ({count}){names}" if count else f"{what}: {description}", sys.stderr)


def _named(cookies: Sequence[CookieName]) -> str:
    """The first cookies that were left out, and how many more."""
    if not cookies:
        return ""
    names = [f'"{visible(each.name)}" of {visible(each.domain)}{visible(each.path)}' for each in cookies[:_MAX_NAMED]]
    more = f", and {len(cookies) - _MAX_NAMED} more" if len(cookies) > _MAX_NAMED else ""
    return f": {', '.join(names)}{more}"
