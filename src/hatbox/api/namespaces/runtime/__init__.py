"""The namespace runtime. Only names live here: what the functions do is in `rules`, `sending` and `contexts`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.runtime import runtime_functions as rules
from hatbox.api.namespaces.runtime.extension_contexts import find_contexts
from hatbox.api.namespaces.runtime.message_listener_args import MessageListenerArgs
from hatbox.api.namespaces.runtime.send_message_args import parse_arguments
from hatbox.api.services import Services
from hatbox.events import Event
from hatbox.messaging.context import Recipient
from hatbox.messaging.ports import Port
from hatbox.schema import NamespaceSchema

__all__ = ["implement"]


def implement(surface: NamespaceSchema, services: Services) -> Namespace:
    """The implementation of a surface on the extensions that run here."""
    return _Runtime(surface, services)


class _Runtime(Namespace):
    passes_caller = True

    def __init__(self, surface: NamespaceSchema, services: Services) -> None:
        self._messages = services.messages
        teller = MessageListenerArgs(services.messages, surface.events["onMessage"].shapes[1])
        events = {
            "onMessage": EventBinding(self._messages.on_message, teller.message),
            "onMessageExternal": EventBinding(self._messages.on_message_external, teller.message),
            "onConnect": EventBinding(self._messages.on_connect, teller.connection),
            "onConnectExternal": EventBinding(self._messages.on_connect_external, teller.connection),
        }
        # These tell of the life of a background: whoever runs it tells it, and nobody else hears of it.
        for name in ("onInstalled", "onStartup", "onSuspend", "onSuspendCanceled", "onUpdateAvailable"):
            events[name] = EventBinding(Event(f"runtime.{name}"), rules.nothing)
        super().__init__(surface, services.store, events)

    def send_message(self, caller: ExtensionCaller, arguments: list[Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._send_message(caller, arguments))

    async def _send_message(self, caller: ExtensionCaller, arguments: list[Any]) -> Any:
        extension_id, message = parse_arguments(arguments)
        return await self._messages.send(caller.context, Recipient(extension_id or caller.extension_id), message)

    def connect(self, caller: ExtensionCaller, extension_id: str | None, info: Mapping[str, Any] | None) -> Port:
        name = (info or {}).get("name") or ""
        return self._messages.connect(caller.context, Recipient(extension_id or caller.extension_id), name)

    def get_url(self, caller: ExtensionCaller, path: str) -> str:
        return rules.url_of(caller.uuid, path)

    def get_manifest(self, caller: ExtensionCaller) -> Any:
        return rules.copy_of(caller.manifest)

    def get_browser_info(self, _: ExtensionCaller) -> asyncio.Future[Any]:
        return _done(rules.BROWSER)

    def get_platform_info(self, _: ExtensionCaller) -> asyncio.Future[Any]:
        return _done(rules.platform())

    def get_contexts(self, caller: ExtensionCaller, wanted: Mapping[str, Any]) -> asyncio.Future[Any]:
        own = [one for one in self._messages.contexts if one.extension_id == caller.extension_id]
        return self._read("getContexts", find_contexts, own, wanted)

    def open_options_page(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        return self._write("openOptionsPage", rules.open_options_page, caller.manifest)

    # The parameter is the API's; what it is called there does not come through here.
    def set_uninstall_url(self, caller: ExtensionCaller, url: str | None) -> asyncio.Future[Any]:
        return self._write("setUninstallURL", rules.set_uninstall_url, caller.id, url)

    def reload(self, caller: ExtensionCaller) -> None:
        if running := self._messages.running.get(caller.extension_id):
            running.reload()


def _done(value: Any) -> asyncio.Future[Any]:
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.set_result(value)
    return future
