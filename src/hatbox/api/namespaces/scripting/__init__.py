"""The namespace scripting. For JavaScript, executeScript is in members/scripting.js, because it sends a function."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import Namespace
from hatbox.api.namespaces.scripting.registered_content_scripts import RegisteredContentScripts
from hatbox.api.namespaces.scripting.script_targets import css_request, execution_request, results_of
from hatbox.api.namespaces.tabs.tab_injection import TabInjector, require_clonable
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.schema import NamespaceSchema

__all__ = ["execute", "implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the engines that inject content scripts."""
    return _Scripting(schema, services)


class _Scripting(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        super().__init__(schema, services.store, {})
        self._injector = TabInjector(services)
        self._registered = RegisteredContentScripts(services)

    def execute_script(self, caller: ExtensionCaller, injection: Mapping[str, Any]) -> asyncio.Future[Any]:
        if injection["func"] is not None:
            raise ApiError("scripting.executeScript: func must be a JavaScript function. From Python, use files")
        return asyncio.ensure_future(execute(self._injector, caller, injection))

    def insert_css(self, caller: ExtensionCaller, injection: Mapping[str, Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._inject_css(caller, injection, removes=False))

    def remove_css(self, caller: ExtensionCaller, injection: Mapping[str, Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._inject_css(caller, injection, removes=True))

    def register_content_scripts(
        self, caller: ExtensionCaller, scripts: Sequence[Mapping[str, Any]]
    ) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._registered.register(caller, scripts))

    def update_content_scripts(
        self, caller: ExtensionCaller, scripts: Sequence[Mapping[str, Any]]
    ) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._registered.update(caller, scripts))

    def unregister_content_scripts(
        self, caller: ExtensionCaller, filter_: Mapping[str, Any] | None
    ) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._registered.unregister(caller, (filter_ or {"ids": None})["ids"]))

    def get_registered_content_scripts(
        self, caller: ExtensionCaller, filter_: Mapping[str, Any] | None
    ) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._registered.views(caller, (filter_ or {"ids": None})["ids"]))

    async def _inject_css(self, caller: ExtensionCaller, injection: Mapping[str, Any], *, removes: bool) -> None:
        tab = await self._injector.tab(injection["target"]["tabId"])
        request = css_request(caller, injection)
        inject = self._injector.remove_css if removes else self._injector.insert_css
        await inject(caller, tab, request)


async def execute(injector: TabInjector, caller: ExtensionCaller, injection: Mapping[str, Any]) -> list[Any]:
    """Run the function text or the files of an injection; a result or an error for each frame."""
    tab = await injector.tab(injection["target"]["tabId"])
    request = execution_request(caller, injection)
    if request.frame_ids == ():
        return []
    results = await injector.execute(caller, tab, request)
    require_clonable(caller, request, results)
    return results_of(results)
