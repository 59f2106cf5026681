"""The namespace omnibox. Input and suggestions are in the profile (`extension_data/omnibox_input.py`)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from typing import Any, Final

from hatbox.api.caller import Caller, ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.services import Services
from hatbox.errors import HatboxError
from hatbox.events import Event
from hatbox.extension_data import omnibox_input
from hatbox.extension_data.omnibox_input import MAX_SUGGESTIONS, OmniboxInput, OmniboxSuggestion, decode_input
from hatbox.javascript.well_formed_values import to_well_formed
from hatbox.schema import NamespaceSchema
from hatbox.store.change_events import ChangeEvents
from hatbox.tasks import Tasks

__all__ = ["implement"]

_MAX_LENGTH: Final = 10_000  # characters of a suggestion; a longer one is ignored


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the omnibox of a profile."""
    return _Omnibox(schema, services)


class _Omnibox(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        changes = ChangeEvents(services.store, "omnibox")
        started = changes.event("onInputStarted", omnibox_input.STARTED, decode_input)
        changed = changes.event("onInputChanged", omnibox_input.CHANGED, decode_input)
        entered = changes.event("onInputEntered", omnibox_input.ENTERED, decode_input)
        events = {
            "onInputStarted": EventBinding(started, _no_args),
            "onInputChanged": EventBinding(changed, _text_args, self._suggested),
            "onInputEntered": EventBinding(entered, _entered_args),
            # Never emitted: a text that is typed is entered, or typed anew.
            "onInputCancelled": EventBinding(Event("omnibox.onInputCancelled"), lambda *_: None),
            "onDeleteSuggestion": EventBinding(Event("omnibox.onDeleteSuggestion"), lambda *_: None),
        }
        super().__init__(schema, services.store, events)
        self._tasks = Tasks()

    def set_default_suggestion(self, caller: ExtensionCaller, suggestion: Mapping[str, Any]) -> asyncio.Future[Any]:
        description = to_well_formed(suggestion["description"])
        return self._write("setDefaultSuggestion", omnibox_input.set_default_suggestion, caller.id, description)

    def _suggested(self, caller: Caller, result: Any) -> None:
        """Store the suggestions of a listener when it has passed them to its callback."""
        self._tasks.spawn(self._store_suggestions(caller.id, result))

    async def _store_suggestions(self, extension: str, result: Any) -> None:
        try:
            suggested = await result if inspect.isawaitable(result) else result
        except HatboxError:  # the listener threw, which is in the log of the extension, or it has ended
            return
        suggestions = _parse(suggested)
        if suggestions is not None:
            await self._store.write(
                lambda transaction: omnibox_input.set_suggestions(transaction, extension, suggestions)
            )


def _parse(suggested: Any) -> list[OmniboxSuggestion] | None:
    """The valid suggestions. None for another value."""
    if not isinstance(suggested, list):
        return None
    pairs = [
        (each.get("content"), each.get("description")) for each in suggested[:MAX_SUGGESTIONS] if isinstance(each, dict)
    ]
    return [
        OmniboxSuggestion(to_well_formed(content), to_well_formed(description))
        for content, description in pairs
        if isinstance(content, str) and isinstance(description, str) and len(content) + len(description) <= _MAX_LENGTH
    ]


def _no_args(caller: Caller, typed: OmniboxInput) -> tuple[()] | None:
    return () if typed.extension == caller.id else None


def _text_args(caller: Caller, typed: OmniboxInput) -> tuple[str] | None:
    """(text) for the extension of the keyword. Its JavaScript adds the callback."""
    return (typed.text,) if typed.extension == caller.id else None


def _entered_args(caller: Caller, typed: OmniboxInput) -> tuple[str, str] | None:
    """(text, disposition) for the extension of the keyword."""
    return (typed.text, typed.disposition) if typed.extension == caller.id else None
