"""Opens the popup, the options page or the sidebar of a running extension for the user. Transaction functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hatbox.engines.running_engines import find_records
from hatbox.errors import TriggerError
from hatbox.extension_data.action_values import ActionScope, get_value
from hatbox.extension_data.actions import (
    ACTION,
    PAGE_ACTION,
    action_defaults,
    action_keys,
    is_page_action_shown,
    page_action_defaults,
)
from hatbox.extension_data.page_opening import PAGE_KINDS, request_page
from hatbox.extension_data.run_records import RunRecord
from hatbox.extension_data.sidebars import sidebar_panel
from hatbox.store.base import Transaction

__all__ = ["NO_PAGE_ENGINE", "START_ON_PAGE", "find_page", "page_url", "request_shown", "shows_pages"]

NO_PAGE_ENGINE: Final = "Pages of extensions need the Chromium engine: run it with `hatbox run --engine chromium`."
START_ON_PAGE: Final = "It runs in a program without Chromium. Stop it, and start it on this page."
"""The same for a user of the manager page."""

_PAGE_ENGINE: Final = "Chromium"
_LABELS: Final = {"popup": "popup", "options": "options page", "sidebar": "sidebar"}


def shows_pages(transaction: Transaction, extension: RunRecord) -> bool:
    """Whether the process that runs an extension can show its pages."""
    return extension.opens_browser or any(
        each.engine == _PAGE_ENGINE and each.process == extension.process_id for each in find_records(transaction)
    )


def request_shown(
    transaction: Transaction, extension: RunRecord, page: str, tab_id: int | None = None, *, kind: str = "TAB"
) -> bool:
    """Request a page, of PAGE_KINDS or by its URL. Returns False if the process of the extension cannot show it."""
    if not shows_pages(transaction, extension):
        return False
    request_page(transaction, extension.id, page, tab_id=tab_id, kind=kind)
    return True


def page_url(transaction: Transaction, extension: RunRecord, kind: str, scope: ActionScope) -> str:
    """The URL of a page of PAGE_KINDS, as in a tab. Raises TriggerError if the extension has none."""
    if kind not in PAGE_KINDS:
        raise TriggerError(f'unknown page "{kind}". Use {", ".join(PAGE_KINDS[:-1])} or {PAGE_KINDS[-1]}.')
    url = find_page(transaction, extension, kind, scope)
    if url is None:
        raise TriggerError(f"{extension.name} has no {_LABELS[kind]}.")
    return url


def find_page(transaction: Transaction, extension: RunRecord, kind: str, scope: ActionScope) -> str | None:
    """The URL of a page of PAGE_KINDS; None if the extension has none."""
    if kind == "popup":
        return _popup(transaction, extension, scope) or None
    if kind == "sidebar":
        return sidebar_panel(transaction, extension.id, extension.manifest, scope) or None
    return _options_page(extension.manifest) or None


def _popup(transaction: Transaction, extension: RunRecord, scope: ActionScope) -> str:
    """The popup of the action, or else of the page action if it is shown in the tab."""
    manifest, popup = extension.manifest, ""
    if action_keys(manifest) is not None:
        popup = get_value(transaction, extension.id, ACTION, scope, "popup", action_defaults(manifest))
    if not popup and manifest.get("page_action") and is_page_action_shown(transaction, extension.id, manifest, scope):
        popup = get_value(transaction, extension.id, PAGE_ACTION, scope, "popup", page_action_defaults(manifest))
    return popup


def _options_page(manifest: Mapping[str, Any]) -> str:
    return (manifest.get("options_ui") or {}).get("page") or manifest.get("options_page") or ""
