"""runtime.getContexts: the views of an extension's contexts, and the filter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from hatbox.messaging.context import ExtensionContext
from hatbox.store.base import Transaction
from hatbox.tabs.windows import last_focused

__all__ = ["find_contexts"]

_NONE: Final = -1
_WITHOUT_TAB: Final = ("POPUP", "SIDE_PANEL")
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
    transaction: Transaction, contexts: Iterable[ExtensionContext], filter_: Mapping[str, Any]
) -> list[_ContextView]:
    """The contexts that match the filter. Content scripts are not included."""
    window = last_focused(transaction)
    shown_in = _NONE if window is None else window.id
    views = [_view(transaction, context, context.kind, shown_in) for context in contexts if context.kind is not None]
    return [view for view in views if _matches(view, filter_)]


def _view(transaction: Transaction, context: ExtensionContext, kind: str, shown_in: int) -> _ContextView:
    """The view of a context. `shown_in` is the window that popups and sidebars are shown in."""
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
        tab.window if tab is not None else shown_in if kind in _WITHOUT_TAB else _NONE,
    )


def _matches(view: _ContextView, filter_: Mapping[str, Any]) -> bool:
    if filter_["incognito"]:
        return False
    return all(
        filter_[name] is None or getattr(view, attribute) in filter_[name] for name, attribute in _FILTERS.items()
    )
