"""The namespace i18n: localized messages of an extension. For JavaScript, see members/i18n.js."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import Namespace
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the messages of the calling extension."""
    return _I18n(schema, services.store, {})


class _I18n(Namespace):
    passes_caller = True

    def get_message(self, caller: ExtensionCaller, name: str, substitutions: Any) -> str:
        return caller.texts.message(name, substitutions)

    def get_ui_language(self, caller: ExtensionCaller) -> str:
        return caller.texts.ui_language

    def get_accept_languages(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        return self._read("getAcceptLanguages", lambda _: caller.texts.languages)
