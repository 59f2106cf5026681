"""The hidden namespace scriptCalls, for members/scripting.js and members/contentScripts.js."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import Namespace
from hatbox.api.namespaces import scripting
from hatbox.api.namespaces.content_scripts import unregister_script
from hatbox.api.namespaces.tabs.tab_injection import TabInjector
from hatbox.api.services import Services
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the engines that inject content scripts."""
    return _ScriptCalls(schema, services)


class _ScriptCalls(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        super().__init__(schema, services.store, {})
        self._injector = TabInjector(services)
        self._registry = services.content_scripts

    def execute(self, caller: ExtensionCaller, injection: Mapping[str, Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(scripting.execute(self._injector, caller, injection))

    def unregister(self, caller: ExtensionCaller, number: int) -> asyncio.Future[Any]:
        return asyncio.ensure_future(unregister_script(self._registry, caller.context, number))
