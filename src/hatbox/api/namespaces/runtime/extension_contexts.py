"""runtime.getContexts: the contexts of an extension, and the filter that chooses among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from hatbox.messaging.context import ExtensionContext
from hatbox.store.base import Transaction

__all__ = ["find_contexts"]

_NONE: Final = -1
_FILTERS: Final = {
    "contextIds": "context_id",
    "contextTypes": "context_type",
    "documentIds": "document_id",
    "documentOrigins": "document_origin",
    "documentUrls": "document_url",
    "frameIds": "frame_id",
    "tabIds": "tab_id",
    "windowIds": "window_id",
}


class _ContextView(NamedTuple):
    context_id: str
    context_type: str
    document_id: str
    document_origin: str
    document_url: str
    incognito: bool
    frame_id: int
    tab_id: int
    window_id: int


def find_contexts(
    transaction: Transaction, contexts: Iterable[ExtensionContext], wanted: Mapping[str, Any]
) -> list[_ContextView]:
    """Those that have all that is asked for. Scripts in web pages are none."""
    views = [_view(transaction, context, context.kind) for context in contexts if context.kind is not None]
    return [view for view in views if _matches(view, wanted)]


def _view(transaction: Transaction, context: ExtensionContext, kind: str) -> _ContextView:
    tab = None if context.tab_id is None else transaction.tabs.get(context.tab_id)
    return _ContextView(
        context.id,
        kind,
        context.document_id,
        context.origin,
        context.url,
        False,
        context.frame_id,
        _NONE if tab is None else tab.id,
        _NONE if tab is None else tab.window,
    )


def _matches(view: _ContextView, wanted: Mapping[str, Any]) -> bool:
    if wanted["incognito"]:
        return False
    return all(wanted[name] is None or getattr(view, attribute) in wanted[name] for name, attribute in _FILTERS.items())
