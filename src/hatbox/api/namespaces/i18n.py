"""The namespace i18n: the texts of an extension in the user's language. JavaScript has them in members/i18n.js."""

from __future__ import annotations

import asyncio
from typing import Any

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import Namespace
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the texts of whoever calls."""
    return _I18n(surface, services.store, {})


class _I18n(Namespace):
    passes_caller = True

    def get_message(self, caller: ExtensionCaller, name: str, substitutions: Any) -> str:
        return caller.texts.message(name, substitutions)

    def get_ui_language(self, caller: ExtensionCaller) -> str:
        return caller.texts.ui_language

    def get_accept_languages(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        return self._read("getAcceptLanguages", lambda _: caller.texts.languages)
