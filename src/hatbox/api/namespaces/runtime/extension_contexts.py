"""runtime.getContexts: the views of an extension's contexts, and the filter."""

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
    transaction: Transaction, contexts: Iterable[ExtensionContext], filter_: Mapping[str, Any]
) -> list[_ContextView]:
    """The contexts that match the filter. Content scripts are not included."""
    views = [_view(transaction, context, context.kind) for context in contexts if context.kind is not None]
    return [view for view in views if _matches(view, filter_)]


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


def _matches(view: _ContextView, filter_: Mapping[str, Any]) -> bool:
    if filter_["incognito"]:
        return False
    return all(
        filter_[name] is None or getattr(view, attribute) in filter_[name] for name, attribute in _FILTERS.items()
    )
