"""What a restore changes, in words for users."""

from __future__ import annotations

from collections.abc import Callable

from hatbox.archive.identity_restore import RestoredIdentity
from hatbox.archive.restore_report import RestoreReport
from hatbox.plurals import number_of

__all__ = ["brought", "identity_changes", "other_changes"]


def identity_changes(done: RestoredIdentity) -> list[str]:
    """The changes of one identity; empty if nothing changes."""
    parts = []
    if done.created:
        parts.append(f"created; {done.archived_id} is taken" if done.has_new_id else "created")
    if done.appearance_changed:
        parts.append("name, icon, color or visibility")
    if done.settings_changed:
        parts.append("settings")
    if done.proxy:
        parts.append(f"proxy {done.proxy}")
    counts = (
        (done.cookies_added, "cookie", "added"),
        (done.cookies_changed, "cookie", "changed"),
        (done.cookies_removed, "cookie", "removed"),
        (done.sites_changed, "site", "with other data"),
        (done.tabs_opened, "tab", "opened"),
        (done.tabs_closed, "tab", "closed"),
    )
    return [*parts, *(f"{number_of(count, what)} {verb}" for count, what, verb in counts if count)]


def other_changes(report: RestoreReport, shown: Callable[[str], str] = str) -> list[str]:
    """The changes of the profile beside its identities, as sentences. `shown` makes a name safe for the output."""
    lines = []
    if report.order_changed:
        lines.append("The order of the identities changes.")
    if report.rules:
        lines.append(f"{number_of(report.rules, 'site rule')} added.")
    if report.settings_changed:
        lines.append("Settings of the profile are restored.")
    if report.extensions:
        lines.append(f"Data of extensions is replaced: {', '.join(map(shown, report.extensions))}.")
    return lines


def brought(report: RestoreReport, shown: Callable[[str], str] = str) -> list[str]:
    """The proxies of a backup, and its extensions with their permissions, as sentences."""
    parts = [*report.identities, *([report.default_store] if report.default_store else [])]
    names = [(shown(each.name) or "What belongs to no identity", each.proxy) for each in parts]
    lines = [f"{name} sends its requests through the proxy {proxy}." for name, proxy in names if proxy]
    for each in report.installed:
        may = ", ".join(map(shown, each.permissions)) or "no permissions"
        lines.append(f"Extension {shown(each.name)} ({shown(each.id)}) is installed, with: {may}.")
    return lines
