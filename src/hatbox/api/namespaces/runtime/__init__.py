"""The namespace runtime. Messages are routed by `messaging/`."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from hatbox.api.caller import ExtensionCaller
from hatbox.api.namespace import EventBinding, Namespace
from hatbox.api.namespaces.runtime import runtime_functions
from hatbox.api.namespaces.runtime.extension_contexts import find_contexts
from hatbox.api.namespaces.runtime.message_listener_args import MessageListenerArgs
from hatbox.api.services import Services
from hatbox.errors import ApiError
from hatbox.events import Event
from hatbox.javascript.wire_codec import UNDEFINED
from hatbox.messaging.context import Recipient
from hatbox.messaging.ports import Port
from hatbox.schema import NamespaceSchema
from hatbox.tasks import Reply

__all__ = ["implement"]


def implement(schema: NamespaceSchema, services: Services) -> Namespace:
    """Implement the namespace on the extensions that run in this process."""
    return _Runtime(schema, services)


class _Runtime(Namespace):
    passes_caller = True

    def __init__(self, schema: NamespaceSchema, services: Services) -> None:
        self._messages = services.messages
        listener_args = MessageListenerArgs(services.messages, schema.events["onMessage"].argument_converters[1])
        events = {
            "onMessage": EventBinding(self._messages.on_message, listener_args.message),
            "onMessageExternal": EventBinding(self._messages.on_message_external, listener_args.message),
            "onConnect": EventBinding(self._messages.on_connect, listener_args.connection),
            "onConnectExternal": EventBinding(self._messages.on_connect_external, listener_args.connection),
        }
        # Life-cycle events are dispatched by the process that runs the background, not here.
        for name in ("onInstalled", "onStartup", "onSuspend", "onSuspendCanceled", "onUpdateAvailable"):
            events[name] = EventBinding(Event(f"runtime.{name}"), lambda *_: None)
        super().__init__(schema, services.store, events)

    def send_message(self, caller: ExtensionCaller, arguments: list[Any]) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._send_message(caller, arguments))

    async def _send_message(self, caller: ExtensionCaller, arguments: list[Any]) -> Any:
        extension_id, message = _parse_arguments(arguments)
        return await self._messages.send(caller.context, Recipient(extension_id or caller.extension_id), message)

    def connect(self, caller: ExtensionCaller, extension_id: str | None, info: Mapping[str, Any] | None) -> Port:
        name = (info or {}).get("name") or ""
        return self._messages.connect(caller.context, Recipient(extension_id or caller.extension_id), name)

    def connect_native(self, caller: ExtensionCaller, application: str) -> Port:
        port, _ = self._messages.connect_native(caller.context, application)
        return port

    def send_native_message(self, caller: ExtensionCaller, application: str, message: Any) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self._send_native_message(caller, application, message))

    async def _send_native_message(self, caller: ExtensionCaller, application: str, message: Any) -> Any:
        if caller.context.is_javascript:  # JSON text in both directions: see js/members/runtime.js
            if not isinstance(message, str):
                raise ApiError("a message for a native application must be JSON text")
            return await self._messages.native.send(caller.extension_id, application, message)
        return await self._messages.native.send_value(caller.extension_id, application, message)

    def get_url(self, caller: ExtensionCaller, path: str) -> str:
        return runtime_functions.url_of(caller.uuid, path)

    def get_manifest(self, caller: ExtensionCaller) -> Any:
        return runtime_functions.copy_of(caller.manifest)

    def get_browser_info(self, _: ExtensionCaller) -> asyncio.Future[Any]:
        return _done(runtime_functions.BROWSER)

    def get_platform_info(self, _: ExtensionCaller) -> asyncio.Future[Any]:
        return _done(runtime_functions.platform())

    def get_contexts(self, caller: ExtensionCaller, filter_: Mapping[str, Any]) -> asyncio.Future[Any]:
        own = [context for context in self._messages.contexts if context.extension_id == caller.extension_id]
        return self._read("getContexts", find_contexts, own, filter_)

    def open_options_page(self, caller: ExtensionCaller) -> asyncio.Future[Any]:
        return self._write("openOptionsPage", runtime_functions.open_options_page, caller.manifest)

    def set_uninstall_url(self, caller: ExtensionCaller, url: str | None) -> asyncio.Future[Any]:
        return self._write("setUninstallURL", runtime_functions.set_uninstall_url, caller.id, url)

    def reload(self, caller: ExtensionCaller) -> None:
        if running := self._messages.running.get(caller.extension_id):
            running.reload()


def _done(value: Any) -> asyncio.Future[Any]:
    future: Reply[Any] = Reply()
    future.set_result(value)
    return future


def _parse_arguments(arguments: Sequence[Any]) -> tuple[str | None, Any]:
    """Parse (extensionId, message). The id is None for the sender's own extension. Error messages match Firefox.

    Two arguments are a message and options if the second can be options: an empty message to another extension is less
    common. Options no longer have members, so only an empty object is valid.
    """
    values = list(arguments)
    if not values:
        raise ApiError("runtime.sendMessage's message argument is missing")
    if len(values) == 1 or (len(values) == 2 and _can_be_options(values[1])):
        values.insert(0, None)
    padded = values + [None] * (4 - len(values))
    extension_id, message, options, last, more = *padded[:4], padded[4:]
    if not _can_be_options(options):
        raise ApiError("runtime.sendMessage's options argument is invalid")
    if len(values) == 4 and last:
        raise ApiError("runtime.sendMessage's last argument is not a function")
    if more or not (last is None or last is UNDEFINED):
        raise ApiError("runtime.sendMessage received too many arguments")
    if extension_id and not isinstance(extension_id, str):
        raise ApiError("runtime.sendMessage's extensionId argument is invalid")
    return extension_id or None, message


def _can_be_options(value: Any) -> bool:
    return value is None or value is UNDEFINED or (isinstance(value, (Mapping, list)) and not value)
